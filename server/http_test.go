package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/tools"
)

func TestEveryRevisionIsServedAtOneEndpoint(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{})
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		b := w.begun(version)
		status, said := b.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		assert.Equal(t, http.StatusOK, status, version)
		shows(t, said, `"name":"echo"`)
		status, said = b.say(call(`"c"`, "echo", `{"text":"x"}`))
		assert.Equal(t, http.StatusOK, status, version)
		shows(t, said, `{"jsonrpc":"2.0","id":"c","result":{"content":[{"type":"text","text":"x"}]`)
		status, _ = b.say(`{"jsonrpc":"2.0","method":"notifications/no_such"}`)
		assert.Equal(t, http.StatusAccepted, status, version)
	}
	m := w.alone()
	status, said := m.ask("1", "server/discover", "")
	assert.Equal(t, http.StatusOK, status)
	shows(t, said, `"2026-07-28"`, `"2024-11-05"`)
	status, said = m.ask("2", "tools/list", "")
	assert.Equal(t, http.StatusOK, status)
	shows(t, said, `"name":"echo"`, `"ttlMs":300000`, `"cacheScope":"private"`)
	status, said = m.ask("3", "tools/call", `"name":"echo","arguments":{"text":"x"}`)
	assert.Equal(t, http.StatusOK, status)
	shows(t, said, `"text":"x"`, `"resultType":"complete"`)
}

func TestAnAliasAndAnyCaseNameTheSameTool(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{})
	for _, name := range []string{"say", "SAY", "Echo"} {
		_, said := w.begun("2025-06-18").say(call("1", name, `{"text":"x"}`))
		shows(t, said, `"text":"x"`)
		_, said = w.alone().ask("1", "tools/call", `"name":"`+name+`","arguments":{"text":"x"}`)
		shows(t, said, `"text":"x"`)
	}
	_, said := w.begun("2025-06-18").say(call("1", "no_such", `{}`))
	shows(t, said, `"code":-32602,"message":"Unknown tool: no_such"`)
	status, said := w.alone().ask("1", "tools/call", `"name":"no_such","arguments":{}`)
	assert.Equal(t, http.StatusBadRequest, status)
	shows(t, said, `"code":-32602,"message":"Unknown tool: no_such"`)
}

// TestHeadersAgainstBody: what an intermediary reads in the headers is what is
// done, from 2026-07-28 on.
func TestHeadersAgainstBody(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{})
	meta := func(version string) string {
		return `{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}},"name":"echo","arguments":{}}`
	}
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":` + params + `}`
	}
	version := []string{"MCP-Protocol-Version", "2026-07-28"}
	all := append(version, "Mcp-Method", "tools/call", "Mcp-Name", "echo")
	for _, c := range []struct {
		why    string
		body   string
		header []string
		status int
		code   int
	}{
		{"all of it agrees", call(meta("2026-07-28")), all, 200, 0},
		{"a name in Base64", call(meta("2026-07-28")), append(all, "Mcp-Name", "=?base64?ZWNobw==?="), 200, 0},
		{"no header for the revision", call(meta("2026-07-28")), []string{"Mcp-Method", "tools/call", "Mcp-Name", "echo"}, 400, -32020},
		{"another revision in the header", call(meta("2026-07-28")), append(all, "MCP-Protocol-Version", "2025-06-18"), 400, -32020},
		{"another revision in the body", call(meta("2027-01-01")), all, 400, -32020},
		{"a revision nobody knows", call(meta("2027-01-01")), append(all, "MCP-Protocol-Version", "2027-01-01"), 400, -32022},
		{"no _meta", call(`{"name":"echo"}`), all, 400, -32602},
		{"no params", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, all, 400, -32602},
		{"no capabilities", call(`{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`), all, 400, -32602},
		{"no Mcp-Method", call(meta("2026-07-28")), append(version, "Mcp-Name", "echo"), 400, -32020},
		{"another method", call(meta("2026-07-28")), append(all, "Mcp-Method", "tools/list"), 400, -32020},
		{"a method in other case", call(meta("2026-07-28")), append(all, "Mcp-Method", "TOOLS/CALL"), 400, -32020},
		{"no Mcp-Name", call(meta("2026-07-28")), append(version, "Mcp-Method", "tools/call"), 400, -32020},
		{"another name", call(meta("2026-07-28")), append(all, "Mcp-Name", "hold"), 400, -32020},
		{"an alias is another name", call(meta("2026-07-28")), append(all, "Mcp-Name", "say"), 400, -32020},
		{"a name in broken Base64", call(meta("2026-07-28")), append(all, "Mcp-Name", "=?base64?ZW?="), 400, -32020},
		{"an answer to a request the server cannot have sent", `{"jsonrpc":"2.0","id":7,"result":{}}`, all, 400, -32600},
		{"a method nobody knows", `{"jsonrpc":"2.0","id":7,"method":"no/such","params":` + meta("2026-07-28") + `}`, append(all, "Mcp-Method", "no/such"), 404, -32601},
		{"a method of the revisions before", `{"jsonrpc":"2.0","id":7,"method":"ping","params":` + meta("2026-07-28") + `}`, append(all, "Mcp-Method", "ping"), 404, -32601},
	} {
		t.Run(c.why, func(t *testing.T) {
			status, said := w.client().say(c.body, c.header...)
			assert.Equal(t, c.status, status)
			require.Len(t, said, 1)
			var m struct {
				ID    json.RawMessage
				Error struct {
					Code int
					Data struct {
						Supported []string
						Requested string
					}
				}
			}
			require.NoError(t, json.Unmarshal([]byte(said[0]), &m), said[0])
			assert.Equal(t, c.code, m.Error.Code, said[0])
			if !strings.Contains(c.body, "result") {
				assert.JSONEq(t, "7", string(m.ID))
			}
			if c.code == -32022 {
				assert.Contains(t, m.Error.Data.Supported, "2026-07-28")
				assert.Equal(t, "2027-01-01", m.Error.Data.Requested)
			}
		})
	}
}

func TestMessagesThatAreNone(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{})
	b := w.begun("2025-06-18")
	for _, c := range []struct {
		why    string
		body   string
		header []string
		status int
		says   string
	}{
		{"no JSON", `{"jsonrpc"`, nil, 400, `"id":null,"error":{"code":-32700`},
		{"nothing", ``, nil, 400, `-32700`},
		{"no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", nil, 400, "not UTF-8"},
		{"no object", `"ping"`, nil, 400, "-32600"},
		{"a member twice", `{"jsonrpc":"2.0","id":9,"method":"ping","method":"tools/list"}`, nil, 400, "names a member twice"},
		{"a member twice, deep inside", `{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":[{"b":1,"\u0062":2}]}}`, nil, 400, "names a member twice"},
		{"no method", `{"jsonrpc":"2.0","id":9}`, nil, 400, `"id":9,"error":{"code":-32600`},
		{"another JSON-RPC", `{"jsonrpc":"1.0","id":9,"method":"ping"}`, nil, 400, `"id":9,"error":{"code":-32600`},
		{"form data", `{}`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "Content-Type must be application/json"},
		{"what a page may send unasked", `{}`, []string{"Content-Type", "text/plain"}, 415, "Content-Type must be application/json"},
		{"another encoding", `{}`, []string{"Content-Type", "application/json; charset=utf-16"}, 415, "Content-Type"},
		{"compressed", `{}`, []string{"Content-Encoding", "gzip"}, 415, "compressed"},
		{"a client that takes nothing we have", `{"jsonrpc":"2.0","id":9,"method":"ping"}`, []string{"Accept", "text/html"}, 406, "Accept must name"},
		{"a revision nobody knows", `{"jsonrpc":"2.0","id":9,"method":"ping"}`, []string{"MCP-Protocol-Version", "1999-01-01"}, 400, "unsupported protocol version"},
		{"too long", `{"jsonrpc":"2.0","id":9,"method":"` + strings.Repeat("x", maxMessage) + `"}`, nil, 413, "longer than 8388608 bytes"},
		{"no session", `{"jsonrpc":"2.0","id":9,"method":"ping"}`, []string{"Mcp-Session-Id", ""}, 400, `"id":9,"error":{"code":-32600,"message":"Invalid request: Mcp-Session-Id is missing`},
		{"a made-up session", `{"jsonrpc":"2.0","id":9,"method":"ping"}`, []string{"Mcp-Session-Id", "1"}, 404, `"id":9,"error":{"code":-32001`},
		{"a batch in another revision", `[{"jsonrpc":"2.0","id":9,"method":"ping"}]`, nil, 400, "batches belong to revision 2025-03-26"},
		{"an upper-case charset is fine", `{"jsonrpc":"2.0","id":9,"method":"ping"}`, []string{"Content-Type", "application/json; charset=UTF-8"}, 200, `"result":{}`},
	} {
		t.Run(c.why, func(t *testing.T) {
			status, said := b.say(c.body, c.header...)
			assert.Equal(t, c.status, status)
			shows(t, said, c.says)
		})
	}
}

func TestBatch(t *testing.T) {
	f := newFixture()
	b := serveWeb(t, f.server(), HTTPOptions{}).begun("2025-03-26")
	status, said := b.say(`[` + strings.TrimSpace(call("1", "mark", `{"text":"a"}`)) + `,` + initialized + `,` + strings.TrimSpace(call("2", "mark", `{"text":"b"}`)) + `]`)
	assert.Equal(t, http.StatusOK, status)
	require.Len(t, said, 1)
	var answers []struct{ ID int }
	require.NoError(t, json.Unmarshal([]byte(said[0]), &answers))
	assert.Len(t, answers, 2)
	assert.Equal(t, []string{"a", "b"}, f.marks())

	status, said = b.say(`[` + initialized + `]`)
	assert.Equal(t, http.StatusAccepted, status)
	assert.Empty(t, said)
}

// TestProgressComesOnTheStreamOfItsCall: several calls at once, with the same
// token even, and every one is told of itself, before its answer.
func TestProgressComesOnTheStreamOfItsCall(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{})
	b := w.begun("2025-06-18")
	m := w.alone()
	done := make(chan []string)
	const calls = 8
	for i := range calls {
		go func() {
			args := fmt.Sprintf(`"name":"steps","arguments":{"count":%d}`, i+1)
			if i%2 == 0 {
				_, said := b.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"_meta":{"progressToken":1}}}`, i, args))
				done <- said
				return
			}
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s}}`, args, strings.Replace(modernMeta, `{`, `{"progressToken":1,`, 1))
			_, said := m.say(body, "Mcp-Method", "tools/call", "Mcp-Name", "steps")
			done <- said
		}()
	}
	totals := map[float64]int{}
	for range calls {
		said := <-done
		require.NotEmpty(t, said)
		assert.Contains(t, said[len(said)-1], `"text":"stepped"`)
		for i, line := range said[:len(said)-1] {
			var n struct {
				Method string
				Params struct{ Progress, Total float64 }
			}
			require.NoError(t, json.Unmarshal([]byte(line), &n))
			assert.Equal(t, "notifications/progress", n.Method)
			if i == len(said)-2 {
				assert.Equal(t, n.Params.Total, n.Params.Progress, "the last is told before the answer")
				totals[n.Params.Total]++
			}
		}
	}
	assert.Len(t, totals, calls, "each call its own")
}

// revealing is a tool that makes the deferred tool visible.
func revealing() []tools.Tool {
	type none struct{}
	return []tools.Tool{
		tools.New(tools.Tool{Name: "rare", Description: "Rare.", Deferred: true}, func(context.Context, *tools.Session, none) (tools.Output, error) {
			return tools.Output{Text: "rare"}, nil
		}),
		tools.New(tools.Tool{Name: "reveal", Description: "Reveals."}, func(ctx context.Context, s *tools.Session, _ none) (tools.Output, error) {
			for _, t := range s.Deferred() {
				s.Activate(ctx, t)
			}
			return tools.Output{Text: "revealed"}, nil
		}),
	}
}

func TestListChangedGoesToTheSessionOfTheCallBeforeItsAnswer(t *testing.T) {
	f := newFixture(revealing()...)
	f.env.HideDeferred = true
	w := serveWeb(t, f.server(), HTTPOptions{})
	one, other := w.begun("2025-06-18"), w.begun("2025-06-18")
	listens := newEvents(other.do("GET", "/mcp", "").Body)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

	_, said := one.say(call("2", "reveal", "{}"))
	require.Len(t, said, 2)
	assert.Equal(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, said[0])
	assert.Contains(t, said[1], `"text":"revealed"`)
	_, said = one.say(list)
	shows(t, said, `"name":"rare"`)
	_, said = other.say(list)
	assert.NotContains(t, said[0], `"name":"rare"`)

	// A client that takes no stream with its answer gets it on its own.
	_, said = other.say(call("3", "reveal", "{}"), "Accept", "application/json")
	shows(t, said, `"text":"revealed"`)
	note, ok := listens.next()
	require.True(t, ok)
	assert.Equal(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, note)

	m := w.alone()
	_, said = m.ask("4", "tools/call", `"name":"reveal","arguments":{}`)
	shows(t, said, `"text":"revealed"`)
	_, said = m.ask("5", "tools/list", "")
	assert.NotContains(t, said[0], `"name":"rare"`, "the same for everybody, always")
}

func TestCancellationReachesOnlyTheOwnSession(t *testing.T) {
	f := newFixture()
	w := serveWeb(t, f.server(), HTTPOptions{})
	mine, other, m := w.begun("2025-06-18"), w.begun("2025-06-18"), w.alone()
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`
	answers := make(chan []string, 1)
	go func() {
		_, said := mine.say(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"hold","arguments":{"text":"a"}}}`)
		answers <- said
	}()
	awaitRunning(t, w, 1)
	for _, b := range []*browser{other, m} {
		status, _ := b.say(cancel)
		assert.Equal(t, http.StatusAccepted, status)
	}
	close(f.gate("a"))
	shows(t, <-answers, `"text":"held a"`)

	go func() {
		r := mine.post(call("5", "hold", `{"text":"b"}`))
		assert.Equal(t, http.StatusAccepted, r.StatusCode, "a cancelled request has no answer")
		answers <- messages(t, r)
	}()
	awaitRunning(t, w, 1)
	_, _ = mine.say(cancel)
	assert.Empty(t, <-answers)
	awaitRunning(t, w, 0)
	assert.Equal(t, []string{"cancelled b"}, f.marks())
}

// awaitRunning waits until n requests are in flight.
func awaitRunning(t *testing.T, w *web, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return w.h.loads.calls.count() == n }, patience, time.Millisecond)
}

func TestAClientThatHangsUp(t *testing.T) {
	f := newFixture()
	w := serveWeb(t, f.server(), HTTPOptions{})
	hangUp := func(b *browser, body string, pairs ...string) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := b.request(ctx, "POST", "/mcp", body, pairs...)
			ended <- err
		}()
		awaitRunning(t, w, 1)
		cancel()
		require.Error(t, <-ended)
	}
	// Before 2026-07-28 losing the connection is not cancelling.
	b := w.begun("2025-06-18")
	hangUp(b, call("1", "hold", `{"text":"a"}`))
	status, _ := b.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	assert.Equal(t, http.StatusOK, status)
	assert.Empty(t, f.marks())
	close(f.gate("a"))
	awaitRunning(t, w, 0)
	assert.Empty(t, f.marks())

	hangUp(w.alone(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold","arguments":{"text":"b"},`+modernMeta+`}}`, "Mcp-Method", "tools/call", "Mcp-Name", "hold")
	awaitRunning(t, w, 0)
	assert.Equal(t, []string{"cancelled b"}, f.marks())
}

func TestDeleteEndsASessionAndItsCalls(t *testing.T) {
	f := newFixture()
	w := serveWeb(t, f.server(), HTTPOptions{})
	b := w.begun("2025-06-18")
	stream := newEvents(b.do("GET", "/mcp", "").Body)
	answers := make(chan []string, 1)
	go func() {
		_, said := b.say(call("1", "hold", `{"text":"a"}`))
		answers <- said
	}()
	awaitRunning(t, w, 1)
	assert.Equal(t, http.StatusNoContent, b.do("DELETE", "/mcp", "").StatusCode)
	shows(t, <-answers, "cancelled")
	_, more := stream.next()
	assert.False(t, more)
	for _, method := range []string{"POST", "GET", "DELETE"} {
		assert.Equal(t, http.StatusNotFound, b.do(method, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`).StatusCode, method)
	}
}

func TestThereAreNoSessionsIn20260728(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{})
	m := w.alone("Mcp-Session-Id", "made up")
	for _, method := range []string{"GET", "DELETE"} {
		r := m.do(method, "/mcp", "")
		assert.Equal(t, http.StatusMethodNotAllowed, r.StatusCode)
		assert.Equal(t, "POST", r.Header.Get("Allow"))
	}
	status, said := m.ask("1", "tools/list", "")
	assert.Equal(t, http.StatusOK, status, "a session id is ignored")
	require.Len(t, said, 1)
	assert.Zero(t, w.h.sessions.count())
}
