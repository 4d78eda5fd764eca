//go:build unix && !linux && !darwin

package sandbox

import (
	"errors"
	"io/fs"
	"os"
)

func renameNoReplace(int, string, string) error { return errors.ErrUnsupported }

// keepAttributes copies nothing here.
func keepAttributes(*os.Root, *os.File, fs.FileInfo) {}
