package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"mcp-tools/tools"
)

// peer is one client: who it is, what it said of itself, the session its calls
// work in, and its requests in flight. A transport makes one for whatever it
// takes for a client: stdio one for the process, HTTP one for each session, and
// one for each request of 2026-07-28. Safe for concurrent use.
type peer struct {
	srv       *Server
	id        string // 128 bits of our own randomness, never the client's
	log       *slog.Logger
	session   *tools.Session
	principal string
	// askRoots asks the client for its roots and waits for its result. nil: the
	// transport has no way to.
	askRoots func(ctx context.Context) (json.RawMessage, error)
	// notify tells the client something that belongs to no request of its. nil:
	// there is no way to.
	notify func(line []byte)
	// ordered: calls that run one after the other are answered one after the other.
	ordered bool

	base   context.Context // of all requests; ends when they must
	cancel context.CancelCauseFunc
	load   *load

	greeted   atomic.Bool
	mu        sync.Mutex
	version   string // agreed by initialize; "": not yet
	info      mcp.Implementation
	caps      mcp.ClientCapabilities
	roots     []string                 // named by a client of 2026-07-28, once it was asked
	live      map[string]*exchange     // unanswered requests by id
	asked     map[string]chan answer   // our own unanswered requests
	logLevel  mcp.LoggingLevel         // what of the log the client wants; "": nothing
	forgotten chan struct{}            // closed when roots were forgotten as the client wished
	last      map[string]chan struct{} // of each lane's latest call that runs alone: closed when answered
	shown     []*tools.Tool            // when the client was last told; nil: not yet
}

// peerOptions are what transports make different.
type peerOptions struct {
	stateless bool
	principal string // "": nobody was asked
	log       *slog.Logger
	load      *load
}

// newPeer makes a client of s, whose requests end with base. Close it when it
// is gone.
func (s *Server) newPeer(base context.Context, o peerOptions) *peer {
	p := &peer{
		srv: s, id: rand.Text(), log: o.log, load: o.load, principal: o.principal,
		live: make(map[string]*exchange), asked: make(map[string]chan answer), last: make(map[string]chan struct{}),
	}
	p.base, p.cancel = context.WithCancelCause(base)
	so := tools.SessionOptions{Stateless: o.stateless, Principal: o.principal, Log: o.log}
	if s.env.Workspace == nil {
		so.Roots = p.rootURIs
	}
	p.session = s.env.NewSession(so)
	return p
}

// hearsOf makes the client hear of what belongs to no request of its.
func (p *peer) hearsOf(notify func(line []byte)) {
	p.notify = notify
	p.srv.watch(p)
}

// remembers says whether closing it would lose anything.
func (p *peer) remembers() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.logLevel != "" || p.session.Remembers()
}

// close ends what still runs for the client and forgets what it knew.
func (p *peer) close(cause error) {
	p.cancel(cause)
	p.srv.unwatch(p)
	p.session.Close()
}

// rootURIs are the client's workspace roots; none if it has no way to name them.
func (p *peer) rootURIs(ctx context.Context) ([]string, error) {
	if mcpserver.IsModernRequest(ctx) {
		if r := requestFrom(ctx); r != nil && r.roots != nil {
			return r.roots, nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.roots, nil
	}
	p.mu.Lock()
	able := p.askRoots != nil && p.caps.Roots != nil
	p.mu.Unlock()
	if !able {
		return nil, nil
	}
	raw, err := p.askRoots(ctx)
	if err != nil {
		return nil, err
	}
	var list mcp.ListRootsResult
	if json.Unmarshal(raw, &list) != nil {
		return nil, errors.New("the client's answer to roots/list is not a list of roots")
	}
	return uris(&list), nil
}

func uris(list *mcp.ListRootsResult) []string {
	all := make([]string, 0, len(list.Roots))
	for _, r := range list.Roots {
		all = append(all, r.URI)
	}
	return all
}

// forgetRoots makes the next call ask for the roots again. It may wait for a
// call that is just asking.
func (p *peer) forgetRoots() {
	p.mu.Lock()
	p.roots = nil
	p.mu.Unlock()
	p.session.ForgetRoots()
}

// request is one request of a client, as mcp-go sees it: a session of its own,
// so that nothing said for one request reaches another.
type request struct {
	*peer
	method          string
	modern          bool                   // 2026-07-28 or later: it says everything itself
	revision        string                 // of this request; "": what initialize agreed on
	toolName        string                 // as the client named it
	tool            *tools.Tool            // nil: none has that name
	uri, promptName string                 // of resources/read, prompts/get
	own             *rpcError              // what the client is told in place of mcp-go's words
	tell            func(line []byte) bool // sends the client something before the answer
	progress        *progress
	notes           chan mcp.JSONRPCNotification // nil: mcp-go has none to send
	begun           *tools.Call                  // by the transport, in order of arrival
	ran             *tools.Call                  // when it has
	// arguments of a call whose message mcp-go sees without them.
	arguments json.RawMessage
	roots     []string // answered by the client in this request
	failure   error    // why mcp-go refused it
	// listChanged: the call changed which tools the client is shown; isError: its
	// result tells an error.
	listChanged, isError bool
	logLevel             mcp.LoggingLevel // wanted by a request of 2026-07-28
}

// requestFrom is the request ctx belongs to, nil outside of one.
func requestFrom(ctx context.Context) *request {
	r, _ := mcpserver.ClientSessionFromContext(ctx).(*request)
	return r
}

// take hands out the call that was begun for the request, once.
func (r *request) take() *tools.Call {
	call := r.begun
	r.begun = nil
	return call
}

// protocol is the revision the request is made in.
func (r *request) protocol() string {
	if r.modern {
		return r.revision
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

// refusal is what the client is told in place of mcp-go's words, where those
// speak of Go types.
func (r *request) refusal(e mcp.JSONRPCErrorDetails) *rpcError {
	var unparsable *mcpserver.UnparsableMessageError
	switch {
	case r.own != nil:
		return r.own
	case errors.Is(r.failure, mcpserver.ErrToolNotFound):
		return &rpcError{Code: mcp.INVALID_PARAMS, Message: tools.UnknownTool(r.toolName)}
	case errors.As(r.failure, &unparsable):
		return invalidParams("a parameter of " + r.method + " is missing or of the wrong type")
	}
	return &rpcError{Code: e.Code, Message: e.Message, Data: e.Data}
}

// What mcp-go asks of a client session.

func (r *request) SessionID() string { return r.id }

func (r *request) Initialize() { r.greeted.Store(true) }

func (r *request) Initialized() bool { return r.greeted.Load() }

func (r *request) NotificationChannel() chan<- mcp.JSONRPCNotification { return r.notes }

func (r *request) SetProtocolVersion(v string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = v
}

func (r *request) ProtocolVersion() string { return r.protocol() }

// SetClientInfo keeps what initialize said. What a request of 2026-07-28 says of
// its client holds for that request only and is read from its context.
func (r *request) SetClientInfo(i mcp.Implementation) {
	if r.modern {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.info = i
}

func (r *request) GetClientInfo() mcp.Implementation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info
}

func (r *request) SetClientCapabilities(c mcp.ClientCapabilities) {
	if r.modern {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.caps = c
}

func (r *request) GetClientCapabilities() mcp.ClientCapabilities {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.caps
}
