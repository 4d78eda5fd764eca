package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Open opens the regular file at p for reading, without ever blocking on what
// is no regular file, and through no link: p has none left, so one that stands
// there now was put there since and is not what was judged. Errors: fs.ErrNotExist, [ErrIsDir], [NotRegularError],
// [ErrEscapes], fs.ErrPermission.
func (w *Workspace) Open(p Path) (*os.File, fs.FileInfo, error) {
	dir, err := openParent(p)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	if p.rel == "." {
		return nil, nil, ErrIsDir
	}
	return openRegular(dir, p.Base())
}

// reopen is how often a file is opened anew that was replaced in between.
const reopen = 8

// openRegular opens the regular file called name in the directory r.
func openRegular(r *os.Root, name string) (*os.File, fs.FileInfo, error) {
	for range reopen {
		f, info, err := tryOpenRegular(r, name)
		if !errors.Is(err, ErrChanged) {
			return f, info, err
		}
	}
	return nil, nil, ErrChanged
}

// tryOpenRegular fails with ErrChanged when what it opened is not what the name
// was a moment before: another file by now, or the end of a link.
func tryOpenRegular(r *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := r.Lstat(name)
	if err != nil {
		return nil, nil, escapeOr(err)
	}
	if info.IsDir() {
		return nil, nil, ErrIsDir
	}
	if !info.Mode().IsRegular() { // opening a device may already do something
		return nil, nil, &NotRegularError{Mode: info.Mode()}
	}
	f, err := r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return nil, nil, &NotRegularError{Mode: fs.ModeSocket}
	}
	if err != nil {
		return nil, nil, escapeOr(err)
	}
	f, open, err := regular(f)
	if err == nil && !os.SameFile(open, info) {
		f.Close()
		return nil, nil, ErrChanged
	}
	return f, open, err
}

// StatVersion is the version of an open file that is too large to be hashed,
// see [MaxHashed].
func StatVersion(info fs.FileInfo) Version { return statVersion(info) }

// VersionAt is the present version of the file at p.
func (w *Workspace) VersionAt(p Path) (Version, error) {
	f, info, err := w.Open(p)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return versionOfFile(f, info)
}

// OpenRoot opens the root that holds p, as the start of a walk down to p.Rel().
// The caller closes it.
func (w *Workspace) OpenRoot(p Path) (*Dir, error) {
	h, err := openDirHandle(p.root.dir)
	if err != nil {
		return nil, err
	}
	return &Dir{h}, nil
}

// OpenAt opens the directory at p, as the start of a walk below it, through no link.
// The caller closes it.
func (w *Workspace) OpenAt(p Path) (*Dir, error) {
	d, err := w.OpenRoot(p)
	if err != nil {
		return nil, err
	}
	for _, part := range split(p.rel) {
		sub, err := d.Sub(part)
		d.Close()
		if err != nil {
			return nil, err
		}
		d = sub
	}
	return d, nil
}

// OpenDir opens a directory of this machine as the start of a walk.
func OpenDir(dir string) (*Dir, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h, err := openDirHandle(r)
	if err != nil {
		return nil, err
	}
	return &Dir{h}, nil
}

// Stamp is a cheap sign of a file's state: equal stamps mean that nothing wrote
// to the file, different ones that something may have.
type Stamp struct {
	Size    int64
	MTime   int64 // nanoseconds
	CTime   int64
	Dev     uint64
	Ino     uint64
	Regular bool
}

// StampOf makes the stamp of a file.
func StampOf(info fs.FileInfo) Stamp {
	id := identityOf(info)
	return Stamp{
		Size: info.Size(), MTime: info.ModTime().UnixNano(), CTime: id.ctime,
		Dev: id.dev, Ino: id.ino, Regular: info.Mode().IsRegular(),
	}
}

// StampAt is the present stamp of the file at p; the zero Stamp when it is gone.
func (w *Workspace) StampAt(p Path) (Stamp, error) {
	info, err := p.root.dir.Stat(p.rel)
	if errors.Is(err, fs.ErrNotExist) {
		return Stamp{}, nil
	}
	if err != nil {
		return Stamp{}, escapeOr(err)
	}
	return StampOf(info), nil
}
