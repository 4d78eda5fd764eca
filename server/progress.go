package server

import (
	"encoding/json"
	"math"
	"sync"
	"time"

	"mcp-tools/tools"
)

// progressInterval leaves room for nine notifications in any second, and a last
// one before the response.
const progressInterval = time.Second / 9

// progress tells a client how far one of its calls is: values grow, at most ten
// notifications come in a second, none after finish. Of a burst only the latest
// is kept, and sent when its time has come. Safe for concurrent use.
type progress struct {
	token   json.RawMessage
	message bool // the revision knows the message field
	write   func(line []byte)

	mu      sync.Mutex // never held while writing
	highest float64
	pending *tools.Progress
	sent    time.Time
	timer   *time.Timer // not nil: it will send what is pending
	closed  bool

	writing sync.Mutex // one write at a time, in order; taken before mu
}

// newProgress is nil for a token that is neither string nor number: the client
// wants no progress.
func newProgress(token json.RawMessage, message bool, write func([]byte)) *progress {
	if _, ok := idKey(token); !ok {
		return nil
	}
	return &progress{token: token, message: message, write: write, highest: math.Inf(-1)}
}

// report is what handlers call; it never waits for the client. What does not
// grow is dropped.
func (p *progress) report(v tools.Progress) {
	if math.IsNaN(v.Progress) || math.IsInf(v.Progress, 0) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || v.Progress <= p.highest {
		return
	}
	p.highest = v.Progress
	p.pending = &v
	if p.timer == nil {
		p.timer = time.AfterFunc(max(0, progressInterval-time.Since(p.sent)), p.flush)
	}
}

// flush sends what is pending.
func (p *progress) flush() {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.Lock()
	v := p.pending
	p.pending, p.timer = nil, nil
	p.sent = time.Now()
	p.mu.Unlock()
	if v != nil {
		p.write(progressLine(p.token, *v, p.message))
	}
}

// finish sends what is still pending, and nothing after it has returned.
func (p *progress) finish() {
	if p == nil {
		return
	}
	p.stop(false)
	p.flush()
}

// stop ends the notifications; drop: what is pending is not sent either.
func (p *progress) stop(drop bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if drop {
		p.pending = nil
	}
}

func progressLine(token json.RawMessage, v tools.Progress, message bool) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), token...)
	b = appendNumber(append(b, `,"progress":`...), v.Progress)
	if v.Total > 0 && !math.IsInf(v.Total, 0) {
		b = appendNumber(append(b, `,"total":`...), v.Total)
	}
	if message && v.Message != "" {
		b = appendString(append(b, `,"message":`...), v.Message)
	}
	return append(b, "}}\n"...)
}

// appendNumber appends a finite number.
func appendNumber(b []byte, f float64) []byte {
	n, _ := json.Marshal(f)
	return append(b, n...)
}
