package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// hungUp says whether the client has closed its side of the connection, also
// where it has sent something before that nobody has read, such as TLS's last
// record. It takes nothing from the connection and does not wait.
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
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(poll, 0)
		gone = err == nil && n > 0 // of what was not asked for only errors are told
	})
	return gone || err != nil
}
