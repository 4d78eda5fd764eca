//go:build unix

package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What is put in the place of a file must neither block the write, which holds a
// lock, nor be taken for the file.
func TestAnythingPutInPlaceOfTheFileIsSeen(t *testing.T) {
	for name, swap := range map[string]func(t *testing.T, ws string) error{
		"a FIFO": func(_ *testing.T, ws string) error { return syscall.Mkfifo(ws+"/a", 0o644) },
		"a FIFO with a reader": func(t *testing.T, ws string) error {
			if err := syscall.Mkfifo(ws+"/a", 0o644); err != nil {
				return err
			}
			f, err := os.OpenFile(ws+"/a", os.O_RDONLY|syscall.O_NONBLOCK, 0)
			t.Cleanup(func() { f.Close() })
			return err
		},
		"a link to an equal file": func(_ *testing.T, ws string) error {
			return errors.Join(os.WriteFile(ws+"/equal", []byte("a"), 0o644), os.Symlink("equal", ws+"/a"))
		},
		"a directory": func(_ *testing.T, ws string) error { return os.Mkdir(ws+"/a", 0o755) },
		"nothing":     func(*testing.T, string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w, ws, _ := newPlace(t, []string{"a"})
			_, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, func(Current) (Parts, error) {
				require.NoError(t, os.Remove(ws+"/a"))
				require.NoError(t, swap(t, ws))
				return Whole([]byte("ours")), nil
			})
			require.ErrorIs(t, err, ErrChanged)
			if name == "a link to an equal file" {
				assertFile(t, ws+"/equal", "a")
			}
		})
	}
	// The last moment is the comparison under the folder's lock.
	t.Run("at the last moment", func(t *testing.T) {
		_, ws, _ := newPlace(t, []string{"a"})
		dir, err := os.OpenRoot(ws)
		require.NoError(t, err)
		defer dir.Close()
		old, err := openOriginal(dir, "a")
		require.NoError(t, err)
		defer old.close()
		require.NoError(t, old.read(context.Background()))
		r := rewrite{dir: dir, base: "a", old: old}
		same, err := r.isUntouched(context.Background())
		require.NoError(t, err)
		require.True(t, same)
		require.NoError(t, os.Remove(ws+"/a"))
		require.NoError(t, syscall.Mkfifo(ws+"/a", 0o644))
		same, err = r.isUntouched(context.Background())
		require.NoError(t, err)
		require.False(t, same)
	})
}

func TestAWriteWaitsForTheFoldersLockButNotForever(t *testing.T) {
	for name, row := range map[string]struct {
		held  time.Duration // by another program
		until time.Duration // the caller waits
		err   error
		took  time.Duration
	}{
		"given back":           {held: lockWait - time.Second, until: time.Hour, took: lockWait - time.Second},
		"never given back":     {held: time.Hour, until: time.Hour, err: ErrBusy, took: lockWait},
		"the caller goes away": {held: time.Hour, until: time.Second, err: context.DeadlineExceeded, took: time.Second},
	} {
		for _, file := range []string{"a", "new"} {
			t.Run(name+"/"+file, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w, ws, _ := newPlace(t, []string{"a"})
					other, err := os.Open(ws)
					require.NoError(t, err)
					defer other.Close()
					require.NoError(t, flock(other))
					defer time.AfterFunc(row.held, func() { other.Close() }).Stop()
					ctx, cancel := context.WithTimeout(context.Background(), row.until)
					defer cancel()

					start := time.Now()
					_, err = w.Update(ctx, resolved(t, w, file), UpdateOptions{}, put("x"))
					require.InDelta(t, row.took, time.Since(start), float64(maxLockPoll))
					if row.err == nil {
						require.NoError(t, err)
						assertFile(t, filepath.Join(ws, file), "x")
						return
					}
					require.ErrorIs(t, err, row.err)
					require.Equal(t, []string{"a"}, names(t, ws))
					assertFile(t, filepath.Join(ws, "a"), "a")
				})
			})
		}
	}
}

func TestALongLivedServerTidiesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, ws, _ := newPlace(t, []string{"a"})
		dead := ".mcp-tools-AAAAAAAAAAAAAAAAAAAAAAAAAA.tmp"
		update := func() []string {
			_, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, put("x"))
			require.NoError(t, err)
			return names(t, ws)
		}
		require.Equal(t, []string{"a"}, update())
		require.NoError(t, os.WriteFile(filepath.Join(ws, dead), nil, 0o600))
		require.Equal(t, []string{dead, "a"}, update(), "not at every write")
		time.Sleep(tidyEvery) // of the bubble's clock
		require.Equal(t, []string{"a"}, update())
	})
}

// failFlush lets the nth flush of a directory, from 1, do what strike does.
func failFlush(t *testing.T, nth int, strike func() error) {
	t.Helper()
	real := flushDir
	t.Cleanup(func() { flushDir = real })
	n := 0
	flushDir = func(h *dirHandle) error {
		if n++; n == nth {
			return strike()
		}
		return real(h)
	}
}

func TestAWriteThatMayNotLastIsToldAsSuch(t *testing.T) {
	broken := func() error { return &fs.PathError{Op: "sync", Path: "/host/path", Err: syscall.ENOSPC} }
	for file, flushes := range map[string]int{"a": 1, "new": 1, "d/e/new": 3} {
		t.Run(file, func(t *testing.T) {
			w, ws, _ := newPlace(t, []string{"a"})
			failFlush(t, flushes, broken)
			done, err := w.Update(context.Background(), resolved(t, w, file), UpdateOptions{}, put("x"))
			require.ErrorIs(t, err, ErrNotDurable)
			require.NotErrorIs(t, err, syscall.ENOSPC, "which would mean that nothing was written")
			require.Equal(t, "the content was written but may not survive a power loss: no space left on device", Reason(err))
			require.Equal(t, VersionOf([]byte("x")), done.Version)
			assertFile(t, filepath.Join(ws, file), "x")
		})
	}
	t.Run("a new folder that may not last is not written into", func(t *testing.T) {
		w, ws, _ := newPlace(t, []string{"a"})
		failFlush(t, 2, broken)
		_, err := w.Update(context.Background(), resolved(t, w, "d/e/new"), UpdateOptions{}, put("x"))
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.NotErrorIs(t, err, ErrNotDurable)
		require.Equal(t, []string{"a"}, names(t, ws))
	})
}

func TestOnlyRealFailuresToFlushAFolderCount(t *testing.T) {
	for _, err := range []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT} {
		require.ErrorIs(t, syncFailure(&fs.PathError{Err: err}), err)
	}
	for _, err := range []error{nil, syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS, syscall.EBADF} {
		require.NoError(t, syncFailure(err), "the file system cannot do it")
	}
}

func TestEveryNewNameIsFlushed(t *testing.T) {
	w, ws, _ := newPlace(t, []string{"old/a"})
	real := flushDir
	defer func() { flushDir = real }()
	var flushed []fs.FileInfo
	flushDir = func(h *dirHandle) error {
		info, err := h.f.Stat()
		flushed = append(flushed, info)
		return errors.Join(err, real(h))
	}
	for file, dirs := range map[string][]string{"old/a": {"old"}, "old/new": {"old"}, "d/e/f/new": {".", "d", "d/e", "d/e/f"}, "old/g/new": {"old", "old/g"}} {
		flushed = nil
		_, err := w.Update(context.Background(), resolved(t, w, file), UpdateOptions{}, put("x"))
		require.NoError(t, err)
		require.Len(t, flushed, len(dirs), file)
		for i, dir := range dirs {
			info, err := os.Stat(filepath.Join(ws, dir))
			require.NoError(t, err)
			require.True(t, os.SameFile(info, flushed[i]), "%s: %s was not flushed", file, dir)
		}
	}
}

// What happens to the file after it got its name is no failure of the write.
func TestAWrittenFileIsReportedAsItWasWritten(t *testing.T) {
	for name, strike := range map[string]func(a string) error{
		"removed":  os.Remove,
		"replaced": func(a string) error { return errors.Join(os.Remove(a), os.WriteFile(a, []byte("theirs"), 0o644)) },
		"left":     func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w, ws, _ := newPlace(t, []string{"a"})
			failFlush(t, 1, func() error { return strike(filepath.Join(ws, "a")) })
			done, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, put("new"))
			require.NoError(t, err)
			require.True(t, done.Exists)
			require.Equal(t, "a", done.Info.Name())
			require.Equal(t, int64(3), done.Info.Size())
			require.Equal(t, VersionOf([]byte("new")), done.Version)
		})
	}
}

// The change of content that keeps size and times is seen by the time of the
// change itself, which no program can set.
func TestTheTimeOfTheLastChangeIsKnown(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(name, nil, 0o644))
	created, err := os.Stat(name)
	require.NoError(t, err)
	require.NoError(t, os.Chtimes(name, time.Unix(1e9, 0), time.Unix(1e9, 0)))
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.GreaterOrEqual(t, identityOf(info).ctime, created.ModTime().UnixNano())
}

// Where a file system does not tell the types of entries, ReadDir looks them up
// by the name of the directory.
func TestAnOpenSubfolderHasANameThatLeadsToIt(t *testing.T) {
	_, ws, _ := newPlace(t, []string{"d/e/f"})
	d, err := OpenDir(ws)
	require.NoError(t, err)
	defer d.Close()
	for _, name := range []string{"d", "e"} {
		sub, err := d.Sub(name)
		require.NoError(t, err)
		defer sub.Close()
		named, err := os.Stat(sub.h.f.Name())
		require.NoError(t, err)
		open, err := sub.h.f.Stat()
		require.NoError(t, err)
		require.True(t, os.SameFile(named, open), sub.h.f.Name())
		d = sub
	}
}
