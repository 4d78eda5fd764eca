package sandbox

import (
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// A Dir is an open directory below a root. Links are never followed: what is
// opened through a Dir lies in the very directory it holds, whatever happens to
// the names above it meanwhile. It is the base of every walk.
//
// A Dir is not safe for concurrent use; different Dirs are independent.
type Dir struct {
	h *dirHandle
}

// An Entry is one name in a directory. Mode holds only the type bits; a link is
// reported as a link.
type Entry struct {
	Name string
	Mode fs.FileMode
}

// Entries lists the directory in the order of its file system, each name once,
// without "." and "..". Temporary files of a write in progress are left out.
// After an error the entries read so far are returned with it.
func (d *Dir) Entries() ([]Entry, error) {
	list, err := d.h.readDir()
	out := make([]Entry, 0, len(list))
	for _, e := range list {
		if isTempName(e.Name()) {
			continue
		}
		out = append(out, Entry{Name: e.Name(), Mode: e.Type()})
	}
	return out, err
}

// Sub opens the directory called name, one component. A link is refused with an error.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := oneComponent(name); err != nil {
		return nil, err
	}
	h, err := d.h.sub(name)
	if err != nil {
		return nil, err
	}
	return &Dir{h}, nil
}

// Open opens the regular file called name, one component, for reading. It never
// blocks: a FIFO, socket, device or link is refused with a [NotRegularError].
// The FileInfo is that of the open file.
func (d *Dir) Open(name string) (*os.File, fs.FileInfo, error) {
	if err := oneComponent(name); err != nil {
		return nil, nil, err
	}
	f, err := d.h.openFile(name)
	if err != nil {
		return nil, nil, err
	}
	return regular(f)
}

// Info is what sorting a listing needs to know of a file.
type Info struct {
	Mode    fs.FileMode // type bits only
	Size    int64       // bytes
	ModTime time.Time
}

// Stat describes the entry called name, one component, and does not follow a link.
func (d *Dir) Stat(name string) (Info, error) {
	if err := oneComponent(name); err != nil {
		return Info{}, err
	}
	return d.h.lstat(name)
}

// Close releases the directory.
func (d *Dir) Close() error { return d.h.close() }

// oneComponent refuses what is not the name of an entry. Names need not be UTF-8.
func oneComponent(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsFunc(name, endsName) {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

func endsName(r rune) bool {
	return r == 0 || r == '/' || r < utf8.RuneSelf && os.IsPathSeparator(byte(r))
}

// regular returns f and its info, or closes it when it is no regular file.
func regular(f *os.File) (*os.File, fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		f.Close()
		return nil, nil, &NotRegularError{Mode: info.Mode()}
	}
	return f, info, nil
}
