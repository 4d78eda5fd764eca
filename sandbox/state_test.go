package sandbox

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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

// Another process, or the user, may clear the state directory at any time.
func TestResultsAreSavedAfterTheirFolderWasMadeAnew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder that is open cannot be removed on Windows")
	}
	st := OpenState(t.TempDir())
	w, err := Open([]RootSpec{{Dir: t.TempDir()}}, Options{Results: st})
	require.NoError(t, err)
	defer w.Close()
	first, err := st.Save("first")
	require.NoError(t, err)
	old := resolved(t, w, first.Path())
	reader, _, err := w.Open(old)
	require.NoError(t, err)
	defer reader.Close()

	for name, again := range map[string]func(dir string) error{
		"removed": func(string) error { return nil },
		"made":    func(dir string) error { return os.MkdirAll(dir, 0o700) },
		"moved in": func(dir string) error {
			if err := os.Mkdir(dir+"2", 0o700); err != nil {
				return err
			}
			return os.Rename(dir+"2", dir)
		},
	} {
		require.NoError(t, os.RemoveAll(st.resultsDir()), name)
		require.NoError(t, again(st.resultsDir()), name)
		saved, err := st.Save("second")
		require.NoError(t, err, name)
		f, _, err := w.Open(resolved(t, w, saved.Path()))
		require.NoError(t, err, name)
		text, err := io.ReadAll(f)
		require.NoError(t, err, name)
		require.Equal(t, "second", string(text), name)
		f.Close()
	}

	_, _, err = w.Open(old)
	require.ErrorIs(t, err, fs.ErrNotExist, "the folder is not closed under who still has a path in it")
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, "first", string(text))
}
