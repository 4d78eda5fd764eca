//go:build unix

package tools

import "syscall"

func mkfifo(name string) error { return syscall.Mkfifo(name, 0o644) }
