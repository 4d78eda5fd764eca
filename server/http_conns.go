package server

import (
	"container/list"
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// maxConns is how many connections there may be. With one more, the oldest is
// closed on which nothing was asked yet; where there is none, the new one.
const maxConns = 2048

// conns are the connections of the clients. Safe for concurrent use.
type conns struct {
	log  *slog.Logger
	most int

	mu     sync.Mutex
	open   map[string]net.Conn // by their two ends
	silent list.List           // of the keys of those on which nothing was asked yet, oldest first
	places map[string]*list.Element
}

func newConns(log *slog.Logger, most int) *conns {
	return &conns{log: log, most: most, open: make(map[string]net.Conn), places: make(map[string]*list.Element)}
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
		_ = c.Close()
	}
}

// add is c as one of the connections, nil if it is one too many.
func (cs *conns) add(c net.Conn) net.Conn {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if len(cs.open) >= cs.most && !cs.makeRoom() {
		return nil
	}
	key := ends(c.RemoteAddr().String(), c.LocalAddr())
	cs.open[key] = c
	cs.places[key] = cs.silent.PushBack(key)
	return &limitedConn{c, sync.OnceFunc(func() {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		if cs.open[key] == c {
			cs.drop(key)
		}
	})}
}

// makeRoom closes the oldest silent connection. It needs cs.mu.
func (cs *conns) makeRoom() bool {
	oldest := cs.silent.Front()
	if oldest == nil {
		cs.log.Warn("too many connections: a new one was closed", "most", cs.most)
		return false
	}
	key := oldest.Value.(string)
	c := cs.open[key]
	cs.drop(key)
	_ = c.Close()
	return true
}

// drop needs cs.mu.
func (cs *conns) drop(key string) {
	delete(cs.open, key)
	cs.heard(key)
}

// heard needs cs.mu.
func (cs *conns) heard(key string) {
	if place := cs.places[key]; place != nil {
		cs.silent.Remove(place)
		delete(cs.places, key)
	}
}

// state is told by the HTTP server what a connection does.
func (cs *conns) state(c net.Conn, state http.ConnState) {
	if state != http.StateActive {
		return
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.heard(ends(c.RemoteAddr().String(), c.LocalAddr()))
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
