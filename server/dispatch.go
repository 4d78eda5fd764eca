package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxMessage is the longest message in bytes.
	maxMessage = 8 << 20
	// maxRunning and maxHeld bound what one client on stdio can make us hold:
	// requests at work, and the bytes of their messages.
	maxRunning = 512
	maxHeld    = 64 << 20
	// maxLoggedID is how much of a request's id is logged.
	maxLoggedID = 64
)

// An origin is where a message came from, and where what it causes goes.
type origin struct {
	batched bool
	// send tells the client something that belongs to the request, before its
	// answer, and says whether there was a way to.
	send func(line []byte) bool
	// reply is called once for every message, and says whether the client got the
	// answer, as far as that can be told.
	reply func(response) bool
	// gone says whether the client has hung up. nil: that is not known.
	gone func() bool
}

// response is the answer to a message.
type response struct {
	line []byte    // with its newline; nil: there is no answer
	fail *rpcError // not nil: the line tells this
}

func refusal(id json.RawMessage, fail *rpcError) response {
	return response{errorLine(id, fail), fail}
}

// exchange is one request and its answer.
type exchange struct {
	*request
	origin
	key    string
	id     json.RawMessage
	seq    uint64
	size   int
	began  time.Time
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc

	ready    chan struct{} // closed when all of the above is set
	settled  bool          // guarded by peer.mu: it is known whether it is answered
	answered chan struct{} // closed when it is, or never will be
	before   chan struct{} // not nil: closed when the call before it is answered
	start    chan struct{} // not nil: it waits for this to be closed
}

// endless: goes on until the client ends it.
func (x *exchange) endless() bool {
	return x.method == string(mcp.MethodSubscriptionsListen)
}

var listChangedLine = []byte(`{"jsonrpc":"2.0","method":"` + mcp.MethodNotificationToolsListChanged + `"}` + "\n")

// inline methods touch no disk and never wait: they are answered in the order
// in which they came, before anything later is looked at.
func (p *peer) inline(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodInitialize, mcp.MethodPing, mcp.MethodServerDiscover:
		return true
	case mcp.MethodToolsList:
		return !p.srv.listWaits()
	}
	return false
}

// message takes one message and calls o.reply once, now or when it is answered.
func (p *peer) message(text []byte, o origin) {
	m, fail := decode(text)
	if fail != nil {
		o.reply(refusal(m.id, fail))
		return
	}
	p.dispatch(m, o)
}

// dispatch does what message does for one that was taken apart.
func (p *peer) dispatch(m *incoming, o origin) {
	switch {
	case m.kind == isResponse:
		p.route(m.key, m.answer)
		o.reply(response{})
	case m.kind == isNotification:
		p.notified(m)
		o.reply(response{})
	case o.batched && m.method == string(mcp.MethodInitialize):
		o.reply(refusal(m.id, invalidRequest("initialize cannot be part of a batch")))
	default:
		p.begin(m, o)
	}
}

// begin starts a request. When it returns, a call has its place in the queue of
// its session, and an inline request its answer.
func (p *peer) begin(m *incoming, o origin) {
	x := &exchange{
		request: &request{peer: p, method: m.method, toolName: m.p.toolName, modern: m.modern(), revision: m.p.protocolVersion, logLevel: mcp.LoggingLevel(m.p.logLevel)},
		origin:  o, key: m.key, id: m.id, size: m.size, seq: p.srv.seq.Add(1), began: time.Now(),
		ready: make(chan struct{}), answered: make(chan struct{}),
	}
	x.log = p.log.With("request", x.seq, "id", logged(x.id))
	if fail := p.admit(x); fail != nil {
		x.log.Info("a request was refused", "method", x.method, "reason", fail.Message)
		o.reply(refusal(x.id, fail))
		return
	}
	switch {
	case p.inline(x.method):
		close(x.ready)
		if x.method == string(mcp.MethodInitialize) {
			p.wantForget()
		}
		x.finish(p.respond(x, forward(x.seq, x.method, m.params, &m.p, "")))
		x.cancel()
		return
	case x.endless():
		x.notes = make(chan mcp.JSONRPCNotification, 1)
	case x.method == string(mcp.MethodToolsCall):
		p.beginCall(x, &m.p)
	case x.method == string(mcp.MethodPromptsGet), x.method == string(mcp.MethodResourcesRead):
		x.promptName, _ = unquote(m.p.name)
		x.uri, _ = unquote(m.p.uri)
	}
	close(x.ready)
	message := forward(x.seq, x.method, m.params, &m.p, x.registeredName())
	go p.run(x, message)
}

// admit gives a request its place among those in flight, or says why not.
func (p *peer) admit(x *exchange) *rpcError {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live[x.key] != nil {
		return invalidRequest("this id is that of a request still running")
	}
	fail := p.load.refuses()
	if !p.inline(x.method) {
		fail = p.load.enter(x.size)
	}
	if fail != nil {
		return fail
	}
	x.ctx, x.cancel = context.WithCancel(p.base)
	x.start = p.forgotten
	p.live[x.key] = x
	return nil
}

// beginCall gives a call its place in the queue of the session. Should a tool's
// check of its input panic, the call is left to its handler, which answers that.
func (p *peer) beginCall(x *exchange, in *params) {
	t, ok := p.srv.env.Tools.Lookup(x.toolName)
	if !ok {
		return // mcp-go refuses it
	}
	defer func() {
		if v := recover(); v != nil {
			x.log.Error("panic in the check of a call", "tool", t.Name, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	x.tool, x.toolName, x.arguments, x.tell = t, t.Name, in.arguments, x.send
	x.progress = newProgress(in.progressToken, x.protocol() != mcp.ProtocolVersion20241105, func(line []byte) { x.send(line) })
	if p.ordered && !t.Traits.ConcurrencySafe {
		p.mu.Lock()
		x.before, p.last[t.Lane] = p.last[t.Lane], x.answered
		p.mu.Unlock()
	}
	x.begun = p.session.Begin(t.Name, in.arguments)
	x.begun.LogTo(x.log)
	if x.modern && x.gone != nil {
		x.begun.StopIf(x.gone)
	}
}

// run answers a request that may take its time.
func (p *peer) run(x *exchange, message []byte) {
	answer := refusal(x.id, internalError()) // should the goroutine be ended
	defer func() {
		p.load.free(x.size)
		x.finish(answer)
		x.cancel()
		p.load.leave()
	}()
	if x.start != nil {
		select {
		case <-x.start:
		case <-x.ctx.Done():
		}
	}
	answer = p.respond(x, message)
	if x.before != nil {
		select {
		case <-x.before:
		case <-x.ctx.Done():
		}
	}
}

// respond is the answer to a request; it never panics.
func (p *peer) respond(x *exchange, message []byte) (r response) {
	defer func() {
		if v := recover(); v != nil {
			x.log.Error("panic in an answer", "method", x.method, "panic", v, "stack", string(debug.Stack()))
			r = refusal(x.id, internalError())
		}
	}()
	drained := x.forwardNotes()
	result, fail := p.srv.handle(x.ctx, x.request, message)
	drained()
	if fail != nil {
		return refusal(x.id, fail)
	}
	if listen, ok := result.(mcp.SubscriptionsListenResult); ok {
		listen.EnsureResultMeta().SetSubscriptionID(x.id)
		result = listen
	}
	line, err := resultLine(x.id, result)
	if err != nil {
		x.log.Error("an answer cannot be written as JSON", "method", x.method, "tool", x.toolName, "err", err)
		return refusal(x.id, internalError())
	}
	return response{line: line}
}

// forwardNotes sends what mcp-go has to say on a subscription, marked with the id
// as the client wrote it, until the function it returns is called: that sends
// what is left.
func (x *exchange) forwardNotes() (drained func()) {
	if x.notes == nil {
		return func() {}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	tell := func(n mcp.JSONRPCNotification) {
		n.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: x.id}
		if line, err := marshal(n); err == nil && x.ctx.Err() == nil {
			x.send(append(line, '\n'))
		}
	}
	go func() {
		defer close(ended)
		for {
			select {
			case n := <-x.notes:
				tell(n)
				continue
			default:
			}
			select {
			case n := <-x.notes:
				tell(n)
			case <-stop:
				if len(x.notes) == 0 {
					return
				}
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// finish answers a request, unless it was cancelled.
func (x *exchange) finish(r response) {
	x.progress.finish()
	if !x.settle() { // cancelled; now that nothing of it goes on any more, that can be said
		x.forget()
		x.reply(response{})
		go func() {
			if x.before != nil {
				<-x.before // who waits for this one waits for those before it
			}
			close(x.answered)
		}()
		return
	}
	x.tellLog()
	if x.listChanged && !x.modern {
		x.notice(listChangedLine)
	}
	if !x.reply(r) {
		x.forget()
	}
	close(x.answered)
	if r.fail != nil {
		x.log.Debug("request", "method", x.method, "tool", x.toolName, "took", time.Since(x.began), "error", r.fail.Message)
		return
	}
	x.log.Debug("request", "method", x.method, "tool", x.toolName, "took", time.Since(x.began))
}

// notice sends a notification with the answer of the request that caused it, or on
// the client's own stream where that takes none.
func (x *exchange) notice(line []byte) {
	if !x.send(line) && x.notify != nil {
		x.notify(line)
	}
}

// settle says whether the caller is the one to answer, or to leave unanswered.
func (x *exchange) settle() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.settled {
		return false
	}
	x.settled = true
	if x.live[x.key] == x {
		delete(x.live, x.key)
	}
	return true
}

// forget: what a call has shown, and nobody has got, does not count as seen.
func (x *exchange) forget() {
	if x.ran != nil {
		x.ran.Forget()
	}
}

// abandon leaves a request unanswered from here on. What waits for its end is let
// go when the call has ended: nothing of it may happen after that.
func (x *exchange) abandon() {
	<-x.ready
	if !x.settle() {
		return
	}
	x.cancel()
	x.progress.stop(true)
	x.log.Debug("request cancelled", "method", x.method, "tool", x.toolName, "took", time.Since(x.began))
}

// notified takes a notification; those without a meaning here are ignored.
func (p *peer) notified(m *incoming) {
	switch m.method {
	case string(mcp.MethodNotificationCancelled):
		key, ok := idKey(m.p.requestID)
		if !ok {
			return
		}
		p.mu.Lock()
		x := p.live[key]
		p.mu.Unlock()
		if x != nil {
			x.abandon()
		}
	case mcp.MethodNotificationRootsListChanged:
		p.wantForget()
	}
}

// endEndless ends the requests that only the client would end.
func (p *peer) endEndless() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.live {
		if x.endless() {
			x.cancel()
		}
	}
}

// logged is how an id stands in the log.
func logged(id json.RawMessage) string {
	if len(id) > maxLoggedID {
		return string(id[:maxLoggedID]) + "…"
	}
	return string(id)
}
