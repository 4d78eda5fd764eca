package bridge

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/tools"
)

// website is a server of mcp-go on loopback, behind what between lets through.
func website(t *testing.T, between func(w http.ResponseWriter, r *http.Request) (handled bool)) (Entry, *mcpserver.MCPServer) {
	t.Helper()
	s := mcpserver.NewMCPServer("site", "1", mcpserver.WithToolCapabilities(true), mcpserver.WithElicitation())
	s.AddTool(mcp.NewTool("echo", mcp.WithString("text")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("echo " + r.GetString("text", "")), nil
	})
	h := mcpserver.NewStreamableHTTPServer(s)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if between == nil || !between(w, r) {
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return Entry{Name: "site", Key: "site", URL: srv.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer x"}, Timeout: time.Minute}, s
}

// oldOnly refuses the revision of 2026-07-28, as servers before it do.
func oldOnly(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.Header.Get("Mcp-Protocol-Version"), "2026") {
		return false
	}
	http.Error(w, "unsupported protocol version", http.StatusBadRequest)
	return true
}

func TestAServerReachedByHTTP(t *testing.T) {
	for name, between := range map[string]func(http.ResponseWriter, *http.Request) bool{"2026-07-28": nil, "before": oldOnly} {
		t.Run(name, func(t *testing.T) {
			e, site := website(t, func(w http.ResponseWriter, r *http.Request) bool {
				assert.Equal(t, "Bearer x", r.Header.Get("Authorization"))
				return between != nil && between(w, r)
			})
			w := newWorld(t, "", e)
			assert.Contains(t, w.search(t, "echo"), "mcp__site__echo")
			assert.Equal(t, "echo hi", w.run(t, "mcp__site__echo", "hi").Text)
			assert.Equal(t, between == nil, w.bridge.servers[0].trying.conn.modern())

			changed := make(chan struct{}, 16)
			w.env.Tools.Watch(func() { changed <- struct{}{} })
			deadline := time.After(20 * time.Second)
			for i := 0; ; i++ { // until its stream of notifications is open, which is told to nobody
				site.AddTool(mcp.NewTool("fresh"+strings.Repeat("x", i)), nil)
				select {
				case <-changed:
					_, ok := w.env.Tools.Known("mcp__site__fresh")
					assert.True(t, ok, "a changed list is followed")
					return
				case <-time.After(200 * time.Millisecond):
				case <-deadline:
					t.Fatal("nothing was heard of the new tool")
				}
			}
		})
	}
}

func TestAForgottenSessionIsBegunAnew(t *testing.T) {
	var forget atomic.Bool
	e, _ := website(t, func(w http.ResponseWriter, r *http.Request) bool {
		if oldOnly(w, r) {
			return true
		}
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") != "" && forget.CompareAndSwap(true, false) {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	})
	w := newWorld(t, "", e)
	require.Equal(t, "echo a", w.run(t, "mcp__site__echo", "a").Text)
	forget.Store(true)
	assert.Equal(t, "echo b", w.run(t, "mcp__site__echo", "b").Text, "the server has not seen the call: it may be sent again")
}

func TestAServerByHTTPThatDoesWrong(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the configured headers went to another server: %v", r.Header)
	}))
	defer elsewhere.Close()
	for _, c := range []struct {
		name    string
		between func(w http.ResponseWriter, r *http.Request) bool
		want    string
	}{
		{"wants a key", func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, `it wants an authorization: put what it expects into "headers"`},
		{"sends us elsewhere", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return true
		}, "another server; put that url into the configuration if it is right"},
		{"sends too much", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"jsonrpc":"`))
			junk := []byte(strings.Repeat("x", 1<<20))
			for range 40 {
				if _, err := w.Write(junk); err != nil {
					return true
				}
			}
			return true
		}, "it sent a message of more than 16 MiB"},
		{"is a web page", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "text/html")
			w.Write([]byte("<h1>hello</h1>"))
			return true
		}, "unexpected content type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, _ := website(t, c.between)
			w := newWorld(t, "", e)
			res := w.run(t, "mcp__site__echo", "")
			assert.True(t, res.IsError)
			assert.Contains(t, res.Text, c.want)
		})
	}
}

func TestANoWebServer(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close()
	w := newWorld(t, "", Entry{Name: "site", Key: "site", URL: srv.URL, Timeout: time.Minute})
	res := w.run(t, "mcp__site__echo", "")
	assert.True(t, res.IsError)
	assert.Contains(t, res.Text, "the server site cannot be used: ")
	assert.Contains(t, res.Text, "refused")
}

func TestAModernServerAsksTheUserOfTheCall(t *testing.T) {
	e, site := website(t, nil)
	site.AddTool(mcp.NewTool("ask"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(r.Params.InputResponses) == 0 {
			b := mcpserver.NewInputRequestBuilder("state")
			return b.Elicit("colour", mcp.ElicitationParams{Message: "Colour?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}}}).ToolResult(), nil
		}
		got, err := json.Marshal(r.Params.InputResponses)
		return mcp.NewToolResultText(r.Params.RequestState + string(got)), err
	})
	w := newWorld(t, "", e)
	ctx := tools.WithElicit(t.Context(), func(context.Context, tools.Question) (tools.Answer, error) {
		return tools.Answer{Action: "accept", Content: json.RawMessage(`{"colour":"blue"}`)}, nil
	})
	text := w.Call(ctx, "mcp__site__ask", nil).Text
	assert.Contains(t, text, "state{")
	assert.Contains(t, text, `"colour":"blue"`)
	assert.Contains(t, w.run(t, "mcp__site__ask", "").Text, `"action":"cancel"`)
}
