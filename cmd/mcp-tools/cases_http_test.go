package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// tellTimeout bounds a request that needs no work.
	tellTimeout = 10 * time.Second
	// closeWait is how soon after the answer the server must end its stream.
	closeWait = 3 * time.Second
	maxBody   = 64 << 20
)

// An httpLink is one client of a server, and its session.
type httpLink struct {
	server    *caseServer
	transport *http.Transport
	token     string
	form      sessionForm

	mu      sync.Mutex
	session string
}

func newHTTPLink(s *caseServer, token string, form sessionForm) *httpLink {
	return &httpLink{server: s, transport: newTransport(), token: token, form: form}
}

// newTransport makes a connection for each request, and asks no proxy.
func newTransport() *http.Transport {
	return &http.Transport{DisableKeepAlives: true, DisableCompression: true}
}

// header is what the request or notification m is sent with.
func (l *httpLink) header(m map[string]any) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if l.token != "" {
		h.Set("Authorization", "Bearer "+l.token)
	}
	method, _ := m["method"].(string)
	if l.form.Era == "modern" {
		h.Set("MCP-Protocol-Version", modernRevision)
		h.Set("Mcp-Method", method)
		if name := named(method, m["params"]); name != "" {
			h.Set("Mcp-Name", name)
		}
		return h
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != "" {
		h.Set("Mcp-Session-Id", l.session)
	}
	if method != "initialize" && l.form.Protocol >= "2025-06-18" {
		h.Set("MCP-Protocol-Version", l.form.Protocol)
	}
	return h
}

// named is what a request is about, where 2026-07-28 wants that in a header.
func named(method string, params any) string {
	key := map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}[method]
	name, _ := dig(params, key).(string)
	return name
}

// do sends one request. No redirect is followed.
func (l *httpLink) do(ctx context.Context, verb string, m map[string]any) (*http.Response, error) {
	var body io.Reader
	if m != nil {
		body = strings.NewReader(compact(m))
	}
	req, err := http.NewRequestWithContext(ctx, verb, "http://"+l.server.address()+"/mcp", body)
	if err != nil {
		return nil, err
	}
	req.Header = l.header(m)
	return l.transport.RoundTrip(req)
}

func (l *httpLink) ask(c *rpcClient, id string, m map[string]any, timeout time.Duration) answer {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	limit := time.AfterFunc(timeout, cancel)
	defer limit.Stop()
	resp, err := l.do(ctx, http.MethodPost, m)
	if err != nil {
		return unanswered(ctx, err)
	}
	defer resp.Body.Close()
	if s := resp.Header.Get("Mcp-Session-Id"); s != "" && m["method"] == "initialize" {
		l.mu.Lock()
		l.session = s
		l.mu.Unlock()
	}
	var a answer
	if isStream(resp) {
		a = l.follow(ctx, c, id, resp.Body, limit)
	} else {
		a = l.whole(ctx, c, id, resp)
	}
	a.status, a.header = resp.StatusCode, resp.Header
	return a
}

func isStream(r *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

// unanswered is why nothing came: it took too long, or the connection failed.
func unanswered(ctx context.Context, err error) answer {
	if ctx.Err() != nil {
		return answer{fault: noAnswer}
	}
	return answer{fault: "closed: " + err.Error()}
}

// whole reads an answer that is one JSON text.
func (l *httpLink) whole(ctx context.Context, c *rpcClient, id string, resp *http.Response) answer {
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return unanswered(ctx, err)
	}
	var m map[string]any
	if unmarshal(b, &m) == nil || resp.StatusCode < 400 && len(b) > 0 {
		c.incoming(b)
	}
	if a, ok, _ := c.take(id); ok {
		return a
	}
	if e, ok := m["error"].(map[string]any); ok && m["id"] == nil {
		return answer{err: e} // the server could not tell which request it was
	}
	return refused(resp.StatusCode, b)
}

// refused is an answer that HTTP gives, and not MCP.
func refused(status int, body []byte) answer {
	return answer{err: map[string]any{"code": "HTTP", "message": fmt.Sprintf("status %d: %.200s", status, body)}}
}

// follow reads a stream to its end, which must come soon after the answer. limit
// ends ctx.
func (l *httpLink) follow(ctx context.Context, c *rpcClient, id string, body io.Reader, limit *time.Timer) answer {
	events := bufio.NewReader(body)
	for {
		data, err := nextEvent(events)
		if errors.Is(err, io.EOF) {
			return answer{fault: "the stream ended without an answer"}
		}
		if err != nil {
			return unanswered(ctx, err)
		}
		c.incoming(data)
		if a, ok, _ := c.take(id); ok {
			limit.Reset(closeWait)
			l.expectEnd(ctx, events)
			return a
		}
	}
}

// expectEnd complains unless the stream ends now.
func (l *httpLink) expectEnd(ctx context.Context, events *bufio.Reader) {
	data, err := nextEvent(events)
	switch {
	case err == nil:
		l.server.c.complain("the stream went on after the answer: %.160q", data)
	case ctx.Err() != nil:
		l.server.c.complain("the stream was still open %v after the answer", closeWait)
	}
}

// nextEvent reads the data of the next event of a stream that has some.
func nextEvent(r *bufio.Reader) ([]byte, error) {
	var data [][]byte
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		rest, ok := bytes.CutPrefix(line, []byte("data:"))
		if rest = bytes.TrimSpace(rest); ok && len(rest) > 0 {
			data = append(data, rest)
		}
		if len(line) == 0 && data != nil {
			return bytes.Join(data, []byte("\n")), nil
		}
	}
}

func (l *httpLink) tell(_ *rpcClient, m map[string]any) answer {
	return l.simple(http.MethodPost, m)
}

// end ends the session.
func (l *httpLink) end() answer { return l.simple(http.MethodDelete, nil) }

// simple sends what is answered by a status alone.
func (l *httpLink) simple(verb string, m map[string]any) answer {
	ctx, cancel := context.WithTimeout(context.Background(), tellTimeout)
	defer cancel()
	resp, err := l.do(ctx, verb, m)
	if err != nil {
		return unanswered(ctx, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return unanswered(ctx, err)
	}
	a := answer{result: map[string]any{}}
	if resp.StatusCode >= 300 || len(b) > 0 {
		a = refused(resp.StatusCode, b)
	}
	a.status, a.header = resp.StatusCode, resp.Header
	return a
}
