package server

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked expects one request for the roots and returns its id.
func (w *wire) asked() string {
	w.t.Helper()
	lines := w.got()
	require.Len(w.t, lines, 1)
	var m struct{ ID, Method string }
	require.NoError(w.t, json.Unmarshal([]byte(lines[0]), &m))
	require.Equal(w.t, "roots/list", m.Method)
	return m.ID
}

func rootsAnswer(id, uri string) string {
	return `{"jsonrpc":"2.0","id":"` + id + `","result":{"roots":[{"uri":"` + uri + `"}]}}` + "\n"
}

func TestRootsOfALegacyClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, newFixture().server())
		w.send(initialize("2025-06-18", `{"roots":{"listChanged":true}}`) + initialized)
		w.got()

		w.send(call("1", "roots", "{}"))
		first := w.asked()
		w.send(call("2", "roots", "{}"))
		second := w.asked()
		assert.NotEqual(t, first, second)
		w.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}` + "\n") // must not stop reading
		w.send(`{"jsonrpc":"2.0","id":"guess","result":{"roots":[]}}` + "\n")
		w.send(rootsAnswer(second, "file:///b"))
		assert.Equal(t, []string{`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"file:///b"}]}}`}, w.got())
		w.send(rootsAnswer(first, "file:///a"))
		assert.Equal(t, []string{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"file:///a"}]}}`}, w.got())
		w.send(rootsAnswer(first, "file:///again"))

		w.send(call("3", "roots", "{}"))
		w.send(`{"jsonrpc":"2.0","id":"` + w.asked() + `","error":{"code":-32601,"message":"no"}}` + "\n")
		assert.Equal(t, []string{`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Error: the client refused roots/list"}],"isError":true}}`}, w.got())

		w.send(call("4", "roots", "{}"))
		id := w.asked()
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}` + "\n")
		assert.Equal(t, []string{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"` + id + `"}}`}, w.got())
		w.in.Close()
		require.NoError(t, w.end())
	})
}

func modernCall(id, extra string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"roots","arguments":{},` + rootsMeta + extra + `}}` + "\n"
}

func TestRootsOfAModernClientComeInASecondRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.env.OpenRoots = anyRoots
		w := dial(t, f.server())
		var need struct {
			ResultType    string
			InputRequests map[string]struct{ Method string }
		}
		require.NoError(t, json.Unmarshal(w.ask(modernCall("1", "")), &need))
		assert.Equal(t, "input_required", need.ResultType)
		assert.Equal(t, "roots/list", need.InputRequests["roots"].Method)

		assert.Contains(t, string(w.ask(modernCall("2", `,"inputResponses":{"roots":{"roots":[]}}`))), `"text":""`, "none are none")
		assert.Contains(t, string(w.ask(modernCall("3", `,"inputResponses":{"roots":{"roots":[{"uri":"file:///m"}]}}`))), `"text":"file:///m"`)
		assert.Contains(t, string(w.ask(modernCall("4", ""))), `"text":"file:///m"`, "asked once")
		w.in.Close()
		require.NoError(t, w.end())
	})
}
