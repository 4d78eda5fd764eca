package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeveralRoots(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	one, two := filepath.Join(base, "one"), filepath.Join(base, "two")
	inner := filepath.Join(one, "vendor")
	for _, dir := range []string{one, two, inner} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte(dir), 0o644))
	}
	require.NoError(t, os.Symlink("../two/f", filepath.Join(one, "rel")))
	require.NoError(t, os.Symlink(filepath.Join(two, "f"), filepath.Join(one, "abs")))
	w, err := Open([]RootSpec{{Dir: one}, {Dir: two}, {Dir: inner, ReadOnly: true}}, Options{})
	require.NoError(t, err)
	defer w.Close()

	for name, row := range map[string]struct{ path, host, shown string }{
		"relative to the first":         {"f", one + "/f", "f"},
		"absolute in the second":        {two + "/f", two + "/f", two + "/f"},
		"relative link across roots":    {"rel", two + "/f", two + "/f"},
		"absolute link across roots":    {"abs", two + "/f", two + "/f"},
		"relative path into the second": {"../two/f", two + "/f", two + "/f"},
		"longest root wins":             {inner + "/f", inner + "/f", inner + "/f"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := w.Resolve(row.path)
			require.NoError(t, err)
			require.Equal(t, row.host, p.Host())
			require.Equal(t, row.shown, w.Show(p))
		})
	}
	t.Run("a read-only root inside a writable one stays read-only by any spelling", func(t *testing.T) {
		for _, path := range []string{"vendor/f", inner + "/f", "vendor/new", "./vendor/../vendor/f"} {
			p, err := w.Resolve(path)
			require.NoError(t, err)
			_, err = w.Update(context.Background(), p, UpdateOptions{}, func(Current) (Parts, error) { return Whole([]byte("x")), nil })
			require.ErrorIs(t, err, ErrReadOnly, path)
		}
	})
}

func TestRootsThatAreRefused(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	file := filepath.Join(home, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for name, dir := range map[string]string{
		"missing": filepath.Join(home, "none"), "a file": file, "home": home, "above home": filepath.Dir(home), "the disk": "/",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open([]RootSpec{{Dir: dir}}, Options{})
			require.Error(t, err)
		})
	}
	w, err := Open([]RootSpec{{Dir: home}}, Options{AllowWide: true})
	require.NoError(t, err)
	w.Close()
}
