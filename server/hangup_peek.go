//go:build unix && !linux

package server

import (
	"errors"
	"syscall"
)

// peerClosed says whether the other side of a socket has closed. What it has sent
// before that and nobody has read, such as TLS's last record, hides it.
func peerClosed(fd int) bool {
	var b [1]byte
	n, _, err := syscall.Recvfrom(fd, b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	if err == nil {
		return n == 0
	}
	return !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
}
