//go:build unix

package server

import (
	"net"
	"syscall"
)

// hungUp says whether the client has closed its side of the connection. It takes
// nothing from the connection and does not wait.
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
		gone = peerClosed(int(fd))
	})
	return gone || err != nil
}
