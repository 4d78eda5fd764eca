//go:build !unix

package server

import "net"

// hungUp cannot be told here: a client that is gone is noticed a little later.
func hungUp(net.Conn) bool { return false }
