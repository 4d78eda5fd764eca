package tools

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCallToolRunsADeferredToolAsIfItWereCalled(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "one two\n"})
	call := func(name string, args any) map[string]any { return map[string]any{"name": name, "arguments": args} }
	edits := map[string]any{"path": "f", "edits": pairs("one", "two", "two", "one")}
	require.Contains(t, p.fails("call_tool", call("multi_edit", edits)), "You must read this file before editing")
	p.ok("read_file", map[string]any{"file_path": "f"})
	require.Contains(t, p.ok("call_tool", call("multi_edit", edits)), "Successfully edited f", "aliases of its parameters too")
	require.Equal(t, "two one\n", p.file("f"))
	require.Contains(t, p.ok("call_tool", call("undo", nil)), "Took back multi_edit of f")

	for why, c := range map[string]struct {
		args map[string]any
		says string
	}{
		"a tool that is listed":        {call("read_file", map[string]any{"file_path": "f"}), "Error: call read_file directly"},
		"by another name":              {call("bash", map[string]any{"command": "ls"}), "Error: call run_shell directly"},
		"itself":                       {call("call_tool", nil), "Error: call call_tool directly"},
		"none":                         {call("nope", nil), "Error: there is no tool nope"},
		"no name":                      {map[string]any{}, "name is missing"},
		"arguments that it refuses":    {call("multi_edit", map[string]any{"file_path": "f"}), "edits is missing"},
		"arguments that are no object": {call("multi_edit", []any{1}), "arguments"},
	} {
		require.Contains(t, p.fails("call_tool", c.args), c.says, why)
	}
}

func TestCallToolIsBoundByTheRulesOfBoth(t *testing.T) {
	args := map[string]any{"name": "undo", "arguments": map[string]any{"list": true}}
	for _, rule := range []string{"call_tool", "undo"} {
		p := newPlace(t, nil, deny(rule))
		require.Contains(t, p.fails("call_tool", args), "Action denied", rule)
	}
}

func TestCallToolRefusesWhatIsNotItsOwn(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\n"})
	p.ok("read_file", map[string]any{"file_path": "a.txt"})
	p.ok("edit_file", map[string]any{"file_path": "a.txt", "old_string": "one", "new_string": "two"})
	require.Contains(t, p.fails("call_tool", map[string]any{"name": "undo", "list": true}), `call_tool has no parameter "list"; nothing was done`)
	require.Contains(t, p.fails("call_tool", map[string]any{"name": "undo", "args": map[string]any{"list": true}}), `no parameter "args"`)
	require.Equal(t, "two\n", p.file("a.txt"))
	require.Contains(t, p.fails("call_tool", map[string]any{"name": "mutli_edit"}), "there is no tool mutli_edit. Did you mean multi_edit")
}
