//go:build !unix

package sandbox

import (
	"io/fs"
	"os"
)

// dirHandle is an open directory; children are opened through os.Root, and what
// was opened is compared with the name, so that a link is never followed.
type dirHandle struct {
	r *os.Root
}

// openDirHandle opens the directory that r holds.
func openDirHandle(r *os.Root) (*dirHandle, error) {
	sub, err := r.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return &dirHandle{sub}, nil
}

func (h *dirHandle) readDir() ([]fs.DirEntry, error) {
	f, err := h.r.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (h *dirHandle) sub(name string) (*dirHandle, error) {
	r, err := subRoot(h.r, name)
	if err != nil {
		return nil, err
	}
	return &dirHandle{r}, nil
}

func (h *dirHandle) openFile(name string) (*os.File, error) {
	info, err := h.r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &NotRegularError{Mode: info.Mode()}
	}
	f, err := h.r.Open(name)
	if err != nil {
		return nil, err
	}
	if open, err := f.Stat(); err != nil || !os.SameFile(open, info) {
		f.Close()
		return nil, &NotRegularError{Mode: fs.ModeIrregular}
	}
	return f, nil
}

func (h *dirHandle) lstat(name string) (Info, error) {
	info, err := h.r.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return Info{Mode: info.Mode().Type(), Size: info.Size(), ModTime: info.ModTime()}, nil
}

func (h *dirHandle) close() error { return h.r.Close() }
