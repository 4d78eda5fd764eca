//go:build unix && !linux

package server

import (
	"errors"
	"net"
	"syscall"
)

// hungUp says whether the client has closed its side of the connection, without
// taking anything from it or waiting. What it has sent before that and nobody has
// read, such as TLS's last record, hides it.
func hungUp(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return true // it is closed
	}
	gone := false
	err = raw.Control(func(fd uintptr) { // not Read: that would wait for a read going on
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case err == nil:
			gone = n == 0
		case !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR):
			gone = true
		}
	})
	return gone || err != nil
}
