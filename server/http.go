package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"mime"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// endpoint is the path MCP is spoken at.
	endpoint = "/mcp"
	// alive and ready say so without a token.
	alive, ready  = "/healthz", "/readyz"
	headerSession = "Mcp-Session-Id"
	// codeNoSession is the JSON-RPC error of a session that is no more.
	codeNoSession = -32001
)

// HTTPOptions say how a server is reached by HTTP. The zero value is for loopback
// addresses only: whoever reaches it may use it.
type HTTPOptions struct {
	// Tokens are the bearer tokens accepted; nil: none is asked for.
	Tokens *Tokens
	// AllowHosts are names, beside those of the machine itself, that clients may
	// call the server by, and AllowOrigins are web pages that may use it.
	AllowHosts, AllowOrigins []string
	// TLS, if not nil, is spoken; it must have a certificate.
	TLS *tls.Config
	// Metrics offers /metrics.
	Metrics bool
}

// HTTP is the streamable HTTP transport. Each client of a revision to 2025-11-25
// has a session; each request of 2026-07-28 stands alone.
//
// The requests of a session go on when their HTTP request is cut off, as the
// protocol wants it; those of 2026-07-28 are cancelled.
type HTTP struct {
	srv      *Server
	opts     HTTPOptions
	base     context.Context // of all requests; ends when they must
	cancel   context.CancelCauseFunc
	loads    *loads
	bodies   *budget
	conns    *conns
	sessions *sessions
	handler  http.Handler
	metrics  http.Handler // may be nil
	// listening are the clients of 2026-07-28 that wait for notifications, by *peer.
	listening sync.Map
}

// NewHTTP makes the transport. Serve it with [HTTP.Serve], once.
func (s *Server) NewHTTP(o HTTPOptions) *HTTP {
	h := &HTTP{srv: s, opts: o, bodies: &budget{left: maxAllHeld}, conns: newConns(s.log, maxConns)}
	h.base, h.cancel = context.WithCancelCause(context.Background())
	principals := 1
	if o.Tokens != nil {
		principals = max(1, len(o.Tokens.Principals()))
	}
	h.loads = newLoads(principals)
	h.sessions = newSessions(h.base, s, h.loads, max(1, maxSessions/principals))

	if o.Metrics {
		h.metrics = s.measure(h)
	}
	h.handler = newGuard(guardOptions{
		tokens: o.Tokens, hosts: o.AllowHosts, origins: o.AllowOrigins, tls: o.TLS != nil, log: s.log,
		open: func(path string) bool { return path == alive || path == ready },
	}, h.route)
	return h
}

// ServeHTTP answers one HTTP request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Whatever is said before the body was read is not held up by a body that does
	// not come: net/http would read it first. Writing may take longer than reading,
	// or nothing would be said to who was waited for. Streams renew the deadline.
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyWait))
	_ = rc.SetWriteDeadline(time.Now().Add(bodyWait + writeWait))
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	defer func() {
		v := recover()
		if v != nil && v != http.ErrAbortHandler {
			h.srv.log.Error("panic in an HTTP request", "panic", v, "stack", string(debug.Stack()))
		}
		if v != nil {
			panic(http.ErrAbortHandler) // what was written cannot be taken back
		}
	}()
	h.handler.ServeHTTP(w, r)
}

// visit is one HTTP request and who sent it.
type visit struct {
	w         http.ResponseWriter
	r         *http.Request
	principal string // "": nobody was asked
	version   string // the revision its headers name; "": none
}

// route serves what the guard has let through.
func (h *HTTP) route(w http.ResponseWriter, r *http.Request, principal string) {
	switch path := r.URL.Path; {
	case path == endpoint:
		h.serveMCP(&visit{w: w, r: r, principal: principal})
	case path != alive && path != ready && (path != "/metrics" || h.metrics == nil):
		plainText(w, http.StatusNotFound, "There is nothing at this path; MCP is spoken at "+endpoint+".\n")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		plainText(w, http.StatusMethodNotAllowed, "Use GET here.\n")
	case path == alive:
		plainText(w, http.StatusOK, "ok\n")
	case path == ready && h.loads.calls.refuses() != nil:
		plainText(w, http.StatusServiceUnavailable, "shutting down\n")
	case path == ready:
		plainText(w, http.StatusOK, "ready\n")
	default:
		h.metrics.ServeHTTP(w, r)
	}
}

func plainText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// serveMCP is the endpoint.
func (h *HTTP) serveMCP(v *visit) {
	var fail *rpcError
	if v.version, fail = headerVersion(v.r); fail != nil {
		refuse(v.w, http.StatusBadRequest, fail)
		return
	}
	// 2026-07-28 knows neither sessions nor streams that belong to no request.
	sessions := !mcp.IsModernProtocol(v.version)
	switch {
	case v.r.Method == http.MethodPost:
		h.post(v)
	case v.r.Method == http.MethodGet && sessions:
		h.get(v)
	case v.r.Method == http.MethodDelete && sessions:
		h.delete(v)
	default:
		verbs := "POST"
		if sessions {
			verbs = "GET, POST, DELETE"
		}
		v.w.Header().Set("Allow", verbs)
		refuse(v.w, http.StatusMethodNotAllowed, invalidRequest(fmt.Sprintf("%.20q is not served here; use %s", v.r.Method, verbs)))
	}
}

// headerVersion is the revision named by the headers of a request; "": none.
func headerVersion(r *http.Request) (string, *rpcError) {
	all := r.Header.Values(mcp.HeaderProtocolVersion)
	switch {
	case len(all) == 0:
		return "", nil
	case len(all) > 1:
		return "", invalidRequest("there are several headers MCP-Protocol-Version")
	}
	v := strings.TrimSpace(all[0])
	if v != "" && !mcp.IsModernProtocol(v) && !mcp.IsValidProtocolVersion(v) {
		return "", invalidRequest("unsupported protocol version; supported are " + strings.Join(mcp.ValidProtocolVersions, ", "))
	}
	return v, nil
}

// session is the session a request names, in use: then release it.
func (h *HTTP) session(v *visit) (*session, *rpcError) {
	ids := v.r.Header.Values(headerSession)
	if len(ids) > 1 {
		return nil, invalidRequest("there are several headers Mcp-Session-Id")
	}
	if len(ids) == 0 || ids[0] == "" {
		return nil, invalidRequest("Mcp-Session-Id is missing; begin with initialize, and send the id its answer came with")
	}
	c, fail := h.sessions.find(ids[0], v.principal)
	if c == nil && fail == nil {
		fail = &rpcError{Code: codeNoSession, status: http.StatusNotFound, Message: "This session is not known, or no longer; begin a new one with initialize"}
	}
	return c, fail
}

// delete ends a session.
func (h *HTTP) delete(v *visit) {
	c, fail := h.session(v)
	if fail != nil {
		refuse(v.w, httpStatus(fail, false), fail)
		return
	}
	h.sessions.end(c)
	h.sessions.release(c)
	v.w.WriteHeader(http.StatusNoContent)
}

// accepted says whether the client takes an answer as JSON and as a stream of
// events. One that does not say takes both.
func accepted(r *http.Request) (plain, stream bool) {
	all := r.Header.Values("Accept")
	if len(all) == 0 {
		return true, true
	}
	for _, one := range strings.Split(strings.Join(all, ","), ",") {
		kind, params, err := mime.ParseMediaType(one)
		if q, given := params["q"]; err != nil || given && strings.Trim(q, "0.") == "" {
			continue
		}
		plain = plain || kind == "application/json" || kind == "application/*" || kind == "*/*"
		stream = stream || kind == "text/event-stream" || kind == "text/*" || kind == "*/*"
	}
	return plain, stream
}
