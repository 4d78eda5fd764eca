//go:build !unix

package sandbox

import (
	"context"
	"io/fs"
	"os"
)

func lockFile(*os.File) lockResult { return noLocks }

// readyToRename closes the files: an open one cannot be renamed, or replaced,
// on Windows.
func readyToRename(tmp, old *os.File) {
	tmp.Close()
	if old != nil {
		old.Close()
	}
}

// keepOwner has nothing to keep here: a file's owner follows from its folder.
func keepOwner(*os.File, fs.FileInfo) (sameOwner, sameGroup bool, err error) { return true, true, nil }

// lock does nothing here: the file is compared right before the rename.
func (h *dirHandle) lock(context.Context) (unlock func(), err error) { return func() {}, nil }

// sync does nothing here: directories cannot be flushed.
func (h *dirHandle) sync() error { return nil }

func (h *dirHandle) renameNew(dir *os.Root, from, to string) error {
	if _, err := dir.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return dir.Rename(from, to)
}
