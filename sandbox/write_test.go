package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func put(content string) func(Current) (Parts, error) {
	return func(Current) (Parts, error) { return Whole([]byte(content)), nil }
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func resolved(t *testing.T, w *Workspace, name string) Path {
	t.Helper()
	p, err := w.Resolve(name)
	require.NoError(t, err)
	return p
}

func TestUpdateKeepsTheModeAndDropsSetuid(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	for mode, want := range map[fs.FileMode]fs.FileMode{
		0o640: 0o640, 0o755: 0o755, 0o777: 0o777, 0o600: 0o600, 0o755 | fs.ModeSetuid: 0o755,
	} {
		w, ws, _ := newPlace(t, []string{"a"})
		require.NoError(t, os.Chmod(filepath.Join(ws, "a"), mode))
		_, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, put("x"))
		require.NoError(t, err)
		info, err := os.Stat(filepath.Join(ws, "a"))
		require.NoError(t, err)
		require.Equal(t, want, info.Mode(), "%v", mode)
	}
}

func TestUpdateSeesWhatItReplacesAndLeavesNothingElse(t *testing.T) {
	w, ws, _ := newPlace(t, []string{"d/a"})
	done, err := w.Update(context.Background(), resolved(t, w, "d/a"), UpdateOptions{}, func(cur Current) (Parts, error) {
		require.True(t, cur.Exists)
		require.Equal(t, "d/a", string(cur.Content))
		require.Equal(t, VersionOf([]byte("d/a")), cur.Version)
		return Whole([]byte("new")), nil
	})
	require.NoError(t, err)
	require.Equal(t, VersionOf([]byte("new")), done.Version)
	require.Equal(t, []string{"a"}, names(t, filepath.Join(ws, "d")))
}

func TestAFailedUpdateTouchesNothing(t *testing.T) {
	refused := errors.New("refused")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, row := range map[string]struct {
		ctx    context.Context
		change func(Current) (Parts, error)
		err    error
	}{
		"refused by its caller":    {context.Background(), func(Current) (Parts, error) { return nil, refused }, refused},
		"cancelled before a write": {cancelled, put("x"), context.Canceled},
	} {
		for _, file := range []string{"a", "new", "d/e/new"} {
			t.Run(name+"/"+file, func(t *testing.T) {
				w, ws, _ := newPlace(t, []string{"a"})
				_, err := w.Update(row.ctx, resolved(t, w, file), UpdateOptions{}, row.change)
				require.ErrorIs(t, err, row.err)
				require.Equal(t, []string{"a"}, names(t, ws))
				assertFile(t, filepath.Join(ws, "a"), "a")
			})
		}
	}
}

// A stranger may write at any moment; what it wrote must never be lost.
func TestAForeignWriteDuringAnUpdateWins(t *testing.T) {
	for name, row := range map[string]struct {
		start  []string
		file   string
		strike func(ws string) error
		want   string
	}{
		"other content":                    {[]string{"a"}, "a", func(ws string) error { return os.WriteFile(ws+"/a", []byte("theirs"), 0o644) }, "theirs"},
		"other content of the same length": {[]string{"a"}, "a", func(ws string) error { return os.WriteFile(ws+"/a", []byte("b"), 0o644) }, "b"},
		"made meanwhile":                   {nil, "a", func(ws string) error { return os.WriteFile(ws+"/a", []byte("theirs"), 0o644) }, "theirs"},
		"replaced by a rename": {[]string{"a"}, "a", func(ws string) error {
			return errors.Join(os.WriteFile(ws+"/b", []byte("theirs"), 0o644), os.Rename(ws+"/b", ws+"/a"))
		}, "theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			w, ws, _ := newPlace(t, row.start)
			_, err := w.Update(context.Background(), resolved(t, w, row.file), UpdateOptions{}, func(Current) (Parts, error) {
				require.NoError(t, row.strike(ws))
				return Whole([]byte("ours")), nil
			})
			require.ErrorIs(t, err, ErrChanged)
			assertFile(t, filepath.Join(ws, row.file), row.want)
			require.Equal(t, []string{row.file}, names(t, ws))
		})
	}
	t.Run("removed meanwhile", func(t *testing.T) {
		w, ws, _ := newPlace(t, []string{"a"})
		_, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, func(Current) (Parts, error) {
			return Whole([]byte("ours")), os.Remove(ws + "/a")
		})
		require.Error(t, err)
		require.Empty(t, names(t, ws))
	})
}

func TestAFileWithSeveralHardLinksIsNotWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the number of links is not known there")
	}
	w, ws, out := newPlace(t, nil)
	require.NoError(t, os.Link(filepath.Join(out, "secret"), filepath.Join(ws, "hl")))
	_, err := w.Update(context.Background(), resolved(t, w, "hl"), UpdateOptions{}, put("x"))
	require.ErrorIs(t, err, ErrHardLinks)
	assertOutside(t, out)
}

// An update can be refused by what is known without reading.
func TestBeforeIsAskedBeforeAnythingIsRead(t *testing.T) {
	refused := errors.New("refused")
	var asked []string
	before := func(info fs.FileInfo, exists bool) error {
		switch {
		case exists:
			asked = append(asked, fmt.Sprint(info.Name(), " ", info.Size()))
		default:
			require.Nil(t, info)
			asked = append(asked, "nothing there")
		}
		return refused
	}
	never := func(Current) (Parts, error) { t.Error("the change was asked too"); return nil, nil }
	w, ws, out := newPlace(t, []string{"a", "large"})
	require.NoError(t, os.Truncate(filepath.Join(ws, "large"), MaxFile))
	for _, name := range []string{"a", "large", "new", "d/new"} {
		p := resolved(t, w, name)
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		_, err := w.Update(context.Background(), p, UpdateOptions{Before: before}, never)
		runtime.ReadMemStats(&end)
		require.ErrorIs(t, err, refused)
		require.Less(t, end.TotalAlloc-start.TotalAlloc, uint64(1<<20), "%s was read", name)
	}
	require.Equal(t, []string{"a 1", "large 1073741824", "nothing there", "nothing there"}, asked)
	require.Equal(t, []string{"a", "large"}, names(t, ws))

	if runtime.GOOS != "windows" { // which does not count links
		asked = nil
		require.NoError(t, os.Link(filepath.Join(out, "secret"), filepath.Join(ws, "hl")))
		_, err := w.Update(context.Background(), resolved(t, w, "hl"), UpdateOptions{Before: before}, never)
		require.ErrorIs(t, err, ErrHardLinks)
		require.Empty(t, asked, "what cannot be written is not asked about")
	}
	_, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{Before: func(fs.FileInfo, bool) error { return nil }}, put("x"))
	require.NoError(t, err)
	assertFile(t, filepath.Join(ws, "a"), "x")
}

// endless never ends; it counts how often it is read.
type endless struct{ read func() }

func (r endless) Read(p []byte) (int, error) { r.read(); return len(p), nil }

func TestNobodyWaitsForAReadThatIsNotWantedAnyMore(t *testing.T) {
	gone := errors.New("the caller left")
	t.Run("before it", func(t *testing.T) {
		w, _, _ := newPlace(t, []string{"a"})
		ctx, cancel := context.WithCancelCause(context.Background())
		_, err := w.Update(ctx, resolved(t, w, "a"), UpdateOptions{Before: func(fs.FileInfo, bool) error { cancel(gone); return nil }},
			func(Current) (Parts, error) { t.Error("the change was asked"); return nil, nil })
		require.ErrorIs(t, err, gone)
	})
	for name, read := range map[string]func(context.Context, io.Reader) error{
		"reading": func(ctx context.Context, r io.Reader) error { _, err := readAll(ctx, r, 8<<20); return err },
		"comparing": func(ctx context.Context, r io.Reader) error {
			_, err := sameBytes(ctx, r, make([]byte, 8<<20))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			reads := 0
			err := read(ctx, endless{func() {
				if reads++; reads == 3 {
					cancel(gone)
				}
			}})
			require.ErrorIs(t, err, gone)
			require.Equal(t, 3, reads)
		})
	}
}

func TestAFileTooLargeToBeHashedIsToldByItsState(t *testing.T) {
	w, ws, _ := newPlace(t, []string{"a"})
	for size, isHashed := range map[int64]bool{MaxHashed: true, MaxHashed + 1: false} {
		require.NoError(t, os.Truncate(filepath.Join(ws, "a"), size))
		cur, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, func(Current) (Parts, error) { return nil, ErrUnchanged })
		require.NoError(t, err)
		require.Len(t, cur.Content, int(size))
		if isHashed {
			require.Equal(t, VersionOf(cur.Content), cur.Version)
		} else {
			require.Equal(t, StatVersion(cur.Info), cur.Version)
		}
	}
}

func TestAFolderIsTidiedNowAndThen(t *testing.T) {
	var d tidied
	at := time.Unix(1e9, 0)
	require.True(t, d.due("a", at))
	require.False(t, d.due("a", at.Add(tidyEvery-1)))
	require.True(t, d.due("b", at.Add(tidyEvery-1)), "each for itself")
	require.True(t, d.due("a", at.Add(tidyEvery)))
	require.False(t, d.due("a", at.Add(tidyEvery+1)))
	for i := range 2 * maxTidied {
		d.due(fmt.Sprint(i), at)
		require.LessOrEqual(t, len(d.last), maxTidied)
	}
}

// A writer killed at any moment leaves a temporary file that nobody locks; the
// next write in that folder takes it away, but not one that is being written.
func TestTemporaryFilesOfTheDeadAreRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked there")
	}
	w, ws, _ := newPlace(t, []string{"a"})
	dir, err := os.OpenRoot(ws)
	require.NoError(t, err)
	defer dir.Close()
	alive, err := newTemp(dir, true)
	require.NoError(t, err)
	dead := ".mcp-tools-AAAAAAAAAAAAAAAAAAAAAAAAAA.tmp"
	notOurs := ".mcp-tools-notes.tmp"
	for _, name := range []string{dead, notOurs} {
		require.NoError(t, os.WriteFile(filepath.Join(ws, name), []byte("half"), 0o600))
	}
	_, err = w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, put("x"))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"a", alive.name, notOurs}, names(t, ws))
	alive.discard()
	require.ElementsMatch(t, []string{"a", notOurs}, names(t, ws))
}

func TestATemporaryFileIsNotTakenFromALivingWriter(t *testing.T) {
	require.True(t, isOrphan(locked, 0), "a writer that lives would hold the lock")
	require.False(t, isOrphan(lockedByOther, 100*orphanAge))
	require.False(t, isOrphan(noLocks, orphanAge-1), "where there are no locks, it may live")
	require.True(t, isOrphan(noLocks, orphanAge))
}

func TestATemporaryNameThatWasPlantedIsNeverFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	w, ws, out := newPlace(t, []string{"a"})
	planted := filepath.Join(ws, ".mcp-tools-AAAAAAAAAAAAAAAAAAAAAAAAAA.tmp")
	require.NoError(t, os.Symlink(filepath.Join(out, "secret"), planted))
	_, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, put("x"))
	require.NoError(t, err)
	assertOutside(t, out)
}

func TestAFileItsOwnerMadeReadOnlyIsNotReplaced(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("root may write any file")
	}
	w, ws, _ := newPlace(t, []string{"a"})
	require.NoError(t, os.Chmod(filepath.Join(ws, "a"), 0o444))
	_, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, put("x"))
	require.ErrorIs(t, err, fs.ErrPermission)
	assertFile(t, filepath.Join(ws, "a"), "a")
}

func TestGuardedNames(t *testing.T) {
	w, _, _ := newPlace(t, nil)
	for name, guarded := range map[string]bool{
		".git/hooks/pre-commit": true, ".git/HOOKS/x": true, ".GIT/config": true, "sub/.git/config": true, ".git": true,
		".git/modules/x/config": true, ".git./hooks/x": true, ".git /config": true, "GIT~1/config": true, ".g\u200cit/config": true,
		".mcp.json": true, ".MCP.JSON": true, ".vscode/tasks.json": true, ".vscode/a/b": true, ".idea/x.xml": true, ".envrc": true,
		".claude/settings.json": true, ".claude/settings.local.json": true, ".cursor/mcp.json": true, "home/.bashrc": true, ".zshrc": true,
		".\u017fsh/x":               true, // U+017F folds to s
		".claude/skills/x/SKILL.md": false, ".claude/settings": false, ".gitignore": false, ".git/info/exclude": false, ".github/workflows/ci.yml": false,
		"envrc": false, "git/config": false, "src/config": false, "vscode/x": false, ".vscode": false, "a.mcp.json": false,
	} {
		require.Equal(t, guarded, w.IsGuarded(resolved(t, w, name)), name)
	}
	p := resolved(t, w, ".envrc")
	_, err := w.Update(context.Background(), p, UpdateOptions{}, put("x"))
	require.ErrorIs(t, err, ErrGuarded)
	_, err = w.Update(context.Background(), p, UpdateOptions{Granted: true}, put("x"))
	require.NoError(t, err)
}

func TestAGuardedNameIsGuardedBehindALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	w, _, _ := newPlace(t, []string{".git/hooks/", "h => .git/hooks", "c => .git/config"})
	for _, name := range []string{"h/x", "c"} {
		require.True(t, w.IsGuarded(resolved(t, w, name)), name)
	}
}

func TestVersions(t *testing.T) {
	v := VersionOf([]byte("content"))
	require.True(t, IsHandle(string(v)))
	require.Equal(t, "v1.7XACtDnprIRfIjV9giusFA", string(v))
	require.False(t, v.IsPartial())
	require.True(t, v.Partial().IsPartial())
	require.Equal(t, v, v.Partial().Whole())
	require.Equal(t, v, v.Whole())
	require.True(t, IsHandle(string(v.Partial())))
	h := NewHasher()
	for _, part := range []string{"con", "", "tent"} {
		_, _ = h.Write([]byte(part))
	}
	require.Equal(t, v, h.Version())
	for _, s := range []string{"", "v1.", "v1.abc", "v2.7XACtDnprIRfIjV9giusFA", "latest", "1", "v1.7XACtDnprIRfIjV9giusFA="} {
		require.False(t, IsHandle(s), s)
	}
}
