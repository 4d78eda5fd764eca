package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func hidden(e *Env) { e.HideDeferred = true }

// foundNames are the names in a result of tool_search.
func foundNames(t *testing.T, text string) string {
	t.Helper()
	text, _, _ = strings.Cut(text, "\n")
	var list []struct {
		Name, Description string
		InputSchema       struct{ Type string } `json:"input_schema"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &list), text)
	var names []string
	for _, f := range list {
		require.NotEmpty(t, f.Description)
		require.Equal(t, "object", f.InputSchema.Type)
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

func TestToolSearch(t *testing.T) {
	for _, row := range []struct{ why, query, want string }{
		{"what it is for", "change a cell of a notebook", "notebook_edit"},
		{"an exact name", "select:undo", "undo"},
		{"several exact names, other names and another case", "select: UNDO, NotebookEdit,undo", "undo notebook_edit"},
		{"a word that must be in the name", "+multi change files", "multi_edit"},
		{"only such a word", "+undo", "undo"},
		{"a slip", "notbook", "notebook_edit"},
		{"another program's name", "MultiEdit", "multi_edit"},
	} {
		p := newPlace(t, nil, hidden)
		names := foundNames(t, p.ok("tool_search", map[string]any{"query": row.query}))
		if strings.HasPrefix(row.query, "select") {
			assert.Equal(t, row.want, names, row.why)
		} else {
			assert.Equal(t, row.want, strings.Fields(names)[0], row.why)
		}
	}
	p := newPlace(t, nil, hidden)
	require.Equal(t, "No matching deferred tools found. There are: enter_plan_mode, exit_plan_mode, multi_edit, notebook_edit, undo", p.ok("tool_search", map[string]any{"query": "zzqq"}))
	require.Equal(t, "No matching deferred tools found. There are: enter_plan_mode, exit_plan_mode, multi_edit, notebook_edit, undo\n[read_file is in your list: call it directly]\n[no deferred tool is called nothing]",
		p.ok("tool_search", map[string]any{"query": "select:read_file,nothing"}))
	require.Contains(t, p.fails("tool_search", map[string]any{"query": "  "}), "query must not be empty")
	require.Contains(t, p.fails("tool_search", map[string]any{"query": "x", "max_results": 0}), "max_results must be at least 1")
	require.Equal(t, "undo", foundNames(t, p.ok("tool_search", map[string]any{"query": "edit change undo", "max_results": 1})))
}

func TestFoundToolsAreShown(t *testing.T) {
	p := newPlace(t, nil, hidden)
	names := func() (out []string) {
		for _, tool := range p.Visible() {
			out = append(out, tool.Name)
		}
		return out
	}
	require.NotContains(t, names(), "undo")
	res := p.call("tool_search", map[string]any{"query": "select:undo"})
	require.True(t, res.ListChanged)
	require.Contains(t, res.Text, "If your list shows these now, call them directly; else with call_tool.")
	require.Contains(t, names(), "undo")
	require.NotContains(t, names(), "multi_edit")
	require.False(t, p.call("tool_search", map[string]any{"query": "select:undo"}).ListChanged, "it is there already")

	stateless := p.with(SessionOptions{Stateless: true})
	res = stateless.call("tool_search", map[string]any{"query": "select:undo"})
	require.False(t, res.ListChanged)
	require.Contains(t, res.Text, "Call these with call_tool")
}

func TestToolSearchKnowsWhatIsOffered(t *testing.T) {
	reg := NewRegistry(Builtin()...)
	policy, err := NewPolicy(PolicyOptions{ReadOnly: true}, reg)
	require.NoError(t, err)
	p := newPlace(t, nil, hidden, func(e *Env) { e.Tools, e.Policy = reg, policy })
	require.Equal(t, "No matching deferred tools found. There are: enter_plan_mode, exit_plan_mode", p.ok("tool_search", map[string]any{"query": "undo"}))
}
