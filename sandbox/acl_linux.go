package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// accessACL is the attribute that holds a file's POSIX ACL.
const accessACL = "system.posix_acl_access"

// maxAttribute bounds one extended attribute (XATTR_SIZE_MAX).
const maxAttribute = 64 << 10

// readACL returns the ACL of a file, nil if it has none but its mode.
func readACL(f *os.File) ([]byte, error) {
	n, err := unix.Fgetxattr(int(f.Fd()), accessACL, nil)
	if err == nil && n > 0 {
		acl := make([]byte, maxAttribute)
		n, err = unix.Fgetxattr(int(f.Fd()), accessACL, acl)
		acl = acl[:max(n, 0)]
		if err == nil && n > 0 {
			return acl, nil
		}
	}
	return nil, aclFailure("read", err)
}

// writeACL sets the ACL of a file, and with it its mode.
func writeACL(f *os.File, acl []byte) error {
	if err := unix.Fsetxattr(int(f.Fd()), accessACL, acl, 0); err != nil {
		return fmt.Errorf("the file's access control list could not be kept: %w", err)
	}
	return nil
}

// removeACL takes away an ACL that the directory has handed down. The mode stays.
func removeACL(f *os.File) error {
	return aclFailure("removed", unix.Fremovexattr(int(f.Fd()), accessACL))
}

// aclFailure drops what only says that there is no ACL, or can be none.
func aclFailure(verb string, err error) error {
	if err == nil || errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return fmt.Errorf("the file's access control list could not be %s: %w", verb, err)
}

// The form of the attribute, linux/posix_acl_xattr.h: a version, then entries
// of tag, permissions and id, all little-endian.
const (
	aclHeader = 4
	aclEntry  = 8

	aclGroup = 0x04 // ACL_GROUP_OBJ: the file's own group
	aclMask  = 0x10
	aclOther = 0x20
)

// aclForAnotherGroup is forAnotherGroup for a file with an ACL: named users and
// groups keep what they have.
func aclForAnotherGroup(mode fs.FileMode, acl []byte) (fs.FileMode, []byte) {
	less := append([]byte(nil), acl...)
	perm := map[uint16][]byte{}
	for e := less[min(aclHeader, len(less)):]; len(e) >= aclEntry; e = e[aclEntry:] {
		perm[binary.LittleEndian.Uint16(e)] = e[2:4]
	}
	both := byte(0o7)
	for _, tag := range [...]uint16{aclGroup, aclMask, aclOther} {
		if p := perm[tag]; p != nil {
			both &= p[0]
		}
	}
	changed := false
	for _, tag := range [...]uint16{aclGroup, aclOther} {
		if p := perm[tag]; p != nil {
			changed = changed || p[0] != both
			p[0] = both
		}
	}
	if !changed {
		return mode, acl
	}
	return mode&0o770 | fs.FileMode(both), less
}

// copyAttributes copies label and user attributes. File capabilities are not
// copied, as setuid is not: they belong to the program that was, not to the one
// that is written. Failures are ignored: not every file system has attributes.
func copyAttributes(from, to *os.File) {
	names := make([]byte, maxAttribute)
	n, err := unix.Flistxattr(int(from.Fd()), names)
	if err != nil || n == 0 {
		return
	}
	value := make([]byte, maxAttribute)
	for _, name := range strings.Split(strings.TrimRight(string(names[:n]), "\x00"), "\x00") {
		if !strings.HasPrefix(name, "user.") && name != "security.selinux" {
			continue
		}
		if n, err := unix.Fgetxattr(int(from.Fd()), name, value); err == nil {
			_ = unix.Fsetxattr(int(to.Fd()), name, value[:n], 0)
		}
	}
}
