package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// post takes one message, or a batch of them.
func (h *HTTP) post(v *visit) {
	r := v.r
	plain, stream := accepted(r)
	if !plain && !stream {
		refuse(v.w, http.StatusNotAcceptable, invalidRequest("Accept must name application/json and text/event-stream"))
		return
	}
	text, taken, fail := h.body(v)
	taking := sync.OnceFunc(func() { h.bodies.give(taken) })
	defer taking()
	if fail == nil {
		text = trimText(text)
		fail = checkText(text)
	}
	if fail == nil && repeatsMember(text) {
		fail = invalidRequest("an object names a member twice")
	}
	p := newPost(v.w, plain, stream, mcp.IsModernProtocol(v.version))
	defer func() {
		if p.silent() {
			panic(http.ErrAbortHandler)
		}
	}()
	p.begun = taking // from then on the message is counted among those in flight
	p.gone = func() bool { return r.Context().Err() != nil || h.conns.gone(r) }
	switch {
	case fail != nil:
		p.reply(refusal(nil, fail))
		return
	case p.gone():
		// What is begun now could be overtaken by what its client asks next, and
		// happen after that was told that it has not.
		h.srv.log.Info("a message was dropped: its client has hung up", "remote", r.RemoteAddr)
		return
	}
	if text[0] == '[' && !p.modern {
		h.withSession(v, p, nil, func(c *session) {
			c.batch(text, p.origin())
			p.wait(r.Context())
		})
		return
	}
	m, fail := decode(text)
	p.modern = p.modern || m.modern()
	if fail == nil && p.modern {
		fail = checkModern(m, v.version, r.Header)
	}
	switch {
	case fail != nil && m.kind != isRequest:
		p.reply(refusal(nil, fail))
	case fail != nil:
		p.reply(refusal(m.id, fail))
	case p.modern:
		h.alone(v, p, m)
	case m.kind == isRequest && m.method == string(mcp.MethodInitialize):
		h.initialize(v, p, m)
	default:
		h.withSession(v, p, m.id, func(c *session) {
			c.dispatch(m, p.origin())
			p.wait(r.Context())
		})
	}
}

// withSession does work on the session that the message names.
func (h *HTTP) withSession(v *visit, p *post, id json.RawMessage, work func(*session)) {
	c, fail := h.session(v)
	if fail != nil {
		p.reply(refusal(id, fail))
		return
	}
	defer h.sessions.release(c)
	work(c)
}

// initialize begins a session, unless the client says something we cannot answer.
func (h *HTTP) initialize(v *visit, p *post, m *incoming) {
	c := h.sessions.candidate(v.principal)
	c.dispatch(m, origin{send: p.send, reply: func(answer response) bool {
		if answer.fail != nil {
			c.close(context.Canceled)
			return p.reply(answer)
		}
		id, fail := h.sessions.open(c)
		if fail != nil {
			c.log.Info("a session was refused", "reason", fail.Message)
			c.close(context.Canceled)
			return p.reply(refusal(m.id, fail))
		}
		defer h.sessions.release(c)
		c.log.Debug("a session was opened", "remote", v.r.RemoteAddr)
		p.w.Header().Set(headerSession, id)
		return p.reply(answer)
	}})
	p.wait(v.r.Context())
}

// alone serves a message of 2026-07-28, which no session stands behind. Closing
// the answer's stream cancels it; a notification that wants to is dropped, since
// anybody could send it.
func (h *HTTP) alone(v *visit, p *post, m *incoming) {
	if m.kind == isNotification {
		p.reply(response{})
		return
	}
	log := h.srv.log
	if v.principal != "" {
		log = log.With("principal", v.principal)
	}
	listens := m.method == string(mcp.MethodSubscriptionsListen)
	c := h.srv.newPeer(v.r.Context(), peerOptions{stateless: true, principal: v.principal, log: log, load: h.loads.of(v.principal, listens)})
	stop := context.AfterFunc(h.base, func() { c.cancel(context.Cause(h.base)) })
	defer stop()
	defer c.close(context.Canceled)
	if listens {
		h.listening.Store(c, nil)
		defer h.listening.Delete(c)
	}
	c.dispatch(m, p.origin())
	p.wait(v.r.Context())
}

// checkModern refuses what 2026-07-28 wants of a message over HTTP and is not
// there: what its headers say must be what it says.
func checkModern(m *incoming, version string, header http.Header) *rpcError {
	mismatch := func(format string, a ...any) *rpcError {
		return &rpcError{Code: mcp.HEADER_MISMATCH, Message: "Header mismatch: " + fmt.Sprintf(format, a...)}
	}
	said := m.p.protocolVersion
	switch {
	case m.kind == isResponse:
		return invalidRequest("the server asks nothing in this revision, so there is nothing to answer")
	case m.kind == isNotification:
		return nil
	case said == "" && !mcp.IsValidProtocolVersion(version):
		return invalidRequest("the header MCP-Protocol-Version names no revision that is known; supported are " + strings.Join(mcp.ValidProtocolVersions, ", "))
	case version == "":
		return mismatch("the header MCP-Protocol-Version is missing")
	case said == "":
		return invalidParams("missing or invalid _meta field " + mcp.MetaKeyProtocolVersion)
	case said != version:
		return mismatch("MCP-Protocol-Version is %.40q, but _meta says %.40q", version, said)
	case !mcp.IsValidProtocolVersion(said):
		e := mcp.UnsupportedProtocolVersionError{Version: said, Supported: mcp.ValidProtocolVersions}.JSONRPCError().Error
		return &rpcError{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	method := header.Values(mcp.HeaderMethod)
	switch {
	case len(method) != 1:
		return mismatch("the header Mcp-Method must be there once")
	case method[0] != m.method:
		return mismatch("Mcp-Method is %.80q, but the message says %.80q", method[0], m.method)
	case !mcp.MethodRequiresNameHeader(mcp.MCPMethod(m.method)):
		return nil
	}
	names := header.Values(mcp.HeaderName)
	if len(names) != 1 {
		return mismatch("the header Mcp-Name must be there once")
	}
	name, ok := mcp.DecodeHeaderValue(strings.TrimSpace(names[0]))
	if !ok {
		return mismatch("Mcp-Name is not valid Base64")
	}
	if want := m.p.subject(m.method); name != want {
		return mismatch("Mcp-Name is %.80q, but the message says %.80q", name, want)
	}
	return nil
}
