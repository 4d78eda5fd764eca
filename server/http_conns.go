package server

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// maxConns is how many connections there may be. More are closed at once.
const maxConns = 2048

// conns are the connections of the clients. Safe for concurrent use.
type conns struct {
	log  *slog.Logger
	most int

	mu   sync.Mutex
	open map[string]net.Conn // by their two ends
}

// limit is l, but for the connections that are too many.
func (cs *conns) limit(l net.Listener) net.Listener { return &limitedListener{l, cs} }

type limitedListener struct {
	net.Listener
	conns *conns
}

func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if mine := l.conns.add(c); mine != nil {
			return mine, nil
		}
		l.conns.log.Info("a connection was closed: there are too many", "remote", c.RemoteAddr().String(), "most", l.conns.most)
		_ = c.Close()
	}
}

// add is c as one of the connections, nil if it is one too many.
func (cs *conns) add(c net.Conn) net.Conn {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if len(cs.open) >= cs.most {
		return nil
	}
	key := ends(c.RemoteAddr().String(), c.LocalAddr())
	cs.open[key] = c
	return &limitedConn{c, sync.OnceFunc(func() {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		if cs.open[key] == c {
			delete(cs.open, key)
		}
	})}
}

func ends(remote string, local net.Addr) string { return remote + " " + local.String() }

// gone says whether the client that sent r has hung up. It looks at the
// connection itself: the context of r learns that some time later, when the
// client may already have asked something else.
func (cs *conns) gone(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	cs.mu.Lock()
	c := cs.open[ends(r.RemoteAddr, local)]
	cs.mu.Unlock()
	return c != nil && hungUp(c)
}

type limitedConn struct {
	net.Conn
	leave func()
}

func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
