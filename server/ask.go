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
	c.mu.Lock()
	c.seq++
	id := c.peer.id + "-" + strconv.FormatUint(c.seq, 10)
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
func (c *conn) route(key string, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if got := c.asked[key]; got != nil {
		delete(c.asked, key)
		got <- a
	}
}

// wantForget drops the roots known so far. Requests that come later wait for it;
// reading does not, since a call that is just asking for the roots holds them
// until its answer is read.
func (c *conn) wantForget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.srv.env.Workspace != nil || c.closing {
		return
	}
	done := make(chan struct{})
	earlier := c.forgotten
	c.forgotten = done
	c.calls.Go(func() {
		defer close(done)
		if earlier != nil {
			<-earlier
		}
		c.forgetRoots()
	})
}
