//go:build unix

package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile takes the advisory lock of an open file without waiting.
func lockFile(f *os.File) lockResult {
	switch err := flock(f); {
	case err == nil:
		return locked
	case errors.Is(err, unix.EWOULDBLOCK):
		return lockedByOther
	}
	return noLocks
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// readyToRename keeps the new file open, and so its lock, until it has its name.
func readyToRename(_, _ *os.File) {}

// keepOwner gives the file the owner and group of the old one, where permitted,
// and tells which of them it has. What the file system says counts, not what it
// was told.
func keepOwner(f *os.File, old fs.FileInfo) (sameOwner, sameGroup bool, err error) {
	want := identityOf(old)
	if sameOwner, sameGroup, err = compareOwner(f, want); err != nil || sameOwner && sameGroup {
		return sameOwner, sameGroup, err
	}
	if f.Chown(want.uid, want.gid) != nil {
		_ = f.Chown(-1, want.gid)
	}
	return compareOwner(f, want)
}

func compareOwner(f *os.File, want identity) (sameOwner, sameGroup bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, false, err
	}
	is := identityOf(info)
	return is.uid == want.uid, is.gid == want.gid, nil
}

const (
	// lockWait is long enough for ours, who hold the lock while they compare a
	// file of up to MaxFile bytes.
	lockWait    = 30 * time.Second
	minLockPoll = time.Millisecond
	maxLockPoll = 20 * time.Millisecond
)

// lock keeps other processes of ours from committing in the directory at the
// same moment. A stranger may hold the lock too: after lockWait the error is
// [ErrBusy], before that the cause of ctx. Where the file system has no such
// locks there is nothing to wait for; the file is compared in any case.
func (h *dirHandle) lock(ctx context.Context) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, ErrBusy)
	defer cancel()
	for poll := minLockPoll; ; poll = min(2*poll, maxLockPoll) {
		switch lockFile(h.f) {
		case locked:
			return func() { _ = unix.Flock(int(h.f.Fd()), unix.LOCK_UN) }, nil
		case noLocks:
			return func() {}, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(poll):
		}
	}
}

// sync flushes the directory, so that a rename survives power loss.
func (h *dirHandle) sync() error { return syncFailure(h.f.Sync()) }

// syncFailure drops what only says that a file system cannot flush a directory;
// such ones write their journal in order anyway.
func syncFailure(err error) error {
	for _, real := range [...]error{unix.EIO, unix.ENOSPC, unix.EDQUOT} {
		if errors.Is(err, real) {
			return err
		}
	}
	return nil
}

// renameNew gives the file a name that nobody has, in one step.
func (h *dirHandle) renameNew(dir *os.Root, from, to string) error {
	err := renameNoReplace(int(h.f.Fd()), from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	if _, err := dir.Lstat(to); err == nil { // under the directory's lock
		return fs.ErrExist
	}
	return dir.Rename(from, to)
}
