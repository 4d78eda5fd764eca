package sandbox

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layout makes files below dir. "a/" is a folder, "a => b" a link, "a" a file
// that holds its own name. ABS and OUT in a link's target stand for the
// workspace and the folder beside it.
func layout(t *testing.T, ws, out string, entries []string) {
	t.Helper()
	for _, e := range entries {
		name, target, isLink := strings.Cut(e, " => ")
		full := filepath.Join(ws, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(strings.TrimSuffix(full, "/")), 0o755))
		switch {
		case isLink:
			target = strings.NewReplacer("ABS", ws, "OUT", out).Replace(target)
			require.NoError(t, os.Symlink(target, full))
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(full, 0o755))
		default:
			require.NoError(t, os.WriteFile(full, []byte(name), 0o644))
		}
	}
}

// newPlace makes a workspace and a folder beside it that must stay untouched.
func newPlace(t *testing.T, entries []string) (w *Workspace, ws, out string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	ws, out = filepath.Join(base, "ws"), filepath.Join(base, "out")
	for _, dir := range []string{ws, out, ws + "-evil"} {
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("SECRET"), 0o644))
	}
	require.NoError(t, os.Remove(filepath.Join(ws, "secret")))
	layout(t, ws, out, entries)
	w, err = Open([]RootSpec{{Dir: ws}}, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w, ws, out
}

// escapes is the one table of path layouts; every operation runs all of it.
var escapes = []struct {
	name   string
	fs     []string
	open   string // OUT, WS stand for the folders
	target string // file in the workspace that is meant; "" when refused
	new    string // file that would be made, when there is none yet
	err    error
	// outside rows would be served from outside if nobody checked: they prove that
	// the table can fail.
	outside bool
}{
	{name: "plain file", fs: []string{"a"}, open: "a", target: "a"},
	{name: "dot", fs: []string{"a"}, open: "./a", target: "a"},
	{name: "dotdot that stays inside", fs: []string{"a", "d/"}, open: "d/../a", target: "a"},
	{name: "double slash inside", fs: []string{"d/a"}, open: "d//a", target: "d/a"},
	{name: "absolute path inside", fs: []string{"a"}, open: "WS/a", target: "a"},
	{name: "absolute path with dotdot inside", fs: []string{"a"}, open: "WS/x/../a", target: "a"},
	{name: "absolute path that goes out and in again", fs: []string{"a"}, open: "WS/../ws/a", target: "a"},
	{name: "relative path that goes out and in again", fs: []string{"a"}, open: "../ws/a", target: "a"},
	{name: "file URI", fs: []string{"a b"}, open: "file://WS/a%20b", target: "a b"},
	{name: "link to a file", fs: []string{"a", "l => a"}, open: "l", target: "a"},
	{name: "link to a folder", fs: []string{"d/a", "l => d"}, open: "l/a", target: "d/a"},
	{name: "chain of links", fs: []string{"a", "l => m", "m => n", "n => a"}, open: "l", target: "a"},
	{name: "absolute link inside", fs: []string{"a", "l => ABS/a"}, open: "l", target: "a"},
	{name: "absolute link to a folder inside", fs: []string{"d/a", "l => ABS/d"}, open: "l/a", target: "d/a"},
	{name: "link with dotdot that stays inside", fs: []string{"a", "d/l => ../a"}, open: "d/l", target: "a"},
	{name: "link out and in again by words", fs: []string{"a", "l => ../ws/a"}, open: "l", target: "a"},
	{name: "dangling link inside names the file to make", fs: []string{"l => new"}, open: "l", new: "new"},
	{name: "dangling link into a missing folder", fs: []string{"l => d/e/new"}, open: "l", new: "d/e/new"},
	{name: "missing file", open: "new", new: "new"},
	{name: "missing file in missing folders", open: "d/e/new", new: "d/e/new"},

	{name: "dotdot", open: "../out/secret", err: ErrEscapes, outside: true},
	{name: "dotdot behind dots", open: "./.././out/secret", err: ErrEscapes, outside: true},
	{name: "dotdot behind a folder", fs: []string{"d/"}, open: "d/../../out/secret", err: ErrEscapes, outside: true},
	{name: "absolute path outside", open: "OUT/secret", err: ErrEscapes, outside: true},
	{name: "file URI outside", open: "file://OUT/secret", err: ErrEscapes},
	{name: "sibling whose name begins alike", open: "../ws-evil/secret", err: ErrEscapes, outside: true},
	{name: "sibling whose name begins alike, absolute", open: "WS-evil/secret", err: ErrEscapes, outside: true},
	{name: "absolute link outside", fs: []string{"l => OUT/secret"}, open: "l", err: ErrEscapes, outside: true},
	{name: "relative link outside", fs: []string{"l => ../out/secret"}, open: "l", err: ErrEscapes, outside: true},
	{name: "link to a folder outside", fs: []string{"l => ../out"}, open: "l/secret", err: ErrEscapes, outside: true},
	{name: "link to the whole disk", fs: []string{"l => /"}, open: "l/OUT/secret", err: ErrEscapes, outside: true},
	{name: "link to a link outside", fs: []string{"l => m", "m => OUT/secret"}, open: "l", err: ErrEscapes, outside: true},
	{name: "absolute link inside to a link outside", fs: []string{"l => ABS/m", "m => ../out"}, open: "l/secret", err: ErrEscapes, outside: true},
	{name: "dotdot behind a link to a folder", fs: []string{"d/e/", "l => d/e/../../../out"}, open: "l/secret", err: ErrEscapes, outside: true},
	{name: "dangling link outside", fs: []string{"l => OUT/new"}, open: "l", err: ErrEscapes},
	{name: "new file behind a link outside", fs: []string{"l => ../out"}, open: "l/new", err: ErrEscapes},
	{name: "new folders behind a link outside", fs: []string{"l => ../out"}, open: "l/d/e/new", err: ErrEscapes},
	{name: "link loop", fs: []string{"a => b", "b => a"}, open: "a", err: ErrTooManyLinks},
	{name: "link to itself", fs: []string{"a => a"}, open: "a", err: ErrTooManyLinks},
	{name: "absolute link loop", fs: []string{"a => ABS/b", "b => ABS/a"}, open: "a", err: ErrTooManyLinks},
}

func TestEscapeTable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	operations := map[string]func(*testing.T, *Workspace, Path) (wrote bool, text string, err error){
		"Open": func(t *testing.T, w *Workspace, p Path) (bool, string, error) {
			f, _, err := w.Open(p)
			if err != nil {
				return false, "", err
			}
			defer f.Close()
			b, err := io.ReadAll(f)
			return false, string(b), err
		},
		"VersionAt": func(t *testing.T, w *Workspace, p Path) (bool, string, error) {
			v, err := w.VersionAt(p)
			if err == nil && v == VersionOf([]byte("SECRET")) {
				return false, "SECRET", nil
			}
			return false, "", err
		},
		"StampAt": func(t *testing.T, w *Workspace, p Path) (bool, string, error) {
			st, err := w.StampAt(p)
			if err == nil && st == (Stamp{}) {
				err = fs.ErrNotExist
			}
			return false, "", err
		},
		"Update": func(t *testing.T, w *Workspace, p Path) (bool, string, error) {
			var old string
			_, err := w.Update(context.Background(), p, UpdateOptions{}, func(cur Current) (Parts, error) {
				old = string(cur.Content)
				return Whole([]byte("WRITTEN")), nil
			})
			return true, old, err
		},
		"walk": func(t *testing.T, w *Workspace, p Path) (bool, string, error) {
			d, err := w.OpenRoot(p)
			if err != nil {
				return false, "", err
			}
			defer func() { d.Close() }()
			parts := strings.Split(p.Rel(), "/")
			for _, part := range parts[:len(parts)-1] {
				sub, err := d.Sub(part)
				if err != nil {
					return false, "", err
				}
				d.Close()
				d = sub
			}
			f, _, err := d.Open(p.Base())
			if err != nil {
				return false, "", err
			}
			defer f.Close()
			b, err := io.ReadAll(f)
			return false, string(b), err
		},
	}
	for op, run := range operations {
		for _, row := range escapes {
			t.Run(op+"/"+row.name, func(t *testing.T) {
				w, ws, out := newPlace(t, row.fs)
				name := strings.NewReplacer("WS", ws, "l/OUT", "l"+out, "OUT", out).Replace(row.open)
				if row.outside {
					host := name
					if !filepath.IsAbs(host) {
						host = ws + "/" + host // not cleaned: the kernel follows links first
					}
					b, err := os.ReadFile(host)
					require.NoError(t, err, "the row must be readable without the check")
					require.Equal(t, "SECRET", string(b))
				}
				p, err := w.Resolve(name)
				if row.err != nil {
					require.ErrorIs(t, err, row.err)
					assertOutside(t, out)
					return
				}
				require.NoError(t, err)
				wrote, text, err := run(t, w, p)
				require.NotContains(t, text, "SECRET")
				assertOutside(t, out)
				if row.new != "" {
					assertNew(t, wrote, err, filepath.Join(ws, row.new))
					return
				}
				require.NoError(t, err)
				require.Equal(t, row.target, p.Rel())
				if wrote {
					assertFile(t, filepath.Join(ws, row.target), "WRITTEN")
				}
			})
		}
	}
}

func assertNew(t *testing.T, wrote bool, err error, file string) {
	t.Helper()
	if wrote {
		require.NoError(t, err)
		assertFile(t, file, "WRITTEN")
		return
	}
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func assertFile(t *testing.T, name, want string) {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, want, string(b))
}

func assertOutside(t *testing.T, out string) {
	t.Helper()
	for _, dir := range []string{out, filepath.Join(filepath.Dir(out), "ws-evil")} {
		names, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, names, 1, "something was made outside")
		assertFile(t, filepath.Join(dir, "secret"), "SECRET")
	}
}

// A link may be exchanged between the look and the opening; what is opened must
// still lie inside.
func TestNothingEscapesWhenAFolderIsExchangedAfterResolving(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	w, ws, out := newPlace(t, []string{"d/secret"})
	p, err := w.Resolve("d/secret")
	require.NoError(t, err)
	fresh, err := w.Resolve("d/new")
	require.NoError(t, err)

	require.NoError(t, os.Rename(filepath.Join(ws, "d"), filepath.Join(ws, "moved")))
	require.NoError(t, os.Symlink("../out", filepath.Join(ws, "d")))

	_, _, err = w.Open(p)
	require.ErrorIs(t, err, ErrEscapes)
	for _, p := range []Path{p, fresh} {
		_, err = w.Update(context.Background(), p, UpdateOptions{}, func(Current) (Parts, error) { return Whole([]byte("x")), nil })
		require.Error(t, err)
	}
	assertOutside(t, out)
}

// Even a link that stays inside must not redirect a write to a place that was
// not judged: guarded names are judged by the resolved path.
func TestAWriteDoesNotFollowALinkPutThereAfterResolving(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	w, ws, _ := newPlace(t, []string{"d/", ".git/hooks/"})
	p, err := w.Resolve("d/pre-commit")
	require.NoError(t, err)
	require.False(t, w.IsGuarded(p))
	require.NoError(t, os.Remove(filepath.Join(ws, "d")))
	require.NoError(t, os.Symlink(".git/hooks", filepath.Join(ws, "d")))
	_, err = w.Update(context.Background(), p, UpdateOptions{}, func(Current) (Parts, error) { return Whole([]byte("x")), nil })
	require.Error(t, err)
	require.NoFileExists(t, filepath.Join(ws, ".git/hooks/pre-commit"))
}

func TestPathsThatAreNoPaths(t *testing.T) {
	w, _, _ := newPlace(t, nil)
	for name, path := range map[string]string{
		"NUL":               "a\x00b",
		"line break":        "a\nb",
		"escape character":  "a\x1b[31m",
		"delete character":  "a\x7f",
		"too long":          strings.Repeat("x/", 2049),
		"UNC":               "//host/share",
		"UNC, backslashes":  `\\host\share`,
		"home":              "~/x",
		"home alone":        "~",
		"URI of a host":     "file://host/x",
		"URI with a query":  "file:///x?y",
		"relative URI":      "file:x",
		"URI with NUL":      "file:///a%00b",
		"URI badly escaped": "file:///a%zz",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Resolve(path)
			require.Error(t, err)
			require.True(t, isBadPath(err), "%v", err)
			require.Less(t, len(err.Error()), 300)
		})
	}
}

func TestNothingButRegularFilesIsOpened(t *testing.T) {
	w, ws, _ := newPlace(t, []string{"d/"})
	makeSpecials(t, ws)
	for _, name := range []string{"fifo", "socket"} {
		p, err := w.Resolve(name)
		require.NoError(t, err)
		var odd *NotRegularError
		_, _, err = w.Open(p)
		require.ErrorAs(t, err, &odd, name)
		_, err = w.Update(context.Background(), p, UpdateOptions{}, func(Current) (Parts, error) { return nil, nil })
		require.ErrorAs(t, err, &odd, name)
		d, err := w.OpenRoot(p)
		require.NoError(t, err)
		_, _, err = d.Open(name)
		require.ErrorAs(t, err, &odd, name)
		d.Close()
	}
	p, err := w.Resolve("d")
	require.NoError(t, err)
	_, _, err = w.Open(p)
	require.ErrorIs(t, err, ErrIsDir)
	_, err = w.Update(context.Background(), p, UpdateOptions{}, func(Current) (Parts, error) { return nil, nil })
	require.ErrorIs(t, err, ErrIsDir)
}

func FuzzResolveNeverLeavesTheRoots(f *testing.F) {
	for _, row := range escapes {
		f.Add(row.open)
	}
	base, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	ws := filepath.Join(base, "ws")
	if err := errors.Join(os.MkdirAll(filepath.Join(ws, "d"), 0o755), os.Symlink("..", filepath.Join(ws, "up")), os.Symlink("/", filepath.Join(ws, "top")), os.Symlink("d", filepath.Join(ws, "l"))); err != nil {
		f.Fatal(err)
	}
	w, err := Open([]RootSpec{{Dir: ws}}, Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, err := w.Resolve(name)
		if err != nil {
			return
		}
		if rel := p.Rel(); rel != "." && (!fs.ValidPath(rel) && strings.ToValidUTF8(rel, "") == rel) {
			t.Fatalf("%q resolves to %q", name, rel)
		}
		// The oracle: what the operating system finds at the same words.
		real, err := filepath.EvalSymlinks(p.Host())
		if err != nil {
			return
		}
		if _, inside := below(ws, real); !inside {
			t.Fatalf("%q resolves to %q, which is %q", name, p.Rel(), real)
		}
	})
}
