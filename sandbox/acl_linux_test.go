package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// aclRow is one entry of an ACL.
type aclRow struct {
	tag, perm uint16
	id        uint32
}

const (
	aclUser      = 0x01 // ACL_USER_OBJ
	aclNamedUser = 0x02
	nobodys      = 0xffffffff // entries without an id
)

// acl makes the attribute of an ACL that gives a named user something.
func acl(owner, named, group, mask, other uint16) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, row := range []aclRow{{aclUser, owner, nobodys}, {aclNamedUser, named, 4002}, {aclGroup, group, nobodys}, {aclMask, mask, nobodys}, {aclOther, other, nobodys}} {
		b = binary.LittleEndian.AppendUint16(b, row.tag)
		b = binary.LittleEndian.AppendUint16(b, row.perm)
		b = binary.LittleEndian.AppendUint32(b, row.id)
	}
	return b
}

const defaultACL = "system.posix_acl_default"

func setACL(t *testing.T, name, attribute string, acl []byte) {
	t.Helper()
	err := unix.Setxattr(name, attribute, acl, 0)
	if errors.Is(err, unix.ENOTSUP) {
		t.Skip("the file system of the temporary directory has no ACLs")
	}
	require.NoError(t, err)
}

// access is what the file system says about who may do what with a file.
func access(t *testing.T, name string) (fs.FileMode, []byte) {
	t.Helper()
	info, err := os.Stat(name)
	require.NoError(t, err)
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	acl, err := readACL(f)
	require.NoError(t, err)
	return info.Mode(), acl
}

// A folder hands its default ACL to what is made in it, also to the temporary
// file that takes the place of an old one; the old file's access must not change.
func TestAReplacedFileHasTheAccessItHad(t *testing.T) {
	for name, row := range map[string]struct {
		mode fs.FileMode
		acl  []byte
	}{
		"only a mode":                {0o640, nil},
		"a mode for all":             {0o666, nil},
		"an ACL of its own":          {0o640, acl(6, 4, 0, 4, 0)},
		"an ACL beyond its mask":     {0o640, acl(6, 7, 7, 4, 0)},
		"an ACL that only restricts": {0o664, acl(6, 0, 6, 6, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			w, ws, _ := newPlace(t, []string{"a"})
			a := filepath.Join(ws, "a")
			require.NoError(t, os.Chmod(a, row.mode))
			if row.acl != nil {
				setACL(t, a, accessACL, row.acl)
			}
			setACL(t, ws, defaultACL, acl(7, 7, 7, 7, 5))
			done, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, put("x"))
			require.NoError(t, err)
			require.Empty(t, done.Notes)
			assertFile(t, a, "x")
			mode, acl := access(t, a)
			require.Equal(t, row.mode, mode)
			require.Equal(t, row.acl, acl)
		})
	}
}

// Nobody but the writer may look into the temporary file of a private one, even
// for a moment.
func TestATemporaryFileOfAPrivateOneInheritsNothing(t *testing.T) {
	_, ws, _ := newPlace(t, nil)
	setACL(t, ws, defaultACL, acl(7, 7, 7, 7, 5))
	dir, err := os.OpenRoot(ws)
	require.NoError(t, err)
	defer dir.Close()
	tmp, err := newTemp(dir, true)
	require.NoError(t, err)
	defer tmp.discard()
	mode, acl := access(t, filepath.Join(ws, tmp.name))
	require.Equal(t, fs.FileMode(0o600), mode)
	require.Nil(t, acl)
}

func TestANewFileHasTheAccessOfAnyNewFile(t *testing.T) {
	for name, inherited := range map[string][]byte{
		"by the umask":                   nil,
		"by a default ACL":               acl(7, 7, 7, 7, 5),
		"by a default ACL that is tight": acl(7, 4, 0, 4, 0),
	} {
		for _, mask := range []int{0, 0o022, 0o077} {
			t.Run(name, func(t *testing.T) {
				defer syscall.Umask(syscall.Umask(mask))
				w, ws, _ := newPlace(t, nil)
				if inherited != nil {
					setACL(t, ws, defaultACL, inherited)
				}
				require.NoError(t, os.WriteFile(filepath.Join(ws, "theirs"), nil, 0o666))
				require.NoError(t, os.Mkdir(filepath.Join(ws, "their"), 0o777))
				require.NoError(t, os.WriteFile(filepath.Join(ws, "their/theirs"), nil, 0o666))
				for theirs, ours := range map[string]string{"theirs": "ours", "their/theirs": "our/ours"} {
					_, err := w.Update(context.Background(), resolved(t, w, ours), UpdateOptions{}, put("x"))
					require.NoError(t, err)
					wantMode, wantACL := access(t, filepath.Join(ws, theirs))
					mode, acl := access(t, filepath.Join(ws, ours))
					require.Equal(t, wantMode, mode, "umask %o", mask)
					require.Equal(t, wantACL, acl, "umask %o", mask)
				}
			})
		}
	}
}

func TestAnACLThatWasChangedMeanwhileIsNotUndone(t *testing.T) {
	w, ws, _ := newPlace(t, []string{"a"})
	a := filepath.Join(ws, "a")
	setACL(t, a, accessACL, acl(6, 6, 6, 6, 4))
	_, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, func(Current) (Parts, error) {
		setACL(t, a, accessACL, acl(6, 0, 6, 6, 4)) // of the same mode
		return Whole([]byte("x")), nil
	})
	require.ErrorIs(t, err, ErrChanged)
	assertFile(t, a, "a")
}

func TestUserAttributesAreKept(t *testing.T) {
	w, ws, _ := newPlace(t, []string{"a"})
	a := filepath.Join(ws, "a")
	if err := unix.Setxattr(a, "user.mark", []byte("kept"), 0); errors.Is(err, unix.ENOTSUP) {
		t.Skip("the file system of the temporary directory has no user attributes")
	}
	_, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, put("x"))
	require.NoError(t, err)
	value := make([]byte, 10)
	n, err := unix.Getxattr(a, "user.mark", value)
	require.NoError(t, err)
	require.Equal(t, "kept", string(value[:n]))
}

// giveAway makes a file another user's.
func giveAway(t *testing.T, name string, uid, gid int) {
	t.Helper()
	if err := os.Chown(name, uid, gid); err != nil {
		t.Skip("only root can give files away, and in a user namespace not to everybody")
	}
}

// onThread runs f on a thread of its own after rights took something from it,
// and then ends the thread.
func onThread(t *testing.T, rights, f func() error) error {
	t.Helper()
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		if err := rights(); err != nil {
			result <- err
			return
		}
		result <- f()
	}()
	return <-result
}

// as makes the thread act on files as a user with a single group.
func as(uid, gid int) func() error {
	return func() error {
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
			return errno
		}
		return errors.Join(unix.Setfsgid(gid), unix.Setfsuid(uid))
	}
}

// The user 4000 writes files of groups it is not in, and of others that it may
// write by its group.
func TestPermissionsAreNotHandedToAnotherGroup(t *testing.T) {
	const (
		ownerNote   = "the owner could not be kept"
		groupNote   = "the group could not be kept"
		droppedNote = "the group could not be kept; group permissions were dropped to those of others"
	)
	for name, row := range map[string]struct {
		uid, gid int
		mode     fs.FileMode
		acl      []byte
		wantUID  int
		wantGID  int
		want     fs.FileMode
		wantACL  []byte
		notes    []string
	}{
		"own file":                      {4000, 4000, 0o660, nil, 4000, 4000, 0o660, nil, nil},
		"another group may write":       {4000, 5000, 0o660, nil, 4000, 4000, 0o600, nil, []string{droppedNote}},
		"another group may do more":     {4000, 5000, 0o775, nil, 4000, 4000, 0o755, nil, []string{droppedNote}},
		"another group as all":          {4000, 5000, 0o644, nil, 4000, 4000, 0o644, nil, []string{groupNote}},
		"another group shut out":        {4000, 5000, 0o604, nil, 4000, 4000, 0o600, nil, []string{droppedNote}},
		"another owner":                 {4001, 4000, 0o664, nil, 4000, 4000, 0o664, nil, []string{ownerNote}},
		"another owner and group":       {4001, 5000, 0o676, nil, 4000, 4000, 0o666, nil, []string{ownerNote, droppedNote}},
		"another group, and an ACL":     {4000, 5000, 0o664, acl(6, 6, 6, 6, 4), 4000, 4000, 0o664, acl(6, 6, 4, 6, 4), []string{droppedNote}},
		"another group, ACL as all":     {4000, 5000, 0o664, acl(6, 6, 4, 6, 4), 4000, 4000, 0o664, acl(6, 6, 4, 6, 4), []string{groupNote}},
		"another group shut out by ACL": {4000, 5000, 0o664, acl(6, 6, 0, 6, 4), 4000, 4000, 0o660, acl(6, 6, 0, 6, 0), []string{droppedNote}},
	} {
		t.Run(name, func(t *testing.T) {
			w, ws, _ := newPlace(t, []string{"a"})
			a := filepath.Join(ws, "a")
			giveAway(t, ws, 4000, 4000)
			giveAway(t, a, row.uid, row.gid)
			require.NoError(t, os.Chmod(a, row.mode))
			if row.acl != nil {
				setACL(t, a, accessACL, row.acl)
			}
			p := resolved(t, w, "a")
			var done Current
			require.NoError(t, onThread(t, as(4000, 4000), func() (err error) {
				done, err = w.Update(context.Background(), p, UpdateOptions{}, put("x"))
				return err
			}))
			assertFile(t, a, "x")
			id := identityOf(done.Info)
			require.Equal(t, []int{row.wantUID, row.wantGID}, []int{id.uid, id.gid})
			mode, acl := access(t, a)
			require.Equal(t, row.want, mode)
			require.Equal(t, row.wantACL, acl)
			require.Equal(t, row.notes, done.Notes)
		})
	}
}

// Root keeps owner and group of whatever it writes.
func TestOwnerAndGroupAreKeptWherePermitted(t *testing.T) {
	w, ws, _ := newPlace(t, []string{"a"})
	a := filepath.Join(ws, "a")
	giveAway(t, a, 4000, 5000)
	require.NoError(t, os.Chmod(a, 0o660))
	done, err := w.Update(context.Background(), resolved(t, w, "a"), UpdateOptions{}, put("x"))
	require.NoError(t, err)
	require.Empty(t, done.Notes)
	id := identityOf(done.Info)
	require.Equal(t, []int{4000, 5000}, []int{id.uid, id.gid})
	require.Equal(t, fs.FileMode(0o660), done.Info.Mode())
}

// A program may be allowed to give a file away without being allowed to say then
// who may do what with it.
func TestAnACLThatCannotBeKeptIsAnError(t *testing.T) {
	w, ws, _ := newPlace(t, []string{"a"})
	a := filepath.Join(ws, "a")
	giveAway(t, a, 4000, 4000)
	setACL(t, a, accessACL, acl(6, 0, 6, 6, 4))
	p := resolved(t, w, "a")
	err := onThread(t, dropFOWNER, func() error {
		_, err := w.Update(context.Background(), p, UpdateOptions{}, put("x"))
		return err
	})
	require.ErrorIs(t, err, fs.ErrPermission)
	require.ErrorContains(t, err, "access control list could not be kept")
	assertFile(t, a, "a")
	require.Equal(t, []string{"a"}, names(t, ws))
}

// dropFOWNER takes from the thread the right to act as the owner of any file.
func dropFOWNER() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Effective &^= 1 << unix.CAP_FOWNER
	return unix.Capset(&header, &data[0])
}
