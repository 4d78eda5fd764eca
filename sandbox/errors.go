package sandbox

import (
	"errors"
	"io/fs"
	"syscall"
)

// errNotDir is what a path through a file fails with.
var errNotDir error = syscall.ENOTDIR

var (
	// ErrEscapes: the path, or a link on its way, leads out of every root.
	ErrEscapes = errors.New("path escapes workspace")
	// ErrReadOnly: the root of the path was opened read-only.
	ErrReadOnly = errors.New("the workspace root is read-only")
	// ErrHardLinks: the file has several names; writing would change or detach the others.
	ErrHardLinks = errors.New("the file has several hard links")
	// ErrTooManyLinks: a link leads to a link, and so on, without end.
	ErrTooManyLinks = errors.New("too many levels of symbolic links")
	// ErrChanged: the file is not what the caller took it for.
	ErrChanged = errors.New("the file changed meanwhile")
	// ErrGuarded: writing the file needs the user's yes.
	ErrGuarded = errors.New("the file is guarded")
	// ErrTooLarge: the file is larger than [MaxFile].
	ErrTooLarge = errors.New("the file is too large")
	// ErrUnchanged is what a change of [Workspace.Update] returns to leave the file alone.
	ErrUnchanged = errors.New("unchanged")
	// ErrIsDir: the path names a directory where a file is wanted.
	ErrIsDir = errors.New("is a directory")
)

// NotRegularError says that a path names something other than a regular file.
type NotRegularError struct{ Mode fs.FileMode }

func (e *NotRegularError) Error() string { return "not a regular file: " + KindOf(e.Mode) }

// KindOf names the type of a file in words.
func KindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe (FIFO)"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m.IsRegular():
		return "a regular file"
	}
	return "a special file"
}
