package server

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// bodyWait is how long a client may take to send a message.
	bodyWait = 30 * time.Second
	// bodyStep is how much memory for a message is taken at once.
	bodyStep = 64 << 10
)

// budget is memory shared by all messages being read. Safe for concurrent use.
type budget struct {
	mu   sync.Mutex
	left int
}

// take says whether n bytes more may be used.
func (b *budget) take(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *budget) give(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}

// body reads the message of a POST. Then give back what was taken.
func (h *HTTP) body(v *visit) (text []byte, taken int, fail *rpcError) {
	r := v.r
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := params["charset"]
	switch {
	case err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8"):
		fail = invalidRequest("Content-Type must be application/json, in UTF-8")
		fail.status = http.StatusUnsupportedMediaType
		return nil, 0, fail
	case r.Header.Get("Content-Encoding") != "" && !strings.EqualFold(r.Header.Get("Content-Encoding"), "identity"):
		fail = invalidRequest("the body must not be compressed")
		fail.status = http.StatusUnsupportedMediaType
		return nil, 0, fail
	case r.ContentLength > maxMessage:
		return nil, 0, tooLarge()
	}
	rc := http.NewResponseController(v.w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyWait))
	text, taken, fail = h.read(r.Body)
	if fail == nil {
		_ = rc.SetReadDeadline(time.Time{}) // else the end of the wait would look like a client that hung up
		v.w.Header().Del("Connection")
	}
	return text, taken, fail
}

// read reads a body whose memory it takes as it comes: a client that sends
// little keeps little, whatever it announced.
func (h *HTTP) read(body io.Reader) (text []byte, taken int, fail *rpcError) {
	buf := make([]byte, 0, 512)
	for {
		if len(buf) == cap(buf) {
			grown := min(max(2*cap(buf), bodyStep), maxMessage+1)
			if !h.bodies.take(grown - taken) {
				return nil, taken, &rpcError{Code: codeBusy, status: http.StatusServiceUnavailable, Message: "Server busy: the messages in work are too large together; try again"}
			}
			taken = grown
			buf = append(make([]byte, 0, grown), buf...)
		}
		n, err := body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > maxMessage:
			return nil, taken, tooLarge()
		case errors.Is(err, io.EOF):
			return buf, taken, nil
		case err != nil:
			fail = parseError("the body ended too early, or took longer than " + bodyWait.String())
			fail.status = http.StatusRequestTimeout
			return nil, taken, fail
		}
	}
}

func tooLarge() *rpcError {
	fail := tooLong()
	fail.status = http.StatusRequestEntityTooLarge
	return fail
}
