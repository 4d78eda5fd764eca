//go:build unix

package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// umask is the mask that new files get, read once before anything runs beside us.
var umask = readUmask()

func readUmask() fs.FileMode {
	m := syscall.Umask(0)
	syscall.Umask(m)
	return fs.FileMode(m) & fs.ModePerm
}

// lockFile takes the advisory lock of an open file without waiting. Where the
// file system has none, it says yes.
func lockFile(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return err == nil || !errors.Is(err, unix.EWOULDBLOCK)
}

// readyToRename keeps the file open, and so its lock, until it has its name.
func readyToRename(*os.File) {}

// keepOwner gives the file the owner and group of the old one, where permitted.
func keepOwner(f *os.File, old fs.FileInfo) {
	id := identityOf(old)
	now, err := f.Stat()
	if err != nil || !id.known {
		return
	}
	if is := identityOf(now); is.uid == id.uid && is.gid == id.gid {
		return
	}
	if f.Chown(id.uid, id.gid) != nil {
		_ = f.Chown(-1, id.gid)
	}
}

const (
	lockWait = 2 * time.Second
	lockPoll = time.Millisecond
)

// lock keeps other processes of ours from committing in the directory at the
// same moment. It waits a bounded time: a stranger may hold the lock, and the
// file itself is compared in any case.
func (h *dirHandle) lock(ctx context.Context) (unlock func()) {
	deadline := time.Now().Add(lockWait)
	for {
		err := unix.Flock(int(h.f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = unix.Flock(int(h.f.Fd()), unix.LOCK_UN) }
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(deadline) || ctx.Err() != nil {
			return func() {}
		}
		time.Sleep(lockPoll)
	}
}

// sync flushes the directory, so that a rename survives power loss. File systems
// that cannot do it flush their journal in order anyway.
func (h *dirHandle) sync() { _ = h.f.Sync() }

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
