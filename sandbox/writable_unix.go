//go:build unix

package sandbox

import "golang.org/x/sys/unix"

func writable(dir string) error { return unix.Access(dir, unix.W_OK) }
