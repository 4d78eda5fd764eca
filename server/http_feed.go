package server

import (
	"net/http"
	"sync"
	"time"
)

const (
	// maxFeed is how many notifications may wait for a client to read them.
	maxFeed = 64
	// keepAlive is how often a stream with nothing to say says that it is alive:
	// proxies and clients take one that is silent for a minute or more for dead.
	keepAlive = 15 * time.Second
)

// feedSlot holds the stream of a session that belongs to no request, which its
// client opens with GET. Safe for concurrent use; the zero value has none.
type feedSlot struct {
	mu    sync.Mutex
	now   *feed
	ended bool // no stream is opened any more
}

// feed is one such stream.
type feed struct {
	lines chan []byte
	ended chan struct{} // closed when nothing more comes
}

// open makes the stream of the session a new one: a client that lost its
// connection comes back before we know that it is gone.
func (s *feedSlot) open() *feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	f := &feed{lines: make(chan []byte, maxFeed), ended: make(chan struct{})}
	if s.ended {
		close(f.ended)
		return f
	}
	s.now = f
	return f
}

// end needs s.mu.
func (s *feedSlot) end() {
	if s.now != nil {
		close(s.now.ended)
		s.now = nil
	}
}

// close ends the stream there is, and those that would come.
func (s *feedSlot) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.end()
}

// leave ends f if it still is the stream.
func (s *feedSlot) leave(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == f {
		s.end()
	}
}

// send gives the client a line to read. With no stream it is dropped; a stream
// whose client does not read is ended, so that the client asks anew.
func (s *feedSlot) send(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return
	}
	select {
	case s.now.lines <- line:
	default:
		s.end()
	}
}

// get serves the stream of a session.
func (h *HTTP) get(v *visit) {
	if _, stream := accepted(v.r); !stream {
		refuse(v.w, http.StatusNotAcceptable, invalidRequest("GET opens a stream of events: Accept must name text/event-stream"))
		return
	}
	if fail := h.loads.calls.refuses(); fail != nil {
		refuse(v.w, fail.status, fail)
		return
	}
	c, fail := h.session(v)
	if fail != nil {
		refuse(v.w, httpStatus(fail, false), fail)
		return
	}
	defer h.sessions.release(c)
	_ = http.NewResponseController(v.w).SetReadDeadline(time.Time{}) // nothing more is to come
	f := c.feed.open()
	defer c.feed.leave(f)

	p := newPost(v.w, false, true, false)
	p.ping() // the client is to know at once that it is open
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case line := <-f.lines:
			p.send(line)
		case <-tick.C:
			p.ping()
		case <-f.ended:
			return
		case <-v.r.Context().Done():
			return
		case <-h.base.Done():
			return
		}
		if p.broken() {
			return
		}
	}
}
