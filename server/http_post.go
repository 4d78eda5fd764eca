package server

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// writeWait is how long a client may take to read what is written at once.
	writeWait = 30 * time.Second
	// busyWait is when a client that was refused may try again.
	busyWait = time.Second
)

// post is the answer to one HTTP request: one JSON text, or a stream of events as
// soon as something is to be told before it. Safe for concurrent use.
type post struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	plain  bool // the client takes JSON
	stream bool // the client takes a stream of events
	modern bool

	gone  func() bool // the client has hung up
	begun func()      // called when the message is in work

	mu       sync.Mutex
	began    bool // the stream has begun
	said     bool // something was written
	left     bool // nothing can be written any more
	answered chan struct{}
}

func newPost(w http.ResponseWriter, plain, stream, modern bool) *post {
	return &post{w: w, rc: http.NewResponseController(w), plain: plain, stream: stream, modern: modern, answered: make(chan struct{})}
}

// origin is the client that waits for the answer.
func (p *post) origin() origin { return origin{send: p.send, reply: p.reply, gone: p.gone} }

// send tells the client something before the answer.
func (p *post) send(line []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left || !p.stream {
		return false
	}
	p.event(line)
	return !p.left
}

// ping keeps a stream alive that has nothing to say, and begins one.
func (p *post) ping() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.left:
	case p.stream:
		p.begin()
		p.write([]byte(":\n\n"))
	default:
		p.deadline() // HTTP/2 would end the request with it, whether anything is written or not
	}
}

// reply gives the answer, and says whether the client was still there. It is
// called once.
func (p *post) reply(r response) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(p.answered)
	if r.fail == nil { // what was refused is told in any case
		p.left = p.left || p.gone != nil && p.gone()
	}
	switch {
	case p.left:
	case p.began || r.line != nil && r.fail == nil && !p.plain: // an error is told by its status too
		if r.line != nil {
			p.event(r.line)
		}
	case r.line == nil: // a notification or an answer was taken, or the request cancelled
		p.said = true
		p.deadline()
		p.w.WriteHeader(http.StatusAccepted)
	default:
		p.whole(r)
	}
	return !p.left
}

// whole writes an answer that needs no stream.
func (p *post) whole(r response) {
	p.said = true
	p.deadline()
	status, retry := http.StatusOK, time.Duration(0)
	if r.fail != nil {
		status, retry = httpStatus(r.fail, p.modern), r.fail.retry
	}
	writeJSON(p.w, status, r.line, retry)
}

// silent: nothing was written. It would become a 200 that nobody gave.
func (p *post) silent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.said
}

// leave makes sure that nothing is written from now on.
func (p *post) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = true
}

func (p *post) broken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left
}

// wait returns when the message is answered, or its client is gone.
func (p *post) wait(ctx context.Context) {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	defer p.leave()
	p.begun()
	for {
		select {
		case <-p.answered:
			return
		case <-tick.C:
			p.ping()
		case <-ctx.Done():
			return
		}
		if p.broken() {
			return
		}
	}
}

// begin, event, write and deadline need p.mu.
func (p *post) begin() {
	if p.began {
		return
	}
	p.began, p.said = true, true
	head := p.w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("Cache-Control", "no-store")
	head.Set("X-Accel-Buffering", "no") // nginx would hold events back
	p.w.WriteHeader(http.StatusOK)
}

func (p *post) event(line []byte) {
	p.begin()
	b := make([]byte, 0, len(line)+32)
	b = append(b, "event: message\ndata: "...)
	b = append(b, line...) // ends with a newline, and has no other
	p.write(append(b, '\n'))
}

func (p *post) write(b []byte) {
	p.deadline()
	if _, err := p.w.Write(b); err != nil || p.rc.Flush() != nil {
		p.left = true
	}
}

func (p *post) deadline() {
	_ = p.rc.SetWriteDeadline(time.Now().Add(writeWait))
}

// httpStatus is what an error means to HTTP. 2026-07-28 says so for each code; to
// the revisions before, an error is an answer like others, unless the message
// was none.
func httpStatus(fail *rpcError, modern bool) int {
	if fail.status != 0 {
		return fail.status
	}
	switch fail.Code {
	case mcp.PARSE_ERROR, mcp.INVALID_REQUEST:
		return http.StatusBadRequest
	case mcp.METHOD_NOT_FOUND:
		if modern {
			return http.StatusNotFound
		}
	case mcp.INVALID_PARAMS, mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION:
		if modern {
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

// refuse answers a request that has no JSON-RPC answer of its own.
func refuse(w http.ResponseWriter, status int, fail *rpcError) {
	writeJSON(w, status, errorLine(nil, fail), fail.retry)
}

func writeJSON(w http.ResponseWriter, status int, line []byte, retry time.Duration) {
	head := w.Header()
	head.Set("Content-Type", "application/json")
	head.Set("Content-Length", strconv.Itoa(len(line)))
	head.Set("Cache-Control", "no-store")
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		head.Set("Retry-After", strconv.Itoa(int(max(busyWait, retry).Seconds())))
	}
	w.WriteHeader(status)
	_, _ = w.Write(line) // a client that is gone is noticed elsewhere
}
