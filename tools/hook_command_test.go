package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
)

// hooked is a place with a hook command before calls.
func hooked(t *testing.T, h HookCommand, o PolicyOptions) *place {
	t.Helper()
	p := newPlace(t, map[string]string{"a.txt": "one\n"}, policyOf(o), func(e *Env) { e.Shell = sandbox.NewShell(sandbox.ShellOptions{}) })
	t.Cleanup(p.env.Shell.Close)
	before, err := PreTool(p.env.Shell, h)
	require.NoError(t, err)
	p.env.Before = append(p.env.Before, before)
	return p
}

// validator has the shape of a hook for Claude Code: it reads JSON, looks only at Bash,
// and refuses with exit code 2 and words on its standard error.
const validator = `
input=$(cat)
case "$input" in *'"tool_name":"Bash"'*) ;; *) exit 0 ;; esac
case "$input" in *'"hook_event_name":"PreToolUse"'*) ;; *) exit 0 ;; esac
case "$input" in *'"command":"grep '*) echo "Use rg instead of grep" >&2; exit 2 ;; esac
exit 0`

func TestAHookForClaudeCodeWorksUnchanged(t *testing.T) {
	p := hooked(t, HookCommand{Matcher: "Bash|Write", Command: validator}, PolicyOptions{})
	assert.Equal(t, "Action denied: Use rg instead of grep", p.fails("run_shell", map[string]any{"command": "grep x a.txt"}))
	assert.Contains(t, p.ok("run_shell", map[string]any{"command": "cat a.txt"}), "one")
	p.ok("write_file", map[string]any{"file_path": "b.txt", "content": "grep "})
}

func TestWhatAHookMaySay(t *testing.T) {
	say := func(json string) string { return "cat >/dev/null; printf '%s' '" + json + "'" }
	specific := func(rest string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + rest + `}}`
	}
	for _, c := range []struct {
		name, command string
		rules         PolicyOptions
		want          string
		ok            bool
	}{
		{"nothing", "cat >/dev/null", PolicyOptions{}, "Successfully", true},
		{"words that are no JSON", "cat >/dev/null; echo fine", PolicyOptions{}, "Successfully", true},
		{"deny", say(specific(`"permissionDecision":"deny","permissionDecisionReason":"not today"`)), PolicyOptions{}, "Action denied: not today", false},
		{"block, as it was said once", say(`{"decision":"block","reason":"no"}`), PolicyOptions{}, "Action denied: no", false},
		{"stop", say(`{"continue":false,"stopReason":"enough"}`), PolicyOptions{}, "Action denied: enough", false},
		{"allow, so that nobody is asked", say(specific(`"permissionDecision":"allow"`)), PolicyOptions{Ask: []string{"write_file"}}, "Successfully", true},
		{"allow does not overrule deny", say(specific(`"permissionDecision":"allow"`)), PolicyOptions{Deny: []string{"write_file"}}, "--deny write_file", false},
		{"ask, and there is nobody", say(specific(`"permissionDecision":"ask","permissionDecisionReason":"it is late"`)), PolicyOptions{}, "it is late, so it needs the user", false},
		{"another input", say(specific(`"updatedInput":{"file_path":"c.txt","content":"other"}`)), PolicyOptions{}, "wrote to c.txt", true},
		{"another input that is none", say(specific(`"updatedInput":{"file_path":5}`)), PolicyOptions{}, "a hook changed the arguments", false},
		{"another input that is denied", say(specific(`"updatedInput":{"file_path":"no/c.txt","content":"x"}`)), PolicyOptions{Deny: []string{"write_file(no/**)"}}, "--deny write_file(no/**)", false},
		{"a remark", say(specific(`"additionalContext":"remember the tests"`)), PolicyOptions{}, "[remember the tests]", true},
		{"a failure", "cat >/dev/null; echo broken >&2; exit 1", PolicyOptions{}, "failed (exit code 1): broken", false},
		{"JSON that is none", "cat >/dev/null; echo '{'", PolicyOptions{}, "answered what is no JSON", false},
		{"a command that is none", "no-such-command-x", PolicyOptions{}, "failed (exit code 127)", false},
		{"a signal", "kill -9 $$", PolicyOptions{}, "failed", false},
		{"it reads nothing", "exit 0", PolicyOptions{}, "Successfully", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := hooked(t, HookCommand{Command: c.command}, c.rules)
			res := p.call("write_file", map[string]any{"file_path": "b.txt", "content": "x"})
			assert.Contains(t, res.Text, c.want)
			assert.Equal(t, !c.ok, res.IsError)
			if !c.ok {
				assert.NoFileExists(t, filepath.Join(p.dir, "b.txt"))
			}
		})
	}
}

func TestAHookThatDoesNotEndRefuses(t *testing.T) {
	p := hooked(t, HookCommand{Command: "sleep 60", Timeout: 200 * time.Millisecond}, PolicyOptions{})
	assert.Contains(t, p.fails("write_file", map[string]any{"file_path": "b", "content": "x"}), "did not end within 200ms")
}

func TestWhatAHookReads(t *testing.T) {
	p := hooked(t, HookCommand{Matcher: "Read", Command: "cat > hook.json"}, PolicyOptions{})
	p.ok("cat", map[string]any{"path": "a.txt"})
	data, err := os.ReadFile(filepath.Join(p.dir, "hook.json"))
	require.NoError(t, err)
	var in map[string]any
	require.NoError(t, json.Unmarshal(data, &in))
	assert.Equal(t, "Read", in["tool_name"])
	assert.Equal(t, "read_file", in["mcp_tools_name"])
	assert.Equal(t, map[string]any{"file_path": "a.txt"}, in["tool_input"])
	assert.Equal(t, p.dir, in["cwd"])
	assert.Equal(t, "PreToolUse", in["hook_event_name"])
	assert.Equal(t, "default", in["permission_mode"])
	assert.NotEmpty(t, in["session_id"])
}

func TestHooksAfterACall(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\n"}, func(e *Env) { e.Shell = sandbox.NewShell(sandbox.ShellOptions{}) })
	t.Cleanup(p.env.Shell.Close)
	for _, command := range []string{
		`grep -q '"text":"   1 | one' && echo '{"decision":"block","reason":"look again"}'`,
		"cat >/dev/null; echo also >&2; exit 2",
		"cat >/dev/null; exit 3",
	} {
		after, err := PostTool(p.env.Shell, HookCommand{Matcher: "read_.*", Command: command})
		require.NoError(t, err)
		p.env.After = append(p.env.After, after)
	}
	text := p.ok("read_file", map[string]any{"file_path": "a.txt"})
	assert.True(t, strings.HasPrefix(text, "   1 | one\n[a hook after this call: look again]\n[a hook after this call: also]\n[a hook after this call: the user's hook cat >/dev/null; exit 3 failed (exit code 3): it said nothing]"), text)
}

func TestHooksThatCannotBe(t *testing.T) {
	for _, h := range []HookCommand{{}, {Command: "x", Matcher: "("}, {Command: "x", Timeout: -1}, {Command: "x", Timeout: time.Hour}} {
		_, err := PreTool(nil, h)
		assert.Error(t, err)
	}
}
