package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

const (
	// discoverWait is how long a server may take to say whether it knows the
	// revision of 2026-07-28; one that does not may say nothing.
	discoverWait = 3 * time.Second
	// tellWait bounds the notification that a call was cancelled.
	tellWait = 5 * time.Second
	// keepLines is how many of the last lines of a server's log are told.
	keepLines = 5
	// lastWords is how long is waited for what a server that has ended has said.
	lastWords = 300 * time.Millisecond
)

// connection is one life of a server. Safe for concurrent use.
type connection struct {
	entry  *Entry
	client *mcpclient.Client
	wire   transport.Interface
	served *sandbox.Served // nil: reached by HTTP
	in     *bounded        // nil likewise
	close_ func()

	ctx    context.Context // of its whole life
	cancel context.CancelFunc

	oldWay  bool // greet with initialize at once
	seq     atomic.Uint64
	changed func() // its list of tools changed

	mu     sync.Mutex
	calls  map[string]*liveCall // by progress token
	log    lastLines
	asks   int
	lastBy *tools.Session // whose call ended last
	lastAt time.Time
}

// liveCall is a call in progress.
type liveCall struct {
	ctx     context.Context
	session *tools.Session
	report  func(tools.Progress) // may be nil
	ask     func(context.Context, tools.Question) (tools.Answer, error)
}

// settings are what connections of a bridge share.
type settings struct {
	shell   *sandbox.Shell
	dir     string
	env     []string
	version string
	log     *slog.Logger
}

// connect starts a server, or reaches it, and shakes hands. changed is called when
// it says that its list of tools changed.
func connect(ctx context.Context, e *Entry, s *settings, oldWay bool, changed func()) (c *connection, err error) {
	c = &connection{entry: e, changed: changed, oldWay: oldWay, calls: make(map[string]*liveCall)}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = c.explain(err)
			c.close()
		}
	}()
	if e.URL == "" {
		return c, c.start(ctx, s)
	}
	if err := c.reach(ctx, s, false); err != nil {
		return c, err
	}
	if caps := c.client.GetServerCapabilities(); !c.modern() && caps.Tools != nil && caps.Tools.ListChanged {
		c.hangUp() // to listen, which cannot be said before it is known what the server speaks
		return c, c.reach(ctx, s, true)
	}
	return c, nil
}

// start makes a program the server.
func (c *connection) start(ctx context.Context, s *settings) error {
	dir := c.entry.Dir
	if dir == "" {
		dir = s.dir
	}
	log := s.log.With("server", c.entry.Name)
	served, err := s.shell.Serve(sandbox.Program{
		Command: c.entry.Command, Args: c.entry.Args, Dir: dir, Env: slices.Concat(s.env, c.entry.Env),
		Log: func(line string) {
			c.log.add(line)
			log.Debug("a server says", "line", line)
		},
	})
	if err != nil {
		return err
	}
	c.served, c.in = served, &bounded{r: served.Stdout, done: make(chan struct{})}
	wire := transport.NewIO(c.in, newQueue(served.Stdin), io.NopCloser(nil))
	c.wire = wire
	go func() {
		select {
		case <-served.Ended():
			waitFor(c.in.done, time.Second) // its last answer may still be in the pipe
		case <-c.in.done: // it sends no more, or too much
			if c.in.fault() != nil || !waitFor(served.Ended(), time.Second) {
				served.End()
			}
		}
		c.cancel()
		_ = wire.Close()
	}()
	return c.greet(ctx, s)
}

func (c *connection) reach(ctx context.Context, s *settings, listen bool) error {
	wire, done, err := newHTTP(c.entry, "mcp-tools/"+s.version, listen)
	if err != nil {
		return err
	}
	c.wire, c.close_ = wire, done
	return c.greet(ctx, s)
}

// greet agrees with the server on a revision.
func (c *connection) greet(ctx context.Context, s *settings) error {
	options := []mcpclient.ClientOption{mcpclient.WithElicitationHandler(asker{c}), mcpclient.WithDiscoverTimeout(discoverWait)}
	if c.oldWay {
		options = append(options, mcpclient.WithLegacyProtocolOnly())
	}
	c.client = mcpclient.NewClient(c.wire, options...)
	c.client.OnNotification(c.notified)
	if err := c.client.Start(c.ctx); err != nil {
		return err
	}
	var req mcp.InitializeRequest
	req.Params.ClientInfo = mcp.Implementation{Name: "mcp-tools", Version: s.version}
	req.Params.Capabilities.Elicitation = &mcp.ElicitationCapability{}
	if _, err := c.client.Initialize(ctx, req); err != nil {
		return err
	}
	caps := c.client.GetServerCapabilities()
	if c.modern() && caps.Tools != nil && caps.Tools.ListChanged {
		go c.listen()
	}
	return nil
}

// listen hears of changes of the list. A stream that ends is opened again, and then the
// list is looked at, for it may have changed meanwhile.
func (c *connection) listen() {
	for wait := time.Second; ; wait = min(2*wait, maxBackoff) {
		began := time.Now()
		_ = c.client.Listen(c.ctx, mcp.SubscriptionFilter{ToolsListChanged: true})
		if time.Since(began) > steady {
			wait = time.Second
		}
		if sleep(c.ctx, wait) != nil {
			return
		}
		c.changed()
	}
}

func (c *connection) modern() bool { return mcp.IsModernProtocol(c.client.ProtocolVersion()) }

// alive tells whether the server can still be talked to, as far as is known.
func (c *connection) alive() bool {
	if c.ctx.Err() != nil {
		return false
	}
	if c.served == nil {
		return true
	}
	select {
	case <-c.served.Ended():
		return false
	default:
		return true
	}
}

// died tells whether the program has ended by itself.
func (c *connection) died() bool {
	return c != nil && c.served != nil && waitFor(c.served.Ended(), time.Second) && c.in.fault() == nil
}

// forgotten tells whether an answer means that the server knows nothing of our session:
// some say so by an error instead of by 404.
func (c *connection) forgotten(err error) bool {
	web, ok := c.wire.(*transport.StreamableHTTP)
	return ok && err != nil && !c.modern() && web.GetSessionId() != "" && strings.Contains(strings.ToLower(err.Error()), "session")
}

// lost is closed when it cannot any more.
func (c *connection) lost() <-chan struct{} { return c.ctx.Done() }

// close ends the connection, and the program if there is one. It returns at once.
func (c *connection) close() {
	c.cancel()
	if c.served != nil {
		c.served.End()
	}
	c.hangUp()
}

func (c *connection) hangUp() {
	if c.wire == nil {
		return
	}
	wire, done := c.wire, c.close_
	go func() { // over HTTP it tells the server, which may not answer
		_ = wire.Close()
		if done != nil {
			done()
		}
	}()
}

// request asks the server and waits for its answer, as it came. header: what a tool
// wants said in HTTP headers besides.
func (c *connection) request(ctx context.Context, method mcp.MCPMethod, params map[string]any, header map[string]string) (json.RawMessage, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.ctx, stop)() // over HTTP nothing else would end it
	r := transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId("t" + strconv.FormatUint(c.seq.Add(1), 10)), Method: string(method), Params: params,
	}
	if c.modern() {
		if err := c.addMeta(&r, method, params, header); err != nil {
			return nil, err
		}
	}
	resp, err := c.wire.SendRequest(ctx, r)
	switch {
	case err != nil && ctx.Err() != nil && c.alive():
		c.tellCancelled(r.ID)
		return nil, ctx.Err()
	case err != nil:
		if errors.Is(err, transport.ErrTransportClosed) {
			defer c.cancel() // the next call needs another connection
		}
		return nil, c.explain(err)
	case resp.Error != nil:
		return nil, &refusal{resp.Error.Code, resp.Error.Message}
	}
	if c.in != nil {
		c.in.answered()
	}
	return resp.Result, nil
}

// addMeta says in a request what 2026-07-28 wants said in each.
func (c *connection) addMeta(r *transport.JSONRPCRequest, method mcp.MCPMethod, params map[string]any, header map[string]string) error {
	meta, _ := params["_meta"].(map[string]any)
	meta = maps.Clone(meta)
	if meta == nil {
		meta = make(map[string]any)
	}
	meta[mcp.MetaKeyProtocolVersion] = c.client.ProtocolVersion()
	meta[mcp.MetaKeyClientCapabilities] = mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}
	meta[mcp.MetaKeyClientInfo] = mcp.Implementation{Name: "mcp-tools"}
	all := maps.Clone(params)
	all["_meta"] = meta
	r.Params = all
	encoded, err := json.Marshal(all)
	if err != nil {
		return err
	}
	r.Header = make(http.Header)
	for name, value := range mcp.StandardHeaders(c.client.ProtocolVersion(), method, encoded) {
		r.Header.Set(name, value)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return nil
}

// tellCancelled tells the server that a request is not wanted any more. Over HTTP of
// 2026-07-28 the end of the stream has told it.
func (c *connection) tellCancelled(id mcp.RequestId) {
	if c.served == nil && c.modern() {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(c.ctx, tellWait)
		defer cancel()
		_ = c.wire.SendNotification(ctx, mcp.JSONRPCNotification{
			JSONRPC: mcp.JSONRPC_VERSION,
			Notification: mcp.Notification{
				Method: string(mcp.MethodNotificationCancelled),
				Params: mcp.NotificationParams{AdditionalFields: map[string]any{"requestId": id, "reason": "the client cancelled the call"}},
			},
		})
	}()
}

// notified takes what the server says unasked. It does not wait.
func (c *connection) notified(n mcp.JSONRPCNotification) {
	switch n.Method {
	case mcp.MethodNotificationToolsListChanged:
		c.changed()
	case string(mcp.MethodNotificationProgress):
		token, _ := n.Params.AdditionalFields["progressToken"].(string)
		c.mu.Lock()
		call := c.calls[token]
		c.mu.Unlock()
		if call == nil || call.report == nil {
			return
		}
		number := func(name string) float64 { f, _ := n.Params.AdditionalFields[name].(float64); return f }
		message, _ := n.Params.AdditionalFields["message"].(string)
		call.report(tools.Progress{Progress: number("progress"), Total: number("total"), Message: message})
	}
}

// toldError is an error in few words of one line: those of a server, or with its whole
// address, are not passed on.
type toldError struct {
	text string
	err  error
}

func (e *toldError) Error() string { return e.text }
func (e *toldError) Unwrap() error { return e.err }

func told(err error) error {
	text := err.Error()
	var u *url.Error
	if errors.As(err, &u) {
		text = u.Err.Error()
		if at, bad := url.Parse(u.URL); bad == nil {
			text = at.Scheme + "://" + at.Host + at.Path + ": " + text // the rest may be a secret
		}
	}
	return &toldError{shown(text), err}
}

// refusal is a JSON-RPC error of the server.
type refusal struct {
	code int
	msg  string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (%d)", shown(r.msg), r.code) }

// explain says what is behind the end of a connection.
func (c *connection) explain(err error) error {
	var unauthorized *transport.AuthorizationRequiredError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("it did not answer in time%s", c.said())
	case errors.As(err, &unauthorized):
		return errors.New(`it wants an authorization: put what it expects into "headers" of its configuration`)
	case c.served == nil:
		return told(err)
	case c.in.fault() != nil:
		return c.in.fault()
	}
	select {
	case <-c.served.Ended():
	default:
		if !errors.Is(err, transport.ErrTransportClosed) {
			return err
		}
		if !waitFor(c.served.Ended(), time.Second) {
			return fmt.Errorf("it closed its output%s", c.said())
		}
	}
	waitFor(c.served.Logged(), lastWords)
	if code, signal := c.served.Exit(); signal != "" {
		return fmt.Errorf("it was ended by %s%s", signal, c.said())
	} else {
		return fmt.Errorf("it ended with exit code %d%s", code, c.said())
	}
}

func waitFor(c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

// said are the last lines of the server's log, for an error.
func (c *connection) said() string {
	if text := c.log.text(); text != "" {
		return ". It said: " + text
	}
	return ""
}

// lastLines keeps the last lines it is given. Safe for concurrent use.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *lastLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, shown(line))
	l.lines = l.lines[max(0, len(l.lines)-keepLines):]
}

func (l *lastLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, " | ")
}
