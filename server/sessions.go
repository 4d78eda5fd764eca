package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"mcp-tools/tools"
)

// peer is one client: who it is, what it said of itself, and the session its
// calls work in. A transport makes one for whatever it takes for a client: the
// stdio transport one for the process. Safe for concurrent use.
type peer struct {
	id      string // 128 bits of our own randomness, never the client's
	session *tools.Session
	// ask sends a request to the client and waits for its result. nil: the
	// transport has no way to.
	ask func(ctx context.Context, method string) (json.RawMessage, error)

	greeted atomic.Bool
	mu      sync.Mutex
	version string // agreed by initialize; "": not yet
	info    mcp.Implementation
	caps    mcp.ClientCapabilities
	roots   []string // named by a client of 2026-07-28, once it was asked
}

// newPeer makes a client of s. Close its session when it is gone.
func (s *Server) newPeer(stateless bool) *peer {
	p := &peer{id: rand.Text()}
	o := tools.SessionOptions{Stateless: stateless}
	if s.env.Workspace == nil {
		o.Roots = p.rootURIs
	}
	p.session = s.env.NewSession(o)
	return p
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
	able := p.ask != nil && p.caps.Roots != nil
	p.mu.Unlock()
	if !able {
		return nil, nil
	}
	raw, err := p.ask(ctx, string(mcp.MethodListRoots))
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
	method   string
	modern   bool   // 2026-07-28 or later: it says everything itself
	revision string // of this request; "": what initialize agreed on
	toolName string // as the client named it
	progress *progress
	notes    chan mcp.JSONRPCNotification // nil: mcp-go has none to send
	begun    *tools.Call                  // by the transport, in order of arrival
	// arguments of a call whose message mcp-go sees without them.
	arguments json.RawMessage
	roots     []string // answered by the client in this request
	failure   error    // why mcp-go refused it
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
