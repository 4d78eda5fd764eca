//go:build !unix

package sandbox

import (
	"context"
	"io/fs"
	"os"
)

const umask fs.FileMode = 0

func lockFile(*os.File) bool { return true }

// readyToRename closes the file: an open one cannot be renamed on Windows.
func readyToRename(f *os.File) { f.Close() }

func keepOwner(*os.File, fs.FileInfo) {}

func keepAttributes(*os.Root, *os.File, fs.FileInfo) {}

// lock does nothing here: the file is compared right before the rename.
func (h *dirHandle) lock(context.Context) func() { return func() {} }

func (h *dirHandle) sync() {}

func (h *dirHandle) renameNew(dir *os.Root, from, to string) error {
	if _, err := dir.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return dir.Rename(from, to)
}
