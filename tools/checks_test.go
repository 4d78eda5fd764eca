package tools

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnEditThatBreaksAFileSaysSo(t *testing.T) {
	for _, c := range []struct{ why, name, text, old, new, says string }{
		{"JSON", "a.json", "{\n \"a\": 1\n}\n", "1", "1,", "[a.json no longer parses as JSON: line 3: "},
		{"YAML", "a.yml", "a: 1\nb: 2\n", "b: 2", "b: [2", "[a.yml no longer parses as YAML: line "},
		{"TOML", "a.toml", "a = 1\n", "1", "", "[a.toml no longer parses as TOML: line 1: "},
		{"XML", "a.xml", "<a>\n<b/></a>\n", "</a>", "", "[a.xml no longer parses as XML: line "},
		{"Go", "a.go", "package a\n\nfunc f() {}\n", "{}", "{", "[a.go no longer parses as Go: line "},
		{"shell", "a.sh", "if true; then\n echo\nfi\n", "fi", "", "[a.sh no longer parses as "},
		{"what was broken before is not told again", "a.json", "{,}\n", ",", ",,", ""},
		{"a language nobody knows", "a.zzz", "{}\n", "}", "", ""},
		{"a change that breaks nothing", "a.json", "{\"a\": 1}\n", "1", "2", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			p := newPlace(t, map[string]string{c.name: c.text})
			res := p.edited(c.name, c.old, c.new)
			if c.says == "" {
				require.NotContains(t, res.Text, "parse")
				return
			}
			require.Contains(t, res.Text, c.says)
		})
	}
}

func TestWritingWhatDoesNotParseSaysSo(t *testing.T) {
	p := newPlace(t, map[string]string{"old.json": "{}\n"})
	require.Contains(t, p.ok("write_file", map[string]any{"file_path": "new.json", "content": "{\n"}), "[new.json does not parse as JSON: line ")
	p.ok("read_file", map[string]any{"file_path": "old.json"})
	require.Contains(t, p.ok("write_file", map[string]any{"file_path": "old.json", "content": "{\n"}), "[old.json no longer parses as JSON: line ")
}

func TestSettingsOfAgentsAreNotBroken(t *testing.T) {
	grant := func(e *Env) {
		var err error
		e.Policy, err = NewPolicy(PolicyOptions{Allow: []string{"write_file(**/.mcp.json)", "write_file(**/.cursor/mcp.json)"}}, e.Tools)
		require.NoError(t, err)
	}
	p := newPlace(t, map[string]string{".mcp.json": "{\"mcpServers\": {}}\n"}, grant)
	p.ok("read_file", map[string]any{"file_path": ".mcp.json"})
	broken := map[string]any{"file_path": ".mcp.json", "old_string": "{}}", "new_string": "{}"}
	require.Contains(t, p.fails("edit_file", broken), "Error: with this change .mcp.json would not be valid JSON")
	broken["dry_run"] = true
	require.Contains(t, p.fails("edit_file", broken), "would not be valid JSON")
	require.Contains(t, p.fails("write_file", map[string]any{"file_path": ".mcp.json", "content": "{"}), "would not be valid JSON")
	require.Contains(t, p.fails("write_file", map[string]any{"file_path": ".cursor/mcp.json", "content": "{"}), "would not be valid JSON", "new ones too")
	require.Equal(t, "{\"mcpServers\": {}}\n", p.file(".mcp.json"))
	p.ok("edit_file", map[string]any{"file_path": ".mcp.json", "old_string": "{}}", "new_string": "{\"a\": {}}}"})
}
