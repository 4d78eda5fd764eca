package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	tokenA = "tok-A-0123456789abcdef0123456789abcdef"
	tokenB = "tok-B-0123456789abcdef0123456789abcdef"
)

func twoPrincipals(t *testing.T) *Tokens {
	t.Helper()
	tokens, err := ParseTokens(strings.NewReader("alice:" + tokenA + "\nbob:" + tokenB + "\n"))
	require.NoError(t, err)
	return tokens
}

func TestASessionBelongsToItsPrincipal(t *testing.T) {
	f := newFixture()
	w := serveWeb(t, f.server(), HTTPOptions{Tokens: twoPrincipals(t)})
	alice := w.begun("2025-06-18", "Authorization", "Bearer "+tokenA)
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for token, want := range map[string]int{tokenA: http.StatusOK, tokenB: http.StatusNotFound, tokenA + "x": http.StatusUnauthorized} {
		status, said := alice.say(ping, "Authorization", "Bearer "+token)
		assert.Equal(t, want, status)
		require.Len(t, said, 1)
	}
	assert.Equal(t, http.StatusNotFound, alice.do("DELETE", "/mcp", "", "Authorization", "Bearer "+tokenB).StatusCode)
	status, _ := alice.say(ping)
	assert.Equal(t, http.StatusOK, status, "bob could not end it")
}

func TestTooManySessionsAreRefusedAtOnceForOnePrincipalOnly(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{Tokens: twoPrincipals(t)})
	alice := w.client("Authorization", "Bearer "+tokenA)
	for range maxSessions / 2 {
		require.Equal(t, http.StatusOK, alice.post(initialize("2025-06-18", "{}")).StatusCode)
	}
	r := alice.post(initialize("2025-06-18", "{}"))
	assert.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
	assert.Equal(t, "60", r.Header.Get("Retry-After"))
	assert.Empty(t, r.Header.Get("Mcp-Session-Id"))
	shows(t, messages(t, r), `"id":"init","error":{"code":-32000,"message":"Server busy: 500 sessions are open`)
	w.begun("2025-06-18", "Authorization", "Bearer "+tokenB)
}

func TestAFailedInitializeOpensNoSession(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{})
	r := w.client().post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}`)
	assert.Empty(t, r.Header.Get("Mcp-Session-Id"))
	shows(t, messages(t, r), `"id":1,"error"`)
	assert.Zero(t, w.h.sessions.count())
}

func TestTooManyRequestsAreRefusedAtOnce(t *testing.T) {
	f := newFixture()
	w := serveWeb(t, f.server(), HTTPOptions{})
	var held sync.WaitGroup
	hold := func(b *browser, n int) {
		for i := range n {
			held.Go(func() { b.say(call(fmt.Sprint(i), "hold", `{"text":"a"}`)) })
		}
	}
	var all []*browser
	for i := range maxAllRunning / maxSessionRunning {
		b := w.begun("2025-06-18")
		all = append(all, b)
		hold(b, maxSessionRunning)
		awaitRunning(t, w, (i+1)*maxSessionRunning)
		if i > 0 {
			continue
		}
		r := b.post(call("900", "echo", `{}`))
		assert.Equal(t, http.StatusTooManyRequests, r.StatusCode)
		assert.Equal(t, "1", r.Header.Get("Retry-After"))
		shows(t, messages(t, r), `"id":900,"error":{"code":-32000,"message":"Server busy: 64 requests of this session are running`)
	}
	late := w.begun("2025-06-18")
	r := late.post(call("901", "echo", `{}`))
	assert.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
	shows(t, messages(t, r), "512 requests of all clients are running")
	status, said := w.alone().ask("1", "tools/call", `"name":"echo","arguments":{}`)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	shows(t, said, "512 requests of all clients are running")
	status, _ = late.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	assert.Equal(t, http.StatusOK, status, "what takes no time is always answered")

	_, _ = all[0].say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
	awaitRunning(t, w, maxAllRunning-1)
	_, said = late.say(call("902", "echo", `{"text":"x"}`))
	shows(t, said, `"text":"x"`)
	close(f.gate("a"))
	held.Wait()
}

// quietRequest lets h answer a request without a network.
func quietRequest(h *HTTP, body string, header ...string) (*httptest.ResponseRecorder, <-chan struct{}) {
	r := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.ServeHTTP(w, r)
	}()
	return w, done
}

// TestALongCallKeepsItsStreamAlive: proxies, and fetch in Node after five
// minutes, take a connection on which nothing comes for dead.
func TestALongCallKeepsItsStreamAlive(t *testing.T) {
	for accept, want := range map[string]struct {
		kind  string
		pings int
	}{
		"application/json, text/event-stream": {"text/event-stream", 4},
		"application/json":                    {"application/json", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture()
			h := f.server().NewHTTP(HTTPOptions{})
			w, done := quietRequest(h, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold","arguments":{"text":"a"},`+modernMeta+`}}`,
				"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "hold", "Accept", accept)
			time.Sleep(4*keepAlive + time.Second)
			synctest.Wait()
			close(f.gate("a"))
			<-done
			assert.Equal(t, want.kind, w.Header().Get("Content-Type"))
			assert.Equal(t, want.pings, strings.Count(w.Body.String(), ":\n\n"))
			assert.Contains(t, w.Body.String(), `"text":"held a"`)
			h.cancel(nil)
		})
	}
}

func TestHealth(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{Tokens: twoPrincipals(t)})
	b := w.client()
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
		r := b.do("GET", path, "")
		assert.Equal(t, http.StatusOK, r.StatusCode, "without a token")
		assert.Equal(t, []string{strings.TrimSpace(want)}, messages(t, r))
		assert.Equal(t, http.StatusMethodNotAllowed, b.do("POST", path, "").StatusCode)
	}
	w.h.loads.calls.close()
	assert.Equal(t, http.StatusOK, b.do("GET", "/healthz", "").StatusCode)
	assert.Equal(t, http.StatusServiceUnavailable, b.do("GET", "/readyz", "").StatusCode)
}

func TestMetricsAreCountedByToolAndNeedTheToken(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{Tokens: twoPrincipals(t), Metrics: true})
	assert.Equal(t, http.StatusUnauthorized, w.client().do("GET", "/metrics", "").StatusCode)
	b := w.begun("2025-06-18", "Authorization", "Bearer "+tokenA)
	b.say(call("1", "echo", `{}`))
	b.say(call("2", "boom", `{}`))
	said := messages(t, b.do("GET", "/metrics", ""))
	require.Len(t, said, 1)
	for _, line := range []string{
		`mcp_tools_calls_total{tool="echo"} 1`, `mcp_tools_calls_total{tool="boom"} 1`, `mcp_tools_call_errors_total{tool="boom"} 1`,
		`mcp_tools_call_duration_seconds_count{tool="echo"} 1`, "mcp_tools_sessions 1", "mcp_tools_jobs 0", "go_goroutines ",
	} {
		assert.Contains(t, said[0], line)
	}
	assert.NotContains(t, said[0], `mcp_tools_call_errors_total{tool="echo"}`)

	none := serveWeb(t, newFixture().server(), HTTPOptions{})
	assert.Equal(t, http.StatusNotFound, none.client().do("GET", "/metrics", "").StatusCode)
}
