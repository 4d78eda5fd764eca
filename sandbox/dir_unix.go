//go:build unix

package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// dirHandle is an open directory; children are opened relative to its
// descriptor (openat), never through a path.
type dirHandle struct {
	f *os.File
}

// openDirHandle opens the directory that r holds.
func openDirHandle(r *os.Root) (*dirHandle, error) {
	f, err := r.Open(".")
	if err != nil {
		return nil, err
	}
	return &dirHandle{f}, nil
}

func (h *dirHandle) readDir() ([]fs.DirEntry, error) {
	if _, err := h.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return h.f.ReadDir(-1)
}

func (h *dirHandle) sub(name string) (*dirHandle, error) {
	fd, err := openat(h.f, name, unix.O_DIRECTORY)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &dirHandle{os.NewFile(uintptr(fd), subDirName(h.f, name, fd))}, nil
}

func (h *dirHandle) openFile(name string) (*os.File, error) {
	fd, err := openat(h.f, name, unix.O_NONBLOCK)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EMLINK):
		return nil, &NotRegularError{Mode: fs.ModeSymlink}
	case errors.Is(err, unix.ENXIO): // a socket
		return nil, &NotRegularError{Mode: fs.ModeSocket}
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openat opens name below dir for reading, never through a link at its end.
func openat(dir *os.File, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(int(dir.Fd()), name, flags|unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func (h *dirHandle) lstat(name string) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(h.f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return Info{Mode: typeBits(uint32(st.Mode)), Size: st.Size, ModTime: time.Unix(st.Mtim.Unix())}, nil
}

// typeBits translates the type bits of st_mode.
func typeBits(m uint32) fs.FileMode {
	switch m & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		return fs.ModeDevice
	}
	return fs.ModeIrregular
}

func (h *dirHandle) close() error { return h.f.Close() }
