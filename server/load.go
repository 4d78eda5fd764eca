package server

import (
	"fmt"
	"net/http"
	"sync"
)

// load is what of a client, or of all of them, is in flight. What is over its
// limits is refused at once, not queued: were reading to pause instead, the
// cancellation that frees a place could not be read. Safe for concurrent use.
type load struct {
	whose        string // "this session"
	most, weight int    // requests at work, and the bytes of their messages
	parent       *load  // whose limits hold as well; may be nil
	status       int    // of HTTP, for what is refused

	mu            sync.Mutex
	running, held int
	closed        bool
	all           sync.WaitGroup
}

// enter lets one request of size bytes in, or says why not. Then leave.
func (l *load) enter(size int) *rpcError {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return stopping()
	case l.running >= l.most || l.running > 0 && l.held+size > l.weight:
		return &rpcError{
			Code: codeBusy, status: l.status,
			Message: fmt.Sprintf("Server busy: %d requests of %s are running; wait for an answer", l.running, l.whose),
		}
	}
	if l.parent != nil {
		if fail := l.parent.enter(size); fail != nil {
			return fail
		}
	}
	l.running++
	l.held += size
	l.all.Add(1)
	return nil
}

func (l *load) leave(size int) {
	l.mu.Lock()
	l.running--
	l.held -= size
	l.mu.Unlock()
	if l.parent != nil {
		l.parent.leave(size)
	}
	l.all.Done()
}

// run starts work of our own, whatever the limits, unless the load is closed.
func (l *load) run(work func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.all.Go(work)
	}
}

// refuses says why nothing is taken any more; nil as long as something is.
func (l *load) refuses() *rpcError {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return stopping()
	case l.parent != nil:
		return l.parent.refuses()
	}
	return nil
}

// count is how many requests are at work.
func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running
}

// close refuses everything from now on.
func (l *load) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// idle is closed when what was let in has left. Call it after close.
func (l *load) idle() <-chan struct{} {
	done := make(chan struct{})
	go func() { l.all.Wait(); close(done) }()
	return done
}

func stopping() *rpcError {
	return &rpcError{Code: codeBusy, Message: "The server is shutting down", status: http.StatusServiceUnavailable}
}
