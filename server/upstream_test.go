package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/tools"
)

// passing is a tool of another server that gives back what run does.
func passing(name string, run func(context.Context) (tools.Output, error)) *tools.Tool {
	t := tools.NewRaw(tools.Tool{Name: name, Description: "Of another server.", External: true, Lane: strings.Join(strings.SplitN(name, "__", 3)[:2], "__")},
		json.RawMessage(`{"type":"object"}`), func(ctx context.Context, _ *tools.Session, _ json.RawMessage) (tools.Output, error) { return run(ctx) })
	return &t
}

func asking(ctx context.Context) (tools.Output, error) {
	ask := tools.ElicitOf(ctx)
	if ask == nil {
		return tools.Output{Text: "nobody to ask"}, nil
	}
	a, err := ask(ctx, tools.Question{Message: "Colour?", Schema: json.RawMessage(`{"type":"object","properties":{}}`)})
	return tools.Output{Text: a.Action + string(a.Content)}, err
}

func TestAServerThatHangsHoldsUpOnlyItsOwnCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.env.Tools.SetBridged([]*tools.Tool{
			passing("mcp__slow__hang", func(ctx context.Context) (tools.Output, error) {
				<-f.gate("hang")
				return tools.Output{Text: "late"}, nil
			}),
			passing("mcp__slow__next", func(context.Context) (tools.Output, error) { return tools.Output{Text: "next"}, nil }),
			passing("mcp__quick__do", func(context.Context) (tools.Output, error) { return tools.Output{Text: "done"}, nil }),
		})
		w := dial(t, f.server())
		w.send(initialize("2025-11-25", "{}") + initialized)
		w.got()
		w.send(call("1", "mcp__slow__hang", "{}") + call("2", "mcp__slow__next", "{}") + call("3", "mcp__quick__do", "{}") + call("4", "mark", `{"text":"ours"}`))
		got := w.got()
		require.Len(t, got, 2, "what is not of that server is run and answered")
		all := strings.Join(got, "\n")
		assert.Contains(t, all, `"id":3,`)
		assert.Contains(t, all, `"id":4,`)
		close(f.gate("hang"))
		got = w.got()
		require.Len(t, got, 2)
		assert.Contains(t, got[0], `"text":"late"`)
		assert.Contains(t, got[1], `"text":"next"`)
		w.in.Close()
		require.NoError(t, w.end())
	})
}

func TestAChangedListIsToldToWhomItIsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.env.HideDeferred = true
		s := f.server()
		listed, silent := dial(t, s), dial(t, s)
		for _, w := range []*wire{listed, silent} {
			w.send(initialize("2025-11-25", "{}") + initialized)
			w.got()
		}
		list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
		listed.send(list)
		listed.got()
		tool := passing("mcp__a__new", asking)
		f.env.Tools.SetBridged([]*tools.Tool{tool})
		require.Equal(t, []string{`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`}, listed.got())
		assert.Empty(t, silent.got(), "it knows no list")

		f.env.Tools.SetBridged([]*tools.Tool{passing("mcp__a__newer", asking)})
		assert.Empty(t, listed.got(), "it was told, and has not asked since")
		listed.send(list)
		listed.got()
		deferred := *passing("mcp__a__rare", asking)
		deferred.Deferred = true
		newer, _ := f.env.Tools.Known("mcp__a__newer")
		f.env.Tools.SetBridged([]*tools.Tool{newer, &deferred})
		assert.Empty(t, listed.got(), "what is not listed changes no list")
		for _, w := range []*wire{listed, silent} {
			w.in.Close()
			require.NoError(t, w.end())
		}
		assert.Empty(t, s.peers)
	})
}

func TestTheListOf20260728NeverChangesByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		w := dial(t, f.server())
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}` + "\n")
		w.got()
		f.env.Tools.SetBridged([]*tools.Tool{passing("mcp__a__new", asking)})
		assert.Empty(t, w.got())
		w.in.Close()
		require.NoError(t, w.end())
	})
}

func TestTheUserIsAskedInTheMiddleOfACall(t *testing.T) {
	ask := `{"jsonrpc":"2.0","id":"...","method":"elicitation/create","params":{"message":"Colour?","requestedSchema":{"type":"object","properties":{}}}}`
	for _, c := range []struct {
		name, version, caps, want string
	}{
		{"a client that can", "2025-11-25", `{"elicitation":{}}`, `accept{"c":"blue"}`},
		{"one that did not say so", "2025-11-25", `{}`, "nobody to ask"},
		{"a revision that knows no questions", "2025-03-26", `{"elicitation":{}}`, "nobody to ask"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture()
			f.env.Tools.SetBridged([]*tools.Tool{passing("mcp__a__ask", asking)})
			w := dial(t, f.server())
			w.send(initialize(c.version, c.caps) + initialized)
			w.got()
			w.send(call("7", "mcp__a__ask", "{}"))
			got := w.got()
			require.Len(t, got, 1, c.name)
			if c.want[0] == 'a' {
				var q struct{ ID string }
				require.NoError(t, json.Unmarshal([]byte(got[0]), &q))
				assert.Equal(t, strings.Replace(ask, "...", q.ID, 1), got[0])
				w.send(`{"jsonrpc":"2.0","id":"` + q.ID + `","result":{"action":"accept","content":{"c":"blue"}}}` + "\n")
				got = w.got()
				require.Len(t, got, 1, c.name)
			}
			text, err := json.Marshal(c.want)
			require.NoError(t, err)
			assert.Contains(t, got[0], string(text), c.name)
			w.in.Close()
			require.NoError(t, w.end())
		})
	}
}

func TestAQuestionEndsWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.env.Tools.SetBridged([]*tools.Tool{passing("mcp__a__ask", asking)})
		w := dial(t, f.server())
		w.send(initialize("2025-11-25", `{"elicitation":{}}`) + initialized)
		w.got()
		w.send(call("7", "mcp__a__ask", "{}"))
		require.Len(t, w.got(), 1)
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}` + "\n")
		got := w.got()
		require.Len(t, got, 1, "the question is taken back, the call not answered")
		assert.Contains(t, got[0], `"method":"notifications/cancelled"`)
		w.in.Close()
		require.NoError(t, w.end())
	})
}

func TestTheUserBehindAWebClientIsAskedOnTheStreamOfTheCall(t *testing.T) {
	f := newFixture()
	f.env.Tools.SetBridged([]*tools.Tool{passing("mcp__a__ask", asking)})
	w := serveWeb(t, f.server(), HTTPOptions{})
	b := w.client()
	r := b.post(initialize("2025-11-25", `{"elicitation":{}}`))
	b.header.Set("Mcp-Session-Id", r.Header.Get("Mcp-Session-Id"))
	b.header.Set("MCP-Protocol-Version", "2025-11-25")
	b.say(initialized)

	stream := newEvents(b.post(call("7", "mcp__a__ask", "{}")).Body)
	question, ok := stream.next()
	require.True(t, ok)
	var q struct{ ID, Method string }
	require.NoError(t, json.Unmarshal([]byte(question), &q))
	assert.Equal(t, "elicitation/create", q.Method)
	status, _ := b.say(`{"jsonrpc":"2.0","id":"` + q.ID + `","result":{"action":"decline"}}`)
	assert.Equal(t, http.StatusAccepted, status)
	answer, ok := stream.next()
	require.True(t, ok)
	assert.Contains(t, answer, `"text":"decline"`)

	_, said := b.say(call("8", "mcp__a__ask", "{}"), "Accept", "application/json")
	assert.Contains(t, said[0], "there is no way to ask the client", "an answer without a stream")
}

func TestStructuredContentAndBlocksByRevision(t *testing.T) {
	res := func() tools.Result {
		return tools.Result{Output: tools.Output{
			Raw:  []any{json.RawMessage(`{"type":"resource_link","uri":"x://a","name":"a"}`), json.RawMessage(`{"type":"audio","data":"AA==","mimeType":"audio/wav"}`)},
			Data: json.RawMessage("{\n\"n\": 1}"),
		}}
	}
	for revision, want := range map[string]string{
		"2024-11-05": `{"content":[{"type":"text","text":"[resource_link a x://a ]"},{"type":"text","text":"[audio   audio/wav]"}]}`,
		"2025-03-26": `{"content":[{"type":"text","text":"[resource_link a x://a ]"},{"type":"audio","data":"AA==","mimeType":"audio/wav"}]}`,
		"2025-11-25": `{"content":[{"type":"resource_link","uri":"x://a","name":"a"},{"type":"audio","data":"AA==","mimeType":"audio/wav"}],"structuredContent":{"n":1}}`,
	} {
		line, err := appendResult(nil, toResult(res(), revision))
		require.NoError(t, err)
		assert.Equal(t, want, string(line), revision)
	}
}
