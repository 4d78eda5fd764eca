//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// nobody is the ordinary user that cases run as when root runs the tests.
const nobody = 65534

// ownSession starts a process in a session of its own, as an ordinary user if drop.
func ownSession(drop bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	if drop {
		a.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return a
}

// killGroup ends a process started by ownSession and what is still in its group.
func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }

func giveAway(dir string) error {
	return filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, nobody, nobody)
	})
}

func ownerOf(info fs.FileInfo) (uid, gid int) {
	st := info.Sys().(*syscall.Stat_t)
	return int(st.Uid), int(st.Gid)
}

// attributeNames are the names of the extended attributes of a file.
func attributeNames(path string) string {
	buf := make([]byte, 4096)
	n, err := unix.Llistxattr(path, buf)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(buf[:n]), "\x00", " ")
}
