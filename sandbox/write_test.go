package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func put(content string) func(Current) ([]byte, error) {
	return func(Current) ([]byte, error) { return []byte(content), nil }
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
	done, err := w.Update(context.Background(), resolved(t, w, "d/a"), UpdateOptions{}, func(cur Current) ([]byte, error) {
		require.True(t, cur.Exists)
		require.Equal(t, "d/a", string(cur.Content))
		require.Equal(t, VersionOf([]byte("d/a")), cur.Version)
		return []byte("new"), nil
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
		change func(Current) ([]byte, error)
		err    error
	}{
		"refused by its caller":    {context.Background(), func(Current) ([]byte, error) { return nil, refused }, refused},
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
			_, err := w.Update(context.Background(), resolved(t, w, row.file), UpdateOptions{}, func(Current) ([]byte, error) {
				require.NoError(t, row.strike(ws))
				return []byte("ours"), nil
			})
			require.ErrorIs(t, err, ErrChanged)
			assertFile(t, filepath.Join(ws, row.file), row.want)
			require.Equal(t, []string{row.file}, names(t, ws))
		})
	}
	t.Run("removed meanwhile", func(t *testing.T) {
		w, ws, _ := newPlace(t, []string{"a"})
		_, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, func(Current) ([]byte, error) {
			return []byte("ours"), os.Remove(ws + "/a")
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

func TestConcurrentUpdatesAreAllCounted(t *testing.T) {
	w, ws, _ := newPlace(t, nil)
	other, err := Open([]RootSpec{{Dir: ws}}, Options{}) // as a second process would
	require.NoError(t, err)
	defer other.Close()
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for i := range writers {
		ws := w
		if i%2 == 1 {
			ws = other
		}
		wg.Go(func() {
			for range each {
				for {
					p, err := ws.Resolve("count")
					if err == nil {
						_, err = ws.Update(context.Background(), p, UpdateOptions{}, func(cur Current) ([]byte, error) {
							return append(bytes.Clone(cur.Content), '+'), nil
						})
					}
					if err == nil {
						break
					}
					if !errors.Is(err, ErrChanged) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	assertFile(t, filepath.Join(ws, "count"), strings.Repeat("+", writers*each))
	require.Equal(t, []string{"count"}, names(t, ws))
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
	alive, err := newTemp(dir)
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

func TestSavedResults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	st := OpenState(dir)
	w, err := Open([]RootSpec{{Dir: t.TempDir()}}, Options{Results: st})
	require.NoError(t, err)
	defer w.Close()
	require.NoDirExists(t, dir, "nothing is made before something is saved")

	saved, err := st.Save("the whole")
	require.NoError(t, err)
	info, err := os.Stat(saved.Path())
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, fs.FileMode(0o600), info.Mode())
	}

	p := resolved(t, w, saved.Path())
	f, _, err := w.Open(p)
	require.NoError(t, err)
	f.Close()
	_, err = w.Update(context.Background(), p, UpdateOptions{}, put("x"))
	require.ErrorIs(t, err, ErrReadOnly)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "results", "other"), nil, 0o600))
	for _, name := range []string{dir, filepath.Join(dir, "results"), filepath.Join(dir, "results", "other")} {
		_, err = w.Resolve(name)
		require.ErrorIs(t, err, ErrEscapes, name)
	}
}

func TestOldResultsAreSweptOldestFirst(t *testing.T) {
	st := OpenState(t.TempDir())
	now := time.Now()
	ages := []time.Duration{keepResults + time.Hour, 3 * time.Hour, 2 * time.Hour, time.Hour}
	var paths []string
	for _, age := range ages {
		s, err := st.Save(strings.Repeat("x", 100))
		require.NoError(t, err)
		require.NoError(t, os.Chtimes(s.Path(), now.Add(-age), now.Add(-age)))
		paths = append(paths, s.Path())
	}
	r, err := st.open(false)
	require.NoError(t, err)
	sweepResults(r, now, keepResults, 250)
	require.NoFileExists(t, paths[0], "too old")
	require.NoFileExists(t, paths[1], "the oldest over the quota")
	require.FileExists(t, paths[2])
	require.FileExists(t, paths[3])
}
