package sandbox

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// quiet is how long a pipe that a child of the ended shell still holds must
	// be silent to be left alone, and quietMax when it is left in any case.
	quiet    = 200 * time.Millisecond
	quietMax = time.Second
	// eofWait bounds the wait for the rest when nobody is left to write more.
	eofWait = 10 * time.Second
)

// streams are our ends of a command's three pipes.
type streams struct {
	in       *os.File // nil: nothing to write
	out, err *stream
	activity chan struct{} // something was read
	latest   atomic.Pointer[stream]
}

// stream reads one output. After the call has returned it goes on reading, to
// nowhere: a child that still writes must not be stopped by a full or a broken
// pipe.
type stream struct {
	r    *os.File
	eof  chan struct{}
	busy atomic.Bool // what was read is not captured yet

	mu       sync.Mutex
	clean    *cleaner
	text     *Captured
	detached bool
	bytes    int64  // read
	recent   []byte // the end of what was captured, for progress
}

// childFiles are the command's ends.
type childFiles struct{ in, out, err *os.File }

func (f childFiles) close() {
	for _, x := range []*os.File{f.in, f.out, f.err} {
		if x != nil {
			_ = x.Close()
		}
	}
}

func newStreams(stdin string, spool func() (Spool, error)) (s *streams, f childFiles, err error) {
	s = &streams{activity: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			s.close()
			f.close()
		}
	}()
	if stdin == "" {
		f.in, err = os.Open(os.DevNull)
	} else {
		f.in, s.in, err = os.Pipe()
	}
	if err != nil {
		return s, f, err
	}
	if s.out, f.out, err = newStream(spool); err != nil {
		return s, f, err
	}
	s.err, f.err, err = newStream(spool)
	return s, f, err
}

func newStream(spool func() (Spool, error)) (*stream, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	s := &stream{r: r, eof: make(chan struct{}), text: NewCaptured(spool)}
	s.clean = newCleaner(s)
	return s, w, nil
}

// close gives up the pipes.
func (s *streams) close() {
	if s.in != nil {
		_ = s.in.Close()
	}
	for _, x := range []*stream{s.out, s.err} {
		if x != nil {
			_ = x.r.Close()
		}
	}
}

// read starts the traffic.
func (s *streams) read(stdin string) {
	if s.in != nil {
		go func() {
			// A command need not read all of it.
			_, _ = io.WriteString(s.in, stdin)
			_ = s.in.Close()
		}()
	}
	go s.pump(s.out)
	go s.pump(s.err)
}

func (s *streams) pump(x *stream) {
	defer close(x.eof)
	defer x.r.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := x.r.Read(buf)
		x.busy.Store(true)
		if n > 0 && !x.take(buf[:n]) {
			_, _ = io.Copy(io.Discard, x.r)
			return
		}
		if n > 0 {
			s.latest.Store(x)
		}
		x.busy.Store(false)
		select {
		case s.activity <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// take captures b, or reports that nobody wants it any more.
func (x *stream) take(b []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.detached {
		return false
	}
	x.bytes += int64(len(b))
	_, _ = x.clean.Write(b)
	return true
}

// Write takes what the cleaner gives.
func (x *stream) Write(p []byte) (int, error) {
	const most = 512
	if n := len(p) - most; n > 0 {
		x.recent = append(x.recent[:0], p[n:]...)
	} else {
		x.recent = append(x.recent, p...)
		x.recent = x.recent[max(0, len(x.recent)-most):]
	}
	return x.text.Write(p)
}

// progress returns the last line of the output that came last, and the bytes
// read of both.
func (s *streams) progress() (line string, bytes int64) {
	x := s.latest.Load()
	for _, y := range []*stream{s.out, s.err} {
		y.mu.Lock()
		bytes += y.bytes
		if x == y {
			line = y.lastLine()
		}
		y.mu.Unlock()
	}
	return line, bytes
}

func (x *stream) lastLine() string {
	const most = 200
	if line := lastLine(x.clean.held(), most); line != "" {
		return line
	}
	return lastLine(x.recent, most)
}

// settle reads on after the shell's end: to the end of both outputs, or, where
// a child in the background holds one, until it is quiet for a moment.
func (s *streams) settle(p process) {
	limit := time.NewTimer(quietMax)
	defer limit.Stop()
	silence := time.NewTimer(quiet)
	defer silence.Stop()
	out, err, gone := s.out.eof, s.err.eof, p.gone()
	for out != nil || err != nil {
		select {
		case <-out:
			out = nil
		case <-err:
			err = nil
		case <-gone: // nobody is left to write: the end must come
			s.waitEOF()
			return
		case <-s.activity:
			silence.Reset(quiet)
		case <-silence.C:
			if !s.out.busy.Load() && !s.err.busy.Load() {
				return
			}
			silence.Reset(quiet)
		case <-limit.C:
			return
		}
	}
}

// waitEOF waits for the end of both outputs as long as something comes.
func (s *streams) waitEOF() {
	deadline := time.Now().Add(eofWait)
	for _, x := range []*stream{s.out, s.err} {
		for !waitFor(x.eof, quiet) {
			if !x.busy.Load() || time.Now().After(deadline) {
				return // a process out of our reach holds the pipe
			}
		}
	}
}

// detach ends the capture and returns it.
func (s *streams) detach() (out, err *Captured) {
	if s.in != nil {
		_ = s.in.Close()
	}
	return s.out.detach(), s.err.detach()
}

func (x *stream) detach() *Captured {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.detached = true
	_ = x.clean.Flush()
	return x.text
}
