package sandbox

import (
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func renameNoReplace(dirfd int, from, to string) error {
	return unix.Renameat2(dirfd, from, dirfd, to, unix.RENAME_NOREPLACE)
}

// maxAttribute bounds one extended attribute (XATTR_SIZE_MAX).
const maxAttribute = 64 << 10

// keepAttributes copies ACL, label and user attributes from the file that info
// describes. File capabilities are not copied, as setuid is not: they belong to
// the program that was, not to the one that is written. Failures are ignored:
// not every file system has attributes.
func keepAttributes(dir *os.Root, to *os.File, info fs.FileInfo) {
	from, err := dir.Open(info.Name())
	if err != nil {
		return
	}
	defer from.Close()
	names := make([]byte, maxAttribute)
	n, err := unix.Flistxattr(int(from.Fd()), names)
	if err != nil || n == 0 {
		return
	}
	value := make([]byte, maxAttribute)
	for _, name := range strings.Split(strings.TrimRight(string(names[:n]), "\x00"), "\x00") {
		if !strings.HasPrefix(name, "user.") && name != "system.posix_acl_access" && name != "security.selinux" {
			continue
		}
		if n, err := unix.Fgetxattr(int(from.Fd()), name, value); err == nil {
			_ = unix.Fsetxattr(int(to.Fd()), name, value[:n], 0)
		}
	}
}
