package main

import (
	"bufio"
	"bytes"
	"io"
	"sync"
	"time"
)

// A stdioLink is the connection to a process by its stdin and stdout.
type stdioLink struct {
	w    io.WriteCloser
	gone <-chan struct{} // the server has ended

	sending sync.Mutex
}

// pipe is the link of a client whose case is for stdio.
func (c *rpcClient) pipe() *stdioLink { return c.link.(*stdioLink) }

// read takes in what the server writes, until it writes no more.
func (l *stdioLink) read(c *rpcClient, r io.Reader) {
	br := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := br.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			c.incoming(line)
		}
		if err != nil {
			return
		}
	}
}

func (l *stdioLink) ask(c *rpcClient, id string, m map[string]any, timeout time.Duration) answer {
	l.tell(c, m)
	return l.wait(c, id, timeout)
}

func (l *stdioLink) tell(_ *rpcClient, m map[string]any) answer {
	l.send([]byte(compact(m) + "\n"))
	return answer{result: map[string]any{}}
}

// send writes bytes as they are. That the server has gone shows in the answers.
func (l *stdioLink) send(b []byte) {
	l.sending.Lock()
	defer l.sending.Unlock()
	l.w.Write(b)
}

// wait takes the next answer with that id. When the server has ended it waits
// one second more for what is on its way.
func (l *stdioLink) wait(c *rpcClient, id string, timeout time.Duration) answer {
	limit := time.After(timeout)
	gone := l.gone
	for {
		a, ok, changed := c.take(id)
		if ok {
			return a
		}
		select {
		case <-changed:
		case <-limit:
			return answer{fault: noAnswer}
		case <-gone:
			gone = nil
			limit = time.After(min(timeout, time.Second))
		}
	}
}
