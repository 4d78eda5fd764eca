package server

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// web is a server on a loopback address.
type web struct {
	t     *testing.T
	h     *HTTP
	url   string
	stop  context.CancelFunc
	ended chan error
}

func serveWeb(t *testing.T, s *Server, o HTTPOptions) *web {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	w := &web{t: t, h: s.NewHTTP(o), url: "http://" + l.Addr().String(), stop: stop, ended: make(chan error, 1)}
	go func() { w.ended <- w.h.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		select {
		case <-w.ended:
		case <-time.After(patience):
			t.Error("Serve did not return")
		}
	})
	return w
}

// browser is one HTTP client.
type browser struct {
	*web
	header http.Header // of every request
	http   *http.Client
}

func (w *web) client(pairs ...string) *browser {
	b := &browser{web: w, header: http.Header{}, http: &http.Client{Transport: &http.Transport{}, Timeout: patience}}
	b.header.Set("Content-Type", "application/json")
	b.header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(pairs); i += 2 {
		b.header.Set(pairs[i], pairs[i+1])
	}
	w.t.Cleanup(b.http.CloseIdleConnections)
	return b
}

// begun is a client with a session of a revision before 2026-07-28.
func (w *web) begun(version string, pairs ...string) *browser {
	w.t.Helper()
	b := w.client(pairs...)
	r := b.post(initialize(version, "{}"))
	require.Equal(w.t, http.StatusOK, r.StatusCode)
	id := r.Header.Get("Mcp-Session-Id")
	require.NotEmpty(w.t, id)
	b.header.Set("Mcp-Session-Id", id)
	b.header.Set("MCP-Protocol-Version", version)
	status, _ := b.say(initialized)
	require.Equal(w.t, http.StatusAccepted, status)
	return b
}

// alone is a client of 2026-07-28.
func (w *web) alone(pairs ...string) *browser {
	return w.client(append([]string{"MCP-Protocol-Version", "2026-07-28"}, pairs...)...)
}

func (b *browser) request(ctx context.Context, method, path, body string, pairs ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, b.url+path, strings.NewReader(body))
	require.NoError(b.t, err)
	r.Header = b.header.Clone()
	for i := 0; i < len(pairs); i += 2 {
		r.Header.Set(pairs[i], pairs[i+1])
	}
	return b.http.Do(r)
}

func (b *browser) do(method, path, body string, pairs ...string) *http.Response {
	b.t.Helper()
	r, err := b.request(b.t.Context(), method, path, body, pairs...)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { r.Body.Close() })
	return r
}

func (b *browser) post(body string, pairs ...string) *http.Response {
	b.t.Helper()
	return b.do("POST", "/mcp", body, pairs...)
}

// say posts a message and returns the status and all that is said back, a line
// for each message.
func (b *browser) say(body string, pairs ...string) (int, []string) {
	b.t.Helper()
	r := b.post(body, pairs...)
	return r.StatusCode, messages(b.t, r)
}

// ask posts a request of 2026-07-28.
func (b *browser) ask(id, method, params string, pairs ...string) (int, []string) {
	b.t.Helper()
	var p struct{ Name string }
	require.NoError(b.t, json.Unmarshal([]byte("{"+params+"}"), &p))
	pairs = append([]string{"Mcp-Method", method}, pairs...)
	if p.Name != "" {
		pairs = append([]string{"Mcp-Name", p.Name}, pairs...)
	}
	if params != "" {
		params += ","
	}
	return b.say(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":{`+params+modernMeta+`}}`, pairs...)
}

// messages reads an answer to its end.
func messages(t *testing.T, r *http.Response) []string {
	t.Helper()
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		if len(body) == 0 {
			return nil
		}
		return []string{strings.TrimSuffix(string(body), "\n")}
	}
	var all []string
	for e := newEvents(r.Body); ; {
		m, ok := e.next()
		if !ok {
			return all
		}
		all = append(all, m)
	}
}

// events reads a stream.
type events struct{ scan *bufio.Scanner }

func newEvents(body io.Reader) *events {
	s := bufio.NewScanner(body)
	s.Buffer(nil, 1<<24)
	return &events{s}
}

// next is the data of the next event; comments are skipped.
func (e *events) next() (string, bool) {
	for e.scan.Scan() {
		if data, ok := strings.CutPrefix(e.scan.Text(), "data: "); ok {
			return data, true
		}
	}
	return "", false
}

// shows asserts that text is part of the only message.
func shows(t *testing.T, all []string, parts ...string) {
	t.Helper()
	require.Len(t, all, 1)
	for _, part := range parts {
		assert.Contains(t, all[0], part)
	}
}
