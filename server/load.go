package server

import (
	"fmt"
	"net/http"
	"sync"
	"time"
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
	freed         time.Time
	all           sync.WaitGroup
}

// enter lets one request of size bytes in, or says why not. Then free and leave.
func (l *load) enter(size int) *rpcError {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return stopping()
	case l.running >= l.most:
		return l.busy(fmt.Sprintf("%d requests of %s are running", l.running, l.whose))
	case l.running > 0 && l.held+size > l.weight:
		return l.busy("the messages in work for " + l.whose + " are too large together")
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

func (l *load) busy(why string) *rpcError {
	return &rpcError{Code: codeBusy, status: l.status, Message: "Server busy: " + why + "; wait for an answer"}
}

// free gives the place of a request to others; call it before the answer is sent,
// or whoever got the answer could be refused. Then leave.
func (l *load) free(size int) {
	l.mu.Lock()
	l.running--
	l.held -= size
	l.freed = time.Now()
	l.mu.Unlock()
	if l.parent != nil {
		l.parent.free(size)
	}
}

// leave says that the request is answered.
func (l *load) leave() {
	if l.parent != nil {
		l.parent.leave()
	}
	l.all.Done()
}

// lastFreed is when a request last ended.
func (l *load) lastFreed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.freed
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
