package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"mcp-tools/tools"
)

const (
	// eofGrace is how long running calls may go on once the client sends no more.
	eofGrace = 2 * time.Second
	// stopGrace is the same once we are told to stop.
	stopGrace = 500 * time.Millisecond
	// killGrace is how long cancelled calls may take to end, children included.
	killGrace = 2 * time.Second
)

// errStuck: a call or a write went on after everything was cancelled.
var errStuck = errors.New("server: calls did not end in time after they were cancelled")

// conn is one stdio connection.
type conn struct {
	*peer

	outMu sync.Mutex
	out   io.Writer
	outOK bool
	torn  chan struct{} // closed when the client no longer reads
}

// ServeStdio serves one client, which writes its messages to in and reads from
// out, one JSON-RPC message a line, each written with one Write. It is one
// session for its whole life, in every revision of the protocol.
//
// It returns when in ends, when out fails, or when ctx is done. At the end of in
// running calls have two seconds to be answered and are then cancelled; when ctx
// is done they have half a second. Calls that ignore this are left behind after
// two more seconds, with an error.
//
// Of in a last read may be left over when ctx ends: ServeStdio ends it with
// SetReadDeadline or Close where in has one of them.
//
// It returns nil at the end of in, else what ended it.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c := s.newConn(ctx, out)
	defer c.close(context.Canceled)

	ended := make(chan error, 1)
	go func() { ended <- c.read(in) }()

	var err error
	grace := eofGrace
	select {
	case err = <-ended:
		ended = nil
	case <-ctx.Done():
		err, grace = ctx.Err(), stopGrace
	case <-c.torn:
		err, grace = errors.New("server: the client does not read any more"), 0
	}
	if stuck := c.stop(ctx, grace); stuck != nil && err == nil {
		err = stuck
	}
	if ended != nil && interrupt(in) {
		select {
		case <-ended:
		case <-time.After(killGrace): // it waits for the client to read an answer
		}
	}
	return err
}

// newConn makes a connection whose calls outlive ctx until they are cancelled.
func (s *Server) newConn(ctx context.Context, out io.Writer) *conn {
	c := &conn{
		peer: s.newPeer(context.WithoutCancel(ctx), peerOptions{
			log:  s.log,
			load: &load{whose: "this client", most: maxRunning, weight: maxHeld},
		}),
		out: out, outOK: true, torn: make(chan struct{}),
	}
	c.askRoots, c.ordered = c.rootsRequest, true
	c.hearsOf(func(line []byte) { c.write(line) })
	return c
}

// stop lets running calls end for the time of grace, then cancels them.
func (c *conn) stop(ctx context.Context, grace time.Duration) error {
	c.load.close()
	c.endEndless()
	done := c.load.idle()
	stopped := ctx.Done()
	if ctx.Err() != nil {
		stopped = nil // known; what is left is its grace
	}
	wait := time.NewTimer(grace)
	defer wait.Stop()
	select {
	case <-done:
		return nil
	case <-wait.C:
	case <-stopped:
	case <-c.torn:
	}
	c.cancel(tools.ErrStopping)
	select {
	case <-done:
		return nil
	case <-time.After(killGrace):
		c.srv.log.Warn("calls go on after they were cancelled")
		return errStuck
	}
}

// interrupt ends a read that waits on in and says whether it could.
func interrupt(in io.Reader) bool {
	if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		return true
	}
	switch c := in.(type) {
	case *io.PipeReader:
		return c.Close() == nil
	case io.Closer:
		_ = c.Close() // may not reach a read in the kernel: not waited for
	}
	return false
}

// read takes messages from in until it ends, each before the next one is read.
func (c *conn) read(in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, long, err := readLine(r, maxMessage)
		switch {
		case long:
			c.write(errorLine(nil, tooLong()))
		default:
			c.receive(line)
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("server: reading messages: %w", err)
		}
	}
}

// receive takes one line.
func (c *conn) receive(line []byte) {
	line = trimText(line)
	if len(line) == 0 {
		return
	}
	o := origin{send: c.write, reply: func(r response) bool {
		return r.line == nil || c.write(r.line)
	}}
	switch fail := checkText(line); {
	case fail != nil:
		o.reply(refusal(nil, fail))
	case line[0] == '[':
		c.batch(line, o)
	default:
		c.message(line, o)
	}
}

func tooLong() *rpcError {
	return parseError(fmt.Sprintf("a message is longer than %d bytes", maxMessage))
}

// readLine returns the next line without its end, in memory of its own. Of a
// line longer than limit it keeps nothing and says so. An unterminated last
// line comes with the error that ended it.
func readLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if !full {
			part = bytes.TrimSuffix(part, []byte("\n"))
		}
		if long = long || len(line)+len(part) > limit; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !full {
			return line, long, err
		}
	}
}

// write sends one line, and says whether it could. After a failure nothing more is
// sent.
func (c *conn) write(line []byte) bool {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	if !c.outOK {
		return false
	}
	if _, err := c.out.Write(line); err != nil {
		c.srv.log.Info("the client does not read any more", "err", err)
		c.outOK = false
		close(c.torn)
	}
	return c.outOK
}

// Connect serves one client inside this process, as [Server.ServeStdio] would.
// The client writes messages to w and reads them from r; both wait for the other
// side. Closing w ends the connection; wait returns what ServeStdio returned.
func (s *Server) Connect(ctx context.Context) (w io.WriteCloser, r io.ReadCloser, wait func() error) {
	in, w := io.Pipe()
	r, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := s.ServeStdio(ctx, in, out)
		_ = in.Close()
		_ = out.Close()
		done <- err
	}()
	return w, r, sync.OnceValue(func() error { return <-done })
}
