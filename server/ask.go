package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// askTimeout is how long a client may take to answer a request of ours that
// needs no user.
const askTimeout = 10 * time.Second

// answer is what a client said to a request of ours.
type answer struct{ result, fail json.RawMessage }

// request asks the client and waits for its answer.
func (c *conn) request(ctx context.Context, method string) (json.RawMessage, error) {
	got := make(chan answer, 1)
	id := c.id + "-" + strconv.FormatUint(c.srv.seq.Add(1), 10)
	c.mu.Lock()
	c.asked["s"+id] = got
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.asked, "s"+id)
		c.mu.Unlock()
	}()
	c.write([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q}`+"\n", id, method)))

	late := time.NewTimer(askTimeout)
	defer late.Stop()
	var err error
	select {
	case a := <-got:
		if a.result == nil {
			return nil, fmt.Errorf("the client refused %s", method)
		}
		return a.result, nil
	case <-late.C:
		err = fmt.Errorf("the client did not answer %s within %d s", method, int(askTimeout.Seconds()))
	case <-ctx.Done():
		err = ctx.Err()
	case <-c.torn:
		return nil, errors.New("the client is gone")
	}
	c.write([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"requestId":%q}}`+"\n", mcp.MethodNotificationCancelled, id)))
	return nil, err
}

// route hands an answer to whoever asked. What nobody asked for is ignored.
func (p *peer) route(key string, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if got := p.asked[key]; got != nil {
		delete(p.asked, key)
		got <- a
	}
}

// wantForget drops the roots known so far. Requests that come later wait for it;
// reading does not, since a call that is just asking for the roots holds them
// until its answer is read.
func (p *peer) wantForget() {
	if p.srv.env.Workspace != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	done := make(chan struct{})
	earlier := p.forgotten
	p.forgotten = done
	p.load.run(func() {
		defer close(done)
		if earlier != nil {
			<-earlier
		}
		p.forgetRoots()
	})
}
