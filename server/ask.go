package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-tools/tools"
)

// askTimeout is how long a client may take to answer a request of ours that
// needs no user, and elicitTimeout how long a user may take.
const (
	askTimeout    = 10 * time.Second
	elicitTimeout = 10 * time.Minute
)

// answer is what a client said to a request of ours.
type answer struct{ result, fail json.RawMessage }

// rootsRequest asks the client for its roots.
func (c *conn) rootsRequest(ctx context.Context) (json.RawMessage, error) {
	ctx, stop := context.WithTimeoutCause(ctx, askTimeout, fmt.Errorf("the client did not answer %s within %d s", mcp.MethodListRoots, int(askTimeout.Seconds())))
	defer stop()
	go func() {
		select {
		case <-c.torn:
			stop()
		case <-ctx.Done():
		}
	}()
	return c.ask(ctx, c.write, mcp.MethodListRoots, nil)
}

// ask sends the client a request and waits for its answer until ctx is done; it is
// then told that the request is not wanted any more.
func (p *peer) ask(ctx context.Context, send func(line []byte) bool, method mcp.MCPMethod, params json.RawMessage) (json.RawMessage, error) {
	got := make(chan answer, 1)
	id := p.id + "-" + strconv.FormatUint(p.srv.seq.Add(1), 10)
	p.mu.Lock()
	p.asked["s"+id] = got
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.asked, "s"+id)
		p.mu.Unlock()
	}()
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q`, id, method)
	if params != nil {
		line += `,"params":` + string(params)
	}
	if !send([]byte(line + "}\n")) {
		return nil, errors.New("there is no way to ask the client")
	}
	select {
	case a := <-got:
		if a.result == nil {
			return nil, fmt.Errorf("the client refused %s", method)
		}
		return a.result, nil
	case <-ctx.Done():
	}
	send([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"requestId":%q}}`+"\n", mcp.MethodNotificationCancelled, id)))
	return nil, context.Cause(ctx)
}

// canElicit tells whether the user behind the client can be asked in the middle of a
// call. In 2026-07-28 a server asks by ending the call, which has begun its work here.
func (r *request) canElicit() bool {
	if r.modern || r.tell == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.caps.Elicitation != nil && r.version >= mcp.ProtocolVersion20250618
}

// elicit asks the user behind the client, who may take some time.
func (r *request) elicit(ctx context.Context, q tools.Question) (tools.Answer, error) {
	params, err := marshal(map[string]any{"message": q.Message, "requestedSchema": q.Schema})
	if err != nil {
		return tools.Answer{}, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, elicitTimeout, errors.New("the user has not answered in time"))
	defer stop()
	raw, err := r.ask(ctx, r.tell, mcp.MethodElicitationCreate, params)
	if err != nil {
		return tools.Answer{}, err
	}
	var a struct {
		Action  string
		Content json.RawMessage
	}
	if json.Unmarshal(raw, &a) != nil || a.Action == "" {
		return tools.Answer{}, errors.New("the client's answer is none to a question")
	}
	return tools.Answer{Action: a.Action, Content: a.Content}, nil
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
