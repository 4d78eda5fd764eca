package server

import "golang.org/x/sys/unix"

// peerClosed says whether the other side of a socket has closed, also where it has
// sent something before that nobody has read, such as TLS's last record.
func peerClosed(fd int) bool {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0 // of what was not asked for only errors are told
}
