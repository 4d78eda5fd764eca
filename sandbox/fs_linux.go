package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func renameNoReplace(dirfd int, from, to string) error {
	return unix.Renameat2(dirfd, from, dirfd, to, unix.RENAME_NOREPLACE)
}

// subDirName is a name for the open directory fd. Where a file system does not
// tell the types of entries, ReadDir looks them up by it.
func subDirName(_ *os.File, _ string, fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }
