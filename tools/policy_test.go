package tools

import (
	"testing"

	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
)

func TestRules(t *testing.T) {
	reg := NewRegistry(Builtin()...)
	for _, row := range []struct {
		rule, tool string
		subject    Subject
		concerns   bool
	}{
		{"write_file", "write_file", Subject{Paths: []string{"a"}}, true},
		{"write_file", "edit_file", Subject{Paths: []string{"a"}}, false},
		{"write", "write_file", Subject{Paths: []string{"a"}}, true},
		{"*_file", "edit_file", Subject{Paths: []string{"a"}}, true},
		{"*", "list_files", Subject{}, true},
		{"write_file(docs/**)", "write_file", Subject{Paths: []string{"docs/a/b.md"}}, true},
		{"write_file(./docs/**)", "write_file", Subject{Paths: []string{"docs/a"}}, true},
		{"write_file(docs/**)", "write_file", Subject{Paths: []string{"src/docs/a"}}, false},
		{"write_file(**/.env)", "write_file", Subject{Paths: []string{"x/.env"}}, true},
		{"write_file(/ws/docs/*)", "write_file", Subject{Paths: []string{"docs/a", "/ws/docs/a"}}, true},
		{"write_file(*.md)", "write_file", Subject{Paths: []string{"a/b.md"}}, false},
		{"write_file(docs)", "write_file", Subject{Paths: []string{"docs/a/b"}}, true},
		{"write_file(docs/)", "write_file", Subject{Paths: []string{"docs/a"}}, true},
		{"write_*(docs/**)", "edit_file", Subject{Paths: []string{"docs/a"}}, true},
	} {
		r, err := ParseRule(row.rule, reg)
		require.NoError(t, err, row.rule)
		tool, _ := reg.Lookup(row.tool)
		require.Equal(t, row.concerns, r.names(tool) && r.concerns(row.subject), "%s on %s %v", row.rule, row.tool, row.subject)
	}
}

func TestRulesAboutCommands(t *testing.T) {
	for _, row := range []struct {
		pattern, command string
		concerns, cover  bool
	}{
		{"git status", "git status", true, true},
		{"git status", "git  status", true, true},
		{"git status", "git status -s", false, false},
		{"npm test:*", "npm test", true, true},
		{"npm test:*", "npm test -- -u", true, true},
		{"npm test:*", "npm testing", false, false},
		{"npm test:*", "npm test && rm x", true, false},
		{"rm:*", "npm test && rm x", true, false},
		{"rm:*", "'rm' x", true, true},
		{"rm:*", "/bin/rm x", true, false},
		{"rm:*", "env rm x", true, false},
		{"rm:*", "sh -c 'rm x'", true, false},
		{"rm:*", "true\nrm x\n)", true, false},
		{"rm:*", "echo rm x", false, false},
		{"git status", "LD_PRELOAD=./x git status", true, false},
		{"git status", "git status > ~/.bashrc", true, false},
		{"git status", "export PATH=.; git status", true, false},
	} {
		r := Rule{tool: "run_shell", pattern: row.pattern}
		s := Subject{Command: row.command, Runs: sandbox.AnalyseCommands(row.command)}
		require.Equal(t, row.concerns, r.concerns(s), "%s concerns %s", row.pattern, row.command)
		if row.command != "'rm' x" && row.command != "/bin/rm x" { // spelling of a name is the analysis's business
			require.Equal(t, row.cover, r.covers(s), "%s covers %s", row.pattern, row.command)
		}
	}
}

func TestAllowingAFolderDoesNotAllowWhatIsInIt(t *testing.T) {
	r, err := ParseRule("write_file(.vscode)", NewRegistry(Builtin()...))
	require.NoError(t, err)
	require.False(t, r.covers(Subject{Paths: []string{".vscode/tasks.json"}}))
	require.True(t, r.covers(Subject{Paths: []string{".vscode"}}))
}

func TestBadRulesAreRefusedWithTheReason(t *testing.T) {
	reg := NewRegistry(Builtin()...)
	for rule, says := range map[string]string{
		"":               "begins with the name of a tool",
		"(x)":            "begins with the name of a tool",
		"write_file(x":   "in parentheses",
		"write_file()":   "in parentheses",
		"wirte_file":     "no tool is called wirte_file; there are call_tool, edit_file",
		"write_[file(x)": "no pattern",
	} {
		_, err := NewPolicy(PolicyOptions{Deny: []string{rule}}, reg)
		require.ErrorContains(t, err, says, rule)
		require.ErrorContains(t, err, "--deny")
	}
}

func TestDenyRulesHoldByEverySpelling(t *testing.T) {
	p := newPlace(t, map[string]string{"secret/a": "x", "open/a": "y"}, deny("write_file(secret/**)", "read_file(secret/**)"))
	for _, path := range []string{"secret/new", "./secret/new", "open/../secret/new", p.dir + "/secret/new", "file://" + p.dir + "/secret/new"} {
		require.Contains(t, p.fails("write_file", map[string]any{"file_path": path, "content": "x"}), "Action denied: the user's rule --deny write_file(secret/**) forbids this")
	}
	require.Contains(t, p.fails("cat", map[string]any{"path": "secret/a"}), "Action denied")
	p.ok("write_file", map[string]any{"file_path": "open/new", "content": "x"})
}

func TestReadOnlyOffersAndRunsNothingThatWrites(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "x\n"}, func(e *Env) { e.Policy, _ = NewPolicy(PolicyOptions{ReadOnly: true}, e.Tools) })
	for _, tool := range p.Visible() {
		require.True(t, tool.Traits.ReadOnly, tool.Name)
	}
	require.NotEmpty(t, p.Visible())
	require.Contains(t, p.fails("write_file", map[string]any{"file_path": "b", "content": "x"}), "Action denied: write_file writes, and the server runs with --read-only")
	p.ok("read_file", map[string]any{"file_path": "a"})
}

func TestGuardedNamesNeedARuleForThatVeryPlace(t *testing.T) {
	write := map[string]any{"file_path": ".envrc", "content": "x"}
	for rule, allowed := range map[string]bool{"": false, "write_file": false, "*": false, "edit_file(.envrc)": true, "read_file(.envrc)": false, "write_file(src/**)": false, "write_file(.envrc)": true, "write_file(**)": true} {
		p := newPlace(t, nil, func(e *Env) {
			var err error
			o := PolicyOptions{}
			if rule != "" {
				o.Allow = []string{rule}
			}
			e.Policy, err = NewPolicy(o, e.Tools)
			require.NoError(t, err)
		})
		if allowed {
			p.ok("write_file", write)
			continue
		}
		require.Contains(t, p.fails("write_file", write), "--allow 'write_file(.envrc)'", rule)
	}
}

func deny(rules ...string) func(*Env) {
	return func(e *Env) {
		var err error
		if e.Policy, err = NewPolicy(PolicyOptions{Deny: rules}, e.Tools); err != nil {
			panic(err)
		}
	}
}
