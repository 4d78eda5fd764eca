package bridge

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxMessage is the longest message in bytes that a server may send.
	maxMessage = 16 << 20
	// maxUnasked is how many bytes a server may send between two answers, or in a minute
	// of a stream of events.
	maxUnasked = 32 << 20
	// streamWindow is the time in which a stream of events may send that much.
	streamWindow = time.Minute
	// maxUnread is how many bytes may wait for a server to read them.
	maxUnread = 32 << 20
)

// bounded reads what a server sends and ends it where it is too much. Its errors
// are io.EOF: what was wrong is kept for whoever asks.
type bounded struct {
	r      io.Reader
	events bool // server-sent events: a message ends with an empty line, not with each

	since   time.Time // of events: when unasked was begun
	message int       // bytes of the message being read
	blank   bool
	unasked atomic.Int64
	wrong   atomic.Pointer[error]
	done    chan struct{} // closed at the end; nil: nobody waits for it
	once    sync.Once
}

// answered: what came up to now was wanted.
func (b *bounded) answered() { b.unasked.Store(0) }

// fault is why the stream was ended, nil where it ended itself.
func (b *bounded) fault() error {
	if e := b.wrong.Load(); e != nil {
		return *e
	}
	return nil
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.fault() != nil {
		return 0, io.EOF
	}
	n, err := b.r.Read(p)
	if err != nil {
		b.over()
	}
	longest := b.count(p[:n])
	if b.events && time.Since(b.since) > streamWindow { // it is open for as long as the server is
		b.since = time.Now()
		b.unasked.Store(0)
	}
	switch unasked := b.unasked.Add(int64(n)); {
	case longest > maxMessage:
		return 0, b.end(fmt.Errorf("it sent a message of more than %d MiB", maxMessage>>20))
	case unasked > maxUnasked:
		return 0, b.end(fmt.Errorf("it sent more than %d MiB that nobody had asked for", maxUnasked>>20))
	case err != nil && !errors.Is(err, io.EOF):
		return n, b.end(nil)
	}
	return n, err
}

func (b *bounded) end(why error) error {
	if why != nil {
		b.wrong.Store(&why)
	}
	b.over()
	return io.EOF
}

func (b *bounded) over() {
	if b.done != nil {
		b.once.Do(func() { close(b.done) })
	}
}

// count follows the messages in p and returns the bytes of the longest so far.
func (b *bounded) count(p []byte) (longest int) {
	for _, c := range p {
		b.message++
		switch {
		case c == '\n' && (!b.events || b.blank):
			longest = max(longest, b.message)
			b.message, b.blank = 0, true
		case c == '\n':
			b.blank = true
		case c != '\r':
			b.blank = false
		}
	}
	return max(longest, b.message)
}

// A queue writes to a server that may not read, without ever waiting for it.
type queue struct {
	w io.WriteCloser

	mu      sync.Mutex
	more    sync.Cond
	waiting []byte
	closed  bool
}

func newQueue(w io.WriteCloser) *queue {
	q := &queue{w: w}
	q.more.L = &q.mu
	go q.drain()
	return q
}

var errNotRead = errors.New("it does not read what is sent to it")

func (q *queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return 0, io.ErrClosedPipe
	case len(q.waiting)+len(p) > maxUnread:
		return 0, errNotRead
	}
	q.waiting = append(q.waiting, p...)
	q.more.Signal()
	return len(p), nil
}

// Close gives up what still waits.
func (q *queue) Close() error {
	q.mu.Lock()
	q.closed = true
	q.more.Signal()
	q.mu.Unlock()
	return q.w.Close()
}

func (q *queue) drain() {
	for {
		q.mu.Lock()
		for len(q.waiting) == 0 && !q.closed {
			q.more.Wait()
		}
		next := q.waiting
		q.waiting = nil
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return
		}
		if _, err := q.w.Write(next); err != nil {
			_ = q.Close()
			return
		}
	}
}
