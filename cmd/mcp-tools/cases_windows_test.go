package main

import (
	"io/fs"
	"os"
	"syscall"
)

// The cases need bash and are not run on Windows; see TestCases. What they would
// need of the system is here in the form that Windows has it.

func ownSession(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}

func giveAway(string) error { return nil }

func ownerOf(fs.FileInfo) (uid, gid int) { return -1, -1 }

func attributeNames(string) string { return "" }
