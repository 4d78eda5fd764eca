package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxRunning and maxHeld bound what a client can make us hold: requests at
	// work, and the bytes of their messages. What is over is refused at once;
	// were reading to pause instead, the cancellation that frees a place could
	// not be read.
	maxRunning = 512
	maxHeld    = 64 << 20
	// maxBatch is how many messages a batch of 2025-03-26 may hold.
	maxBatch = 100
)

// exchange is one request and its answer.
type exchange struct {
	*request
	key    string
	id     json.RawMessage
	size   int
	ctx    context.Context
	cancel context.CancelFunc
	reply  func(line []byte) // nil line: there is no answer

	settled  bool          // guarded by conn.mu: answered, or never to be
	answered chan struct{} // closed then
	before   chan struct{} // not nil: closed when the call before it is answered
	start    chan struct{} // not nil: it waits for this to be closed
}

// endless: goes on until the client ends it.
func (x *exchange) endless() bool {
	return x.method == string(mcp.MethodSubscriptionsListen)
}

// inline methods touch no disk and never wait: they are answered in the order
// in which they came, before anything later is looked at.
func inline(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodInitialize, mcp.MethodPing, mcp.MethodToolsList, mcp.MethodServerDiscover:
		return true
	}
	return false
}

// receive takes one line.
func (c *conn) receive(line []byte) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	switch {
	case len(line) == 0:
	case !utf8.Valid(line):
		c.write(errorLine(nil, parseError("the message is not UTF-8")))
	case !json.Valid(line):
		c.write(errorLine(nil, parseError("the message is not JSON")))
	case line[0] == '[':
		c.batch(line)
	default:
		c.message(line, false, func(answer []byte) {
			if answer != nil {
				c.write(answer)
			}
		})
	}
}

// message takes one message and calls reply once, now or when it is answered.
func (c *conn) message(line []byte, batched bool, reply func([]byte)) {
	m, err := decodeEnvelope(line)
	if err != nil {
		reply(errorLine(nil, invalidRequest("a message "+err.Error())))
		return
	}
	key, idOK := idKey(m.id)
	refuse := func(fail *rpcError) {
		if idOK {
			reply(errorLine(m.id, fail))
		} else {
			reply(errorLine(nil, fail))
		}
	}
	method, isMethod := unquote(m.method)
	switch v, ok := unquote(m.version); {
	case !ok || v != mcp.JSONRPC_VERSION:
		refuse(invalidRequest(`jsonrpc must be "2.0"`))
		return
	case m.method == nil && (m.result != nil || m.fail != nil):
		c.route(key, answer{m.result, m.fail})
		reply(nil)
		return
	case !isMethod || method == "":
		refuse(invalidRequest("method must be a string"))
		return
	}
	p, fail := decodeParams(m.params)
	if m.id == nil {
		if fail == nil {
			c.notified(method, &p)
		}
		reply(nil)
		return
	}
	switch {
	case !idOK:
		refuse(invalidRequest("id must be a string or a number"))
		return
	case batched && method == string(mcp.MethodInitialize):
		refuse(invalidRequest("initialize cannot be part of a batch"))
		return
	}
	if fail == nil {
		fail = p.check(method)
	}
	if fail != nil {
		refuse(fail)
		return
	}
	c.begin(&exchange{
		request: &request{
			peer: c.peer, method: method, toolName: p.toolName,
			modern: mcp.IsModernProtocol(p.protocolVersion), revision: p.protocolVersion,
		},
		key: key, id: m.id, size: len(line), reply: reply, answered: make(chan struct{}),
	}, m.params, &p)
}

// begin starts a request. When it returns, a call has its place in the queue of
// its session, and an inline request its answer.
func (c *conn) begin(x *exchange, raw json.RawMessage, p *params) {
	c.mu.Lock()
	var refusal *rpcError
	switch {
	case c.closing:
		refusal = &rpcError{Code: codeBusy, Message: "The server is shutting down"}
	case c.live[x.key] != nil:
		refusal = invalidRequest("this id is that of a request still running")
	case !inline(x.method) && (c.running >= maxRunning || c.running > 0 && c.held+x.size > maxHeld):
		refusal = &rpcError{Code: codeBusy, Message: fmt.Sprintf("Server busy: %d requests are running; wait for an answer", c.running)}
	}
	if refusal != nil {
		c.mu.Unlock()
		x.reply(errorLine(x.id, refusal))
		return
	}
	c.seq++
	seq := c.seq
	x.ctx, x.cancel = context.WithCancel(c.base)
	c.live[x.key] = x
	x.start = c.forgotten
	if !inline(x.method) {
		c.running++
		c.held += x.size
		c.calls.Add(1)
	}
	c.mu.Unlock()

	switch {
	case inline(x.method):
		if x.method == string(mcp.MethodInitialize) {
			c.wantForget()
		}
		x.finish(c, c.respond(x, forward(seq, x.method, raw, p, "")))
		x.cancel()
		return
	case x.endless():
		x.notes = make(chan mcp.JSONRPCNotification, 1)
	case x.method == string(mcp.MethodToolsCall):
		c.beginCall(x, p)
	}
	message := forward(seq, x.method, raw, p, x.toolName)
	go c.run(x, message)
}

// beginCall gives a call its place in the queue of the session. Should a tool's
// check of its input panic, the call is left to its handler, which answers that.
func (c *conn) beginCall(x *exchange, p *params) {
	t, ok := c.srv.env.Tools.Lookup(x.toolName)
	if !ok {
		return // mcp-go refuses it
	}
	defer func() {
		if v := recover(); v != nil {
			c.srv.log.Error("panic in the check of a call", "tool", t.Name, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	x.toolName, x.arguments = t.Name, p.arguments
	x.progress = newProgress(p.progressToken, x.protocol() != mcp.ProtocolVersion20241105, c.write)
	if !t.Traits.ConcurrencySafe {
		// Calls that run one after the other are answered one after the other.
		x.before, c.last = c.last, x.answered
	}
	x.begun = c.session.Begin(t.Name, p.arguments)
}

// run answers a request that may take its time.
func (c *conn) run(x *exchange, message []byte) {
	line := errorLine(x.id, internalError()) // should the goroutine be ended
	defer func() {
		x.finish(c, line)
		x.cancel()
		c.mu.Lock()
		c.running--
		c.held -= x.size
		c.mu.Unlock()
		c.calls.Done()
	}()
	if x.start != nil {
		select {
		case <-x.start:
		case <-x.ctx.Done():
		}
	}
	line = c.respond(x, message)
	if x.before != nil {
		select {
		case <-x.before:
		case <-x.ctx.Done():
		}
	}
}

// respond is the answer to a request; it never panics.
func (c *conn) respond(x *exchange, message []byte) (line []byte) {
	defer func() {
		if v := recover(); v != nil {
			c.srv.log.Error("panic in an answer", "method", x.method, "panic", v, "stack", string(debug.Stack()))
			line = errorLine(x.id, internalError())
		}
	}()
	result, fail := c.srv.handle(x.ctx, x.request, message)
	if x.endless() {
		result = c.tag(x, result)
	}
	if fail != nil {
		return errorLine(x.id, fail)
	}
	line, err := resultLine(x.id, result)
	if err != nil {
		c.srv.log.Error("an answer cannot be written as JSON", "method", x.method, "tool", x.toolName, "err", err)
		return errorLine(x.id, internalError())
	}
	return line
}

// tag sends what mcp-go had to say on a subscription and marks it and the result
// with the id as the client wrote it.
func (c *conn) tag(x *exchange, result any) any {
	for {
		select {
		case n := <-x.notes:
			n.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: x.id}
			if line, err := marshal(n); err == nil && x.ctx.Err() == nil {
				c.write(append(line, '\n'))
			}
		default:
			if r, ok := result.(mcp.SubscriptionsListenResult); ok {
				r.EnsureResultMeta().SetSubscriptionID(x.id)
				return r
			}
			return result
		}
	}
}

// finish answers a request, unless it was cancelled.
func (x *exchange) finish(c *conn, line []byte) {
	x.progress.finish()
	if c.settle(x) {
		x.reply(line)
		close(x.answered)
	}
}

// settle says whether the caller is the one to answer, or to leave unanswered.
func (c *conn) settle(x *exchange) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.settled {
		return false
	}
	x.settled = true
	if c.live[x.key] == x {
		delete(c.live, x.key)
	}
	return true
}

// notified takes a notification; those without a meaning here are ignored.
func (c *conn) notified(method string, p *params) {
	switch method {
	case string(mcp.MethodNotificationCancelled):
		key, ok := idKey(p.requestID)
		if !ok {
			return
		}
		c.mu.Lock()
		x := c.live[key]
		c.mu.Unlock()
		if x != nil && c.settle(x) { // from here on it is never answered
			x.cancel()
			x.progress.stop(true)
			x.reply(nil)
			close(x.answered)
		}
	case mcp.MethodNotificationRootsListChanged:
		c.wantForget()
	}
}

// batch takes an array of messages, which 2025-03-26 alone knows. Their answers
// come in one array, when all are there.
func (c *conn) batch(line []byte) {
	c.peer.mu.Lock()
	version := c.version
	c.peer.mu.Unlock()
	var all []json.RawMessage
	if version == mcp.ProtocolVersion20250326 {
		elements(line, func(v json.RawMessage) {
			if len(all) <= maxBatch {
				all = append(all, v)
			}
		})
	}
	switch {
	case version != mcp.ProtocolVersion20250326:
		c.write(errorLine(nil, invalidRequest("batches belong to revision 2025-03-26, which this connection does not use; send one message a line")))
		return
	case len(all) == 0 || len(all) > maxBatch:
		c.write(errorLine(nil, invalidRequest(fmt.Sprintf("a batch holds 1 to %d messages", maxBatch))))
		return
	}
	var mu sync.Mutex
	var answers [][]byte
	left := len(all)
	for _, element := range all {
		c.message(element, true, func(answer []byte) {
			mu.Lock()
			defer mu.Unlock()
			if answer != nil {
				answers = append(answers, bytes.TrimSuffix(answer, []byte("\n")))
			}
			if left--; left == 0 && len(answers) > 0 {
				c.write(append(append([]byte("["), bytes.Join(answers, []byte(","))...), "]\n"...))
			}
		})
	}
}
