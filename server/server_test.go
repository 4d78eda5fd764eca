package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

// ask sends one request and returns its result.
func (w *wire) ask(message string) json.RawMessage {
	w.t.Helper()
	w.send(message)
	lines := w.got()
	require.Len(w.t, lines, 1)
	var m struct{ Result json.RawMessage }
	require.NoError(w.t, json.Unmarshal([]byte(lines[0]), &m))
	require.NotNil(w.t, m.Result, lines[0])
	return m.Result
}

func connected(t *testing.T, f *fixture, run func(w *wire)) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, f.server())
		run(w)
		w.in.Close()
		require.NoError(t, w.end())
	})
}

func TestListIsCompleteOrderedAndPlain(t *testing.T) {
	connected(t, newFixture(), func(w *wire) {
		t := w.t
		w.send(initialize("2025-11-25", "{}"))
		w.got()
		first := w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n")
		w.ask(call("2", "mark", `{"text":"x"}`))
		assert.Equal(t, string(first), string(w.ask(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":""}}`+"\n")), "the same bytes each time")

		var list struct{ Tools []map[string]any }
		require.NoError(t, json.Unmarshal(first, &list))
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool["name"].(string))
			assert.ElementsMatch(t, []string{"name", "description", "inputSchema", "annotations"}, keys(tool), "nothing more")
			notes := tool["annotations"].(map[string]any)
			assert.ElementsMatch(t, []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}, keys(notes))
			assert.NotEmpty(t, notes["title"])
		}
		assert.Equal(t, []string{"boom", "deaf", "echo", "goexit", "hasty", "hold", "hold_alone", "mark", "nan", "roots", "steps", "mcp__a__b"}, names)
		for _, no := range []string{"null", "$schema", "outputSchema", `"say"`, "nextCursor", "_meta"} {
			assert.NotContains(t, string(first), no)
		}

		modern := w.ask(`{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{` + modernMeta + `}}` + "\n")
		require.NoError(t, json.Unmarshal(modern, &list))
		assert.Len(t, list.Tools, len(names))
		assert.Contains(t, string(modern), `"resultType":"complete"`)
	})
}

func keys(m map[string]any) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}

// TestHiddenToolsAreRefusedInTheResult: what a session is not shown is still
// known to mcp-go, so that the pipeline, and not the protocol, gives the reason.
func TestHiddenToolsAreRefusedInTheResult(t *testing.T) {
	f := newFixture()
	policy, err := tools.NewPolicy(tools.PolicyOptions{ReadOnly: true}, f.env.Tools)
	require.NoError(t, err)
	f.env.Policy = policy
	connected(t, f, func(w *wire) {
		list := string(w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"))
		assert.Contains(w.t, list, `"echo"`)
		assert.NotContains(w.t, list, `"mark"`)
		assert.Contains(w.t, string(w.ask(call("2", "mark", `{"text":"x"}`))), `"isError":true`)
		assert.Empty(w.t, f.marks())
	})
}

func TestAdapterAddsLittleToAList(t *testing.T) {
	connected(t, newFixture(), func(w *wire) {
		own, n := 0, 0
		for _, tool := range newFixture().env.Tools.All() {
			own += len(tool.Name) + len(tool.Title) + len(tool.Description) + len(tool.Schema())
			n++
		}
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n")
		assert.Less(w.t, len(w.got()[0])-own, 220*n)
	})
}

func TestCapabilitiesPromiseNothingThatIsNotSent(t *testing.T) {
	connected(t, newFixture(), func(w *wire) {
		var init struct {
			Capabilities json.RawMessage
			ServerInfo   map[string]any
		}
		require.NoError(w.t, json.Unmarshal(w.ask(initialize("2025-11-25", "{}")), &init))
		assert.JSONEq(w.t, `{"logging":{},"tools":{},"prompts":{},"resources":{},"completions":{}}`, string(init.Capabilities))
		assert.Equal(w.t, map[string]any{"name": "mcp-tools", "version": "1"}, init.ServerInfo)
	})
}

// TestNoUntaggedListChanged: mcp-go broadcasts to every session it knows, to
// those of 2026-07-28 too. It knows none of ours.
func TestNoUntaggedListChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFixture().server()
		w := dial(t, s)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}` + "\n")
		w.send(call("2", "hold", `{"text":"a"}`))
		w.got()
		s.mcp.SendNotificationToAllClients(mcp.MethodNotificationToolsListChanged, nil)
		assert.Empty(t, w.got())
		w.cancel()
		assert.ErrorIs(t, w.end(), context.Canceled)
	})
}

func TestReadOnlyHintsFollowTraits(t *testing.T) {
	for _, c := range []struct {
		traits                                     tools.Traits
		readOnly, destructive, idempotent, worldly bool
	}{
		{tools.Traits{}, false, true, false, true},
		{tools.Traits{ReadOnly: true}, true, false, true, true},
		{tools.Traits{Additive: true, ClosedWorld: true}, false, false, false, false},
		{tools.Traits{Idempotent: true, ClosedWorld: true}, false, true, true, false},
	} {
		a := listed(&tools.Tool{Name: "x", Traits: c.traits}).Annotations
		assert.Equal(t, "x", a.Title)
		assert.Equal(t, []bool{c.readOnly, c.destructive, c.idempotent, c.worldly},
			[]bool{*a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint, *a.OpenWorldHint})
	}
}

func TestBlocksAClientDoesNotKnowAreLeftOut(t *testing.T) {
	connected(t, newFixture(), func(w *wire) {
		kinds := func(result json.RawMessage) (all []string) {
			var r struct{ Content []struct{ Type string } }
			require.NoError(w.t, json.Unmarshal(result, &r))
			for _, c := range r.Content {
				all = append(all, c.Type)
			}
			return all
		}
		w.ask(initialize("2025-03-26", "{}"))
		assert.Equal(w.t, []string{"image", "audio"}, kinds(w.ask(call("1", "mcp__a__b", "{}"))))
		w.ask(initialize("2025-06-18", "{}"))
		full := w.ask(call("2", "mcp__a__b", "{}"))
		assert.Equal(w.t, []string{"image", "audio", "resource_link"}, kinds(full))
		assert.Contains(w.t, string(full), `{"type":"image","data":"AQ==","mimeType":"image/png"}`)
		assert.Contains(w.t, string(full), `"uri":"file:///s/all","name":"all"`)
		assert.NotContains(w.t, string(full), "structuredContent")
	})
}

func TestResultsAreFresh(t *testing.T) {
	meta := map[string]any{"version": "v1"}
	res := tools.Result{Output: tools.Output{Text: "x", Meta: meta}}
	a, b := toResult(res, "2025-11-25"), toResult(res, "2025-11-25")
	a.Meta.AdditionalFields["serverInfo"] = 1
	a.Content[0] = nil
	assert.NotNil(t, b.Content[0])
	assert.Equal(t, map[string]any{"mcp-tools/version": "v1"}, b.Meta.AdditionalFields)
	assert.Equal(t, map[string]any{"version": "v1"}, meta)
}

func TestTextIsAlwaysUTF8(t *testing.T) {
	line, err := resultLine(json.RawMessage("1"), toResult(tools.Result{Output: tools.Output{Text: "a\xffb\x00<&>\u2028\U0001F600\"\\"}}, ""))
	require.NoError(t, err)
	var m struct {
		Result struct{ Content []struct{ Text string } }
	}
	require.NoError(t, json.Unmarshal(line, &m))
	assert.Equal(t, "a\ufffdb\x00<&>\u2028\U0001F600\"\\", m.Result.Content[0].Text)
	assert.Contains(t, string(line), "<&>")
}

func TestInstructionsAreShort(t *testing.T) {
	assert.Less(t, len(instructionWords), 1500)
	for _, name := range []string{"read_file", "edit_file", "grep_search", "list_files", "run_shell", "write_file"} {
		assert.Contains(t, instructionWords, name)
	}
	assert.Equal(t, instructionWords, instructions(instructionWords, nil, nil))
	many := make([]sandbox.RootInfo, 100)
	for i := range many {
		many[i] = sandbox.RootInfo{Dir: "/" + strings.Repeat("x", 50), ReadOnly: i == 0}
	}
	assert.Contains(t, instructions(instructionWords, many[:1], nil), many[0].Dir+" (read-only)")
	all := instructions(instructionWords, many, nil)
	assert.Less(t, len(all), 2048)
	assert.Contains(t, all, "more\n")
}
