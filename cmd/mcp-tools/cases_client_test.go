package main

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

const modernRevision = "2026-07-28"

// An answer is what came back for one request or command. A fault is the lack of one.
type answer struct {
	result  any
	err     map[string]any // a protocol error
	fault   string         // "no answer" or what else went wrong
	exit    *int           // of a command line
	status  int            // of HTTP
	header  http.Header
	seconds float64
}

const noAnswer = "no answer"

// An event is a notification or a response, in the order of arrival.
type event struct {
	method string // of a notification
	msg    map[string]any
	id     string // of a response
}

// A link carries the messages of one client.
type link interface {
	// ask sends the request m with that id, and returns what came back for it.
	ask(c *rpcClient, id string, m map[string]any, timeout time.Duration) answer
	// tell sends a message that asks for nothing.
	tell(c *rpcClient, m map[string]any) answer
}

// rpcClient is a host as the cases play it: one connection or session, with all
// that came over it. Safe for concurrent use.
type rpcClient struct {
	link   link
	modern bool
	opts   clientForm
	caps   map[string]any
	init   answer

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when an answer comes
	id      int
	events  []event
	answers map[string][]answer
	arrival map[string]int // id → how many events were there with it
	asked   []string
	bad     []string // lines that are no JSON, or bad UTF-8
}

func newRPCClient(l link, opts clientForm, modern bool) *rpcClient {
	c := &rpcClient{
		link: l, modern: modern, opts: opts,
		caps:    map[string]any{},
		changed: make(chan struct{}),
		answers: map[string][]answer{},
		arrival: map[string]int{},
	}
	for k, v := range opts.Capabilities {
		c.caps[k] = v
	}
	if opts.Elicit != nil && c.caps["elicitation"] == nil {
		c.caps["elicitation"] = map[string]any{}
	}
	if opts.Roots != nil && c.caps["roots"] == nil {
		c.caps["roots"] = map[string]any{"listChanged": true}
	}
	return c
}

// shakeHands begins the session, in the revisions that have one.
func (c *rpcClient) shakeHands(protocol string) error {
	if c.modern || c.opts.NoInit {
		return nil
	}
	c.init = c.once("initialize", map[string]any{
		"protocolVersion": protocol, "capabilities": c.caps, "clientInfo": map[string]any{"name": "runner", "version": "1"},
	}, 15*time.Second, nil)
	if c.init.fault != "" {
		return fmt.Errorf("initialize: %s", c.init.fault)
	}
	if c.init.err != nil {
		return nil // a case may want just that
	}
	if a := c.notify("notifications/initialized", nil); a.protocolError() {
		return fmt.Errorf("notifications/initialized: %s", a.text())
	}
	return nil
}

func (c *rpcClient) incoming(line []byte) {
	var m map[string]any
	if err := unmarshal(line, &m); err != nil || !utf8.Valid(line) || loneSurrogate(line) {
		c.mu.Lock()
		c.bad = append(c.bad, clip(string(line), 80))
		c.mu.Unlock()
		if m == nil {
			return
		}
	}
	method, isCall := m["method"].(string)
	id, hasID := m["id"]
	switch {
	case isCall && hasID:
		c.reply(id, method, m)
	case isCall:
		c.mu.Lock()
		c.events = append(c.events, event{method: method, msg: m})
		c.mu.Unlock()
	default:
		c.settle(compact(id), m)
	}
}

// settle keeps the answer to the request id for whoever waits for it.
func (c *rpcClient) settle(id string, m map[string]any) {
	a := answer{result: m["result"]}
	if e, ok := m["error"]; ok {
		a.err, _ = e.(map[string]any)
		if a.err == nil {
			a.err = map[string]any{"message": e}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event{id: id})
	c.arrival[id] = len(c.events)
	c.answers[id] = append(c.answers[id], a)
	close(c.changed)
	c.changed = make(chan struct{})
}

// reply answers a request of the server's.
func (c *rpcClient) reply(id any, method string, m map[string]any) {
	c.mu.Lock()
	c.asked = append(c.asked, method)
	nth := 0
	for _, a := range c.asked {
		if a == method {
			nth++
		}
	}
	c.mu.Unlock()
	out := map[string]any{"jsonrpc": "2.0", "id": id}
	params, _ := m["params"].(map[string]any)
	if res := c.answerTo(method, nth, params); res != nil {
		out["result"] = res
	} else {
		out["error"] = map[string]any{"code": -32601, "message": "no"}
	}
	c.link.tell(c, out)
}

func (c *rpcClient) answerTo(method string, nth int, params map[string]any) any {
	switch method {
	case "ping":
		return map[string]any{}
	case "roots/list":
		roots := []any{}
		for _, r := range c.opts.Roots {
			roots = append(roots, map[string]any{"uri": r, "name": "r"})
		}
		return map[string]any{"roots": roots}
	case "elicitation/create":
		return c.elicited(nth, params)
	}
	return nil
}

// elicited is the nth answer to a form; accepting without content fills it in
// the most agreeing way.
func (c *rpcClient) elicited(nth int, params map[string]any) any {
	var one map[string]any
	var list []map[string]any
	if unmarshal(c.opts.Elicit, &list) == nil && len(list) > 0 {
		one = list[min(nth, len(list))-1]
	} else if unmarshal(c.opts.Elicit, &one) != nil || one == nil {
		one = map[string]any{"action": "decline"}
	}
	if one["action"] == "accept" && one["content"] == nil {
		return map[string]any{"action": "accept", "content": agreeing(params["requestedSchema"])}
	}
	return one
}

// request sends one request and waits; for the modern revision with what each
// request carries there, again while the server wants input.
func (c *rpcClient) request(method string, params any, timeout time.Duration, begun func(id int)) answer {
	if !c.modern {
		return c.once(method, params, timeout, begun)
	}
	p := c.withMeta(params)
	var a answer
	for range 6 {
		a = c.once(method, p, timeout, begun)
		if dig(a.result, "resultType") != "input_required" || c.opts.Elicit == nil {
			break
		}
		responses := map[string]any{}
		asked, _ := dig(a.result, "inputRequests").(map[string]any)
		for k, q := range asked {
			m, _ := dig(q, "method").(string)
			qp, _ := dig(q, "params").(map[string]any)
			c.mu.Lock()
			c.asked = append(c.asked, m)
			c.mu.Unlock()
			responses[k] = c.answerTo(m, 1, qp)
		}
		p["inputResponses"] = responses
		if st := dig(a.result, "requestState"); st != nil {
			p["requestState"] = st
		}
	}
	return a
}

func (c *rpcClient) withMeta(params any) map[string]any {
	p := map[string]any{}
	if params != nil {
		unmarshal([]byte(compact(params)), &p)
	}
	meta, _ := p["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	for k, v := range map[string]any{"protocolVersion": modernRevision, "clientCapabilities": c.caps,
		"clientInfo": map[string]any{"name": "runner", "version": "1"}} {
		if meta["io.modelcontextprotocol/"+k] == nil {
			meta["io.modelcontextprotocol/"+k] = v
		}
	}
	p["_meta"] = meta
	return p
}

// once sends one request as it is. A params of nil is left out.
func (c *rpcClient) once(method string, params any, timeout time.Duration, begun func(id int)) answer {
	id := c.nextID()
	m := map[string]any{"jsonrpc": "2.0", "id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	start := time.Now()
	if begun != nil {
		begun(id)
	}
	a := c.link.ask(c, fmt.Sprint(id), m, timeout)
	a.seconds = time.Since(start).Seconds()
	return a
}

func (c *rpcClient) nextID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id++
	return c.id
}

func (c *rpcClient) notify(method string, params any) answer {
	if params == nil {
		params = map[string]any{}
	}
	return c.link.tell(c, map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// take is the next answer with that id, if it is there. When it is not, the
// channel tells that others came.
func (c *rpcClient) take(id string) (answer, bool, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.answers[id]
	if len(list) == 0 {
		return answer{}, false, c.changed
	}
	c.answers[id] = list[1:]
	return list[0], true, nil
}

func (c *rpcClient) ping() bool {
	method := "ping"
	if c.modern {
		method = "tools/list"
	}
	return c.request(method, map[string]any{}, 8*time.Second, nil).result != nil
}

// notes are the notifications of one method so far.
func (c *rpcClient) notes(method string) []map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []map[string]any
	for _, e := range c.events {
		if e.method == method {
			out = append(out, e.msg)
		}
	}
	return out
}

func (c *rpcClient) timesAsked(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, a := range c.asked {
		if a == method {
			n++
		}
	}
	return n
}

func (c *rpcClient) badLines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.bad)
}
