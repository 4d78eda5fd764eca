package tools

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
)

func policyOf(o PolicyOptions) func(*Env) {
	return func(e *Env) {
		var err error
		if e.Policy, err = NewPolicy(o, e.Tools); err != nil {
			panic(err)
		}
	}
}

// user answers questions in this order and keeps what was asked; after the last answer
// it gives none.
type user struct {
	answers []Answer
	asked   []Question
}

func (u *user) ask(_ context.Context, q Question) (Answer, error) {
	u.asked = append(u.asked, q)
	if len(u.answers) == 0 {
		return Answer{}, errors.New("gone away")
	}
	a := u.answers[0]
	u.answers = u.answers[1:]
	return a, nil
}

func says(decision, reason string) Answer {
	content, _ := json.Marshal(map[string]string{"decision": decision, "reason": reason})
	return Answer{Action: "accept", Content: content}
}

func (p *place) asking(u *user, tool string, args map[string]any) Result {
	p.t.Helper()
	raw, err := json.Marshal(args)
	require.NoError(p.t, err)
	return p.Call(WithElicit(p.t.Context(), u.ask), tool, raw)
}

// TestTheOrderOfDecisions: deny, plan mode, allow, mode, ask.
func TestTheOrderOfDecisions(t *testing.T) {
	write := func(path string) map[string]any { return map[string]any{"file_path": path, "content": "x"} }
	shell := func(line string) map[string]any { return map[string]any{"command": line} }
	for _, c := range []struct {
		name  string
		rules PolicyOptions
		plan  bool
		tool  string
		args  map[string]any
		want  string // "runs", "asks", or a part of the refusal
	}{
		{"nothing is said of it", PolicyOptions{}, false, "write_file", write("a"), "runs"},
		{"an ask rule", PolicyOptions{Ask: []string{"write_file(docs/**)"}}, false, "write_file", write("docs/a"), "asks"},
		{"an ask rule for another place", PolicyOptions{Ask: []string{"write_file(docs/**)"}}, false, "write_file", write("a"), "runs"},
		{"an ask rule for all that write files", PolicyOptions{Ask: []string{"edit_file(docs/**)"}}, false, "write_file", write("docs/a"), "asks"},
		{"allow before ask", PolicyOptions{Allow: []string{"write_file(docs/**)"}, Ask: []string{"write_file"}}, false, "write_file", write("docs/a"), "runs"},
		{"deny before allow", PolicyOptions{Deny: []string{"write_file(docs/**)"}, Allow: []string{"write_file"}}, false, "write_file", write("docs/a"), "--deny write_file(docs/**) forbids"},
		{"deny before everything", PolicyOptions{Deny: []string{"write_file"}, Mode: ModeYolo}, true, "write_file", write("a"), "--deny write_file forbids"},
		{"plan before allow", PolicyOptions{Allow: []string{"write_file"}}, true, "write_file", write("a"), "Blocked in plan mode: write_file"},
		{"plan before yolo", PolicyOptions{Mode: ModeYolo}, true, "run_shell", shell("touch x"), "Shell commands blocked in plan mode"},
		{"a command that only reads in plan mode", PolicyOptions{}, true, "run_shell", shell("ls"), "runs"},
		{"reading in plan mode", PolicyOptions{}, true, "read_file", map[string]any{"file_path": "f"}, "runs"},
		{"a guarded name", PolicyOptions{}, false, "write_file", write(".envrc"), "asks"},
		{"a guarded name that a rule names", PolicyOptions{Allow: []string{"write_file(.envrc)"}}, false, "write_file", write(".envrc"), "runs"},
		{"a rule for the tool opens no guarded name", PolicyOptions{Allow: []string{"write_file"}}, false, "write_file", write(".envrc"), "asks"},
		{"accept-edits does not ask for files", PolicyOptions{Mode: ModeAcceptEdits, Ask: []string{"write_file", "run_shell"}}, false, "write_file", write("a"), "runs"},
		{"but for guarded ones", PolicyOptions{Mode: ModeAcceptEdits}, false, "write_file", write(".envrc"), "asks"},
		{"and for commands", PolicyOptions{Mode: ModeAcceptEdits, Ask: []string{"run_shell"}}, false, "run_shell", shell("ls"), "asks"},
		{"yolo never asks", PolicyOptions{Mode: ModeYolo, Ask: []string{"*"}}, false, "write_file", write(".envrc"), "runs"},
		{"dont-ask refuses what would be asked", PolicyOptions{Mode: ModeDontAsk, Ask: []string{"write_file(a)"}}, false, "write_file", write("a"), "--mode dont-ask"},
		{"dont-ask leaves the rest", PolicyOptions{Mode: ModeDontAsk, Ask: []string{"write_file(a)"}}, false, "write_file", write("b"), "runs"},
		{"one command of several", PolicyOptions{Ask: []string{"run_shell(git push:*)"}}, false, "run_shell", shell("ls && git push origin"), "asks"},
		{"allowed commands must be all of the line", PolicyOptions{Allow: []string{"run_shell(git status)"}, Ask: []string{"run_shell"}}, false, "run_shell", shell("git status; touch x"), "asks"},
		{"an allowed command", PolicyOptions{Allow: []string{"run_shell(git status)"}, Ask: []string{"run_shell"}}, false, "run_shell", shell("git status"), "runs"},
		{"a line that cannot be told, where some are asked for", PolicyOptions{Ask: []string{"run_shell(git push:*)"}}, false, "run_shell", shell("$(echo git) push"), "asks"},
		{"the floor is no question", PolicyOptions{Mode: ModeYolo}, false, "run_shell", shell("sudo ls"), "Dangerous command blocked"},
		{"a tool that is about nothing", PolicyOptions{Ask: []string{"tool_search"}}, false, "tool_search", map[string]any{"query": "x"}, "asks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": "x\n"}, policyOf(c.rules), func(e *Env) { e.Shell = sandbox.NewShell(sandbox.ShellOptions{}) })
			t.Cleanup(p.env.Shell.Close)
			if c.plan {
				p.ok("enter_plan_mode", nil)
			}
			u := &user{answers: []Answer{says("no", "not now")}}
			res := p.asking(u, c.tool, c.args)
			switch c.want {
			case "runs":
				assert.NotContains(t, res.Text, "denied")
				assert.Empty(t, u.asked)
			case "asks":
				require.Len(t, u.asked, 1)
				assert.Contains(t, u.asked[0].Message, "Allow "+c.tool)
				assert.Contains(t, res.Text, "Action denied: the user said no: not now.")
				assert.True(t, res.IsError)
			default:
				assert.Contains(t, res.Text, c.want)
				assert.Empty(t, u.asked)
				assert.True(t, res.IsError)
			}
		})
	}
}

func TestADeniedCallLeavesNoTrace(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "x\n"}, policyOf(PolicyOptions{Deny: []string{"write_file(no/**)"}, Ask: []string{"write_file(ask/**)"}}))
	before := snapshot(t, filepath.Dir(p.dir))
	p.fails("write_file", map[string]any{"file_path": "no/deep/a", "content": "x"})
	p.fails("write_file", map[string]any{"file_path": "ask/deep/a", "content": "x"})
	p.asking(&user{answers: []Answer{{Action: "decline"}}}, "write_file", map[string]any{"file_path": "ask/deep/a", "content": "x"})
	assert.Equal(t, before, snapshot(t, filepath.Dir(p.dir)))
}

func TestYesOnceAndForTheSession(t *testing.T) {
	p := newPlace(t, nil, policyOf(PolicyOptions{Ask: []string{"write_file"}}))
	write := func(u *user, path string) Result {
		return p.asking(u, "write_file", map[string]any{"file_path": path, "content": "x" + path})
	}
	u := &user{answers: []Answer{says("yes", ""), says("always", "")}}
	require.False(t, write(u, "a").IsError)
	require.False(t, write(u, "a").IsError)
	require.False(t, write(u, "a").IsError)
	assert.Len(t, u.asked, 2, "the second yes holds for the session")
	assert.True(t, write(u, "b").IsError, "but not for another file")
	assert.Contains(t, write(u, "b").Text, "the user was asked and did not answer")

	other := p.with(SessionOptions{})
	assert.Contains(t, other.fails("write_file", map[string]any{"file_path": "a", "content": "y"}), "this client cannot ask. The user can start the server with --allow 'write_file(a)'")
}

func TestTheSameDenialAgainAndAgainIsToldSo(t *testing.T) {
	p := newPlace(t, nil, policyOf(PolicyOptions{Ask: []string{"write_file"}}))
	write := map[string]any{"file_path": "a", "content": "x"}
	for range 2 {
		assert.NotContains(t, p.fails("write_file", write), "in a row")
	}
	assert.Contains(t, p.fails("write_file", write), "This was denied 3 times in a row")
	assert.NotContains(t, p.fails("write_file", map[string]any{"file_path": "b", "content": "x"}), "in a row")
}

func TestOthersGoOnWhileTheUserIsAsked(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "text\n"}, policyOf(PolicyOptions{Ask: []string{"write_file(a)"}}))
	ctx := WithElicit(t.Context(), func(context.Context, Question) (Answer, error) {
		p.ok("read_file", map[string]any{"file_path": "f"})
		p.ok("write_file", map[string]any{"file_path": "b", "content": "x"})
		return says("yes", ""), nil
	})
	res := p.Call(ctx, "write_file", json.RawMessage(`{"file_path":"a","content":"x"}`))
	assert.False(t, res.IsError, res.Text)
}

func TestWhatBecameAnotherPlaceIsAskedForAgain(t *testing.T) {
	p := newPlace(t, map[string]string{"one/x": "1\n", "two/x": "2\n"}, policyOf(PolicyOptions{Ask: []string{"write_file"}}))
	require.NoError(t, os.Symlink("one", filepath.Join(p.dir, "link")))
	var asked []string
	ctx := WithElicit(t.Context(), func(_ context.Context, q Question) (Answer, error) {
		asked = append(asked, q.Message)
		if len(asked) == 1 {
			require.NoError(t, os.Remove(filepath.Join(p.dir, "link")))
			require.NoError(t, os.Symlink("two", filepath.Join(p.dir, "link")))
			return says("yes", ""), nil
		}
		return says("no", ""), nil
	})
	res := p.Call(ctx, "write_file", json.RawMessage(`{"file_path":"link/new","content":"x"}`))
	assert.True(t, res.IsError)
	require.Len(t, asked, 2, "the yes was for one/new")
	assert.Contains(t, asked[0], "one/new")
	assert.Contains(t, asked[1], "two/new")
}

func TestAClientThatIsAskedByEndingTheCall(t *testing.T) {
	p := newPlace(t, nil, policyOf(PolicyOptions{Ask: []string{"write_file"}}))
	hooks := 0
	p.env.Before = append(p.env.Before, func(_ context.Context, c HookCall) (HookVerdict, error) {
		hooks++
		return HookVerdict{Args: json.RawMessage(`{"file_path":"hooked","content":"x"}`)}, nil
	})
	args := json.RawMessage(`{"file_path":"a","content":"x"}`)
	first := p.Begin("write_file", args)
	first.InRounds(nil)
	res := first.Run(t.Context())
	require.NotNil(t, res.Pending)
	assert.Contains(t, res.Pending.Question.Message, "hooked")

	second := p.Begin("write_file", args)
	second.InRounds(&Resumed{Key: "another question", Answer: says("yes", ""), Args: first.HookedArgs()})
	assert.NotNil(t, second.Run(t.Context()).Pending, "an answer to something else is none")

	third := p.Begin("write_file", args)
	third.InRounds(&Resumed{Key: res.Pending.Question.Key, Answer: says("yes", ""), Args: first.HookedArgs()})
	res = third.Run(t.Context())
	require.Nil(t, res.Pending)
	assert.Contains(t, res.Text, "Successfully wrote to hooked")
	assert.Equal(t, 1, hooks, "hooks run once")
}

func TestPlanMode(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "x\n"})
	assert.Equal(t, "Not in plan mode.", p.ok("exit_plan_mode", nil))
	entered := p.ok("enter_plan_mode", nil)
	assert.Contains(t, entered, "Entered plan mode. You are now in read-only mode.")
	_, rest, _ := strings.Cut(entered, "Plan file: ")
	file, _, _ := strings.Cut(rest, "\n")
	assert.Contains(t, p.ok("enter_plan_mode", nil), "Already in plan mode.")
	assert.Contains(t, p.fails("multi_edit", map[string]any{"file_path": "f", "edits": []any{map[string]any{"old_string": "x", "new_string": "y"}}}), "Blocked in plan mode: multi_edit")
	assert.Contains(t, p.ok("exit_plan_mode", nil), "(No plan file found)")

	p.ok("enter_plan_mode", nil)
	p.ok("write_file", map[string]any{"file_path": file, "content": "# Plan\nfirst\n"})
	p.ok("edit_file", map[string]any{"file_path": file, "old_string": "first", "new_string": "second"})
	assert.Contains(t, p.ok("read_file", map[string]any{"file_path": file}), "second")
	assert.Contains(t, p.ok("exit_plan_mode", nil), "Exited plan mode. The plan:\n\n# Plan\nsecond\n")
	p.ok("write_file", map[string]any{"file_path": "new", "content": "x"})

	stranger := p.with(SessionOptions{})
	stranger.ok("enter_plan_mode", nil)
	assert.Contains(t, stranger.fails("write_file", map[string]any{"file_path": file, "content": "x"}), "Blocked in plan mode", "the plan of another session")
	p.ok("write_file", map[string]any{"file_path": "other", "content": "x"})
}

func TestLeavingPlanModeIsForTheUserToSay(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "x\n"}, policyOf(PolicyOptions{Ask: []string{"write_file"}}))
	p.ok("enter_plan_mode", nil)
	keep := Answer{Action: "accept", Content: json.RawMessage(`{"decision":"keep planning","feedback":"smaller steps"}`)}
	res := p.asking(&user{answers: []Answer{keep}}, "exit_plan_mode", nil)
	assert.Contains(t, res.Text, "You are still in plan mode.\nFeedback: smaller steps")
	res = p.asking(&user{answers: []Answer{{Action: "decline"}}}, "exit_plan_mode", nil)
	assert.Contains(t, res.Text, "still in plan mode")
	res = p.asking(&user{answers: []Answer{{Action: "accept", Content: json.RawMessage(`{"decision":"approve and accept edits"}`)}}}, "exit_plan_mode", nil)
	assert.Contains(t, res.Text, "Exited plan mode")
	p.ok("write_file", map[string]any{"file_path": "a", "content": "x"})
}

func TestPlanModeWithoutASession(t *testing.T) {
	p := newPlace(t, nil).with(SessionOptions{Stateless: true})
	assert.Contains(t, p.fails("enter_plan_mode", nil), "plan mode needs a session")
	p.ok("write_file", map[string]any{"file_path": "a", "content": "x"})
}

func TestASessionThatBeginsInPlanMode(t *testing.T) {
	p := newPlace(t, nil, policyOf(PolicyOptions{Mode: ModePlan}))
	assert.Contains(t, p.fails("write_file", map[string]any{"file_path": "a", "content": "x"}), "Blocked in plan mode")
	p.ok("exit_plan_mode", nil)
	p.ok("write_file", map[string]any{"file_path": "a", "content": "x"})
}

func TestThePlanFileOfAReadOnlyServer(t *testing.T) {
	p := newPlace(t, nil, policyOf(PolicyOptions{ReadOnly: true}))
	entered := p.ok("enter_plan_mode", nil)
	_, rest, _ := strings.Cut(entered, "Plan file: ")
	file, _, _ := strings.Cut(rest, "\n")
	p.ok("write_file", map[string]any{"file_path": file, "content": "plan"})
	p.fails("write_file", map[string]any{"file_path": "a", "content": "x"})
	p.ok("exit_plan_mode", nil)
	assert.Contains(t, p.fails("write_file", map[string]any{"file_path": file, "content": "x"}), "--read-only")
}

func TestRulesAboutHosts(t *testing.T) {
	for _, c := range []struct {
		pattern, url string
		deny, allow  bool
	}{
		{"example.com", "https://example.com/a", true, true},
		{"example.com", "https://EXAMPLE.com./a", true, true},
		{"example.com", "https://www.example.com/", true, false},
		{"example.com", "https://notexample.com/", false, false},
		{"*.example.com", "https://a.b.example.com/", true, true},
		{"*.example.com", "https://example.com/", false, false},
		{"domain:example.com", "http://example.com", true, true},
		{"https://example.com/*", "https://example.com/x", true, true},
		{"example.com:8443", "https://example.com/", false, false},
		{"example.com:8443", "https://example.com:8443/", true, true},
		{"*", "https://any.org/", true, true},
	} {
		u, err := url.Parse(c.url)
		require.NoError(t, err)
		rule, err := ParseRule("web_fetch("+c.pattern+")", NewRegistry(Builtin()...))
		require.NoError(t, err)
		assert.Equal(t, c.deny, rule.concerns(hostSubject(u)), "%s deny %s", c.pattern, c.url)
		assert.Equal(t, c.allow, rule.covers(hostSubject(u)), "%s allow %s", c.pattern, c.url)
	}
}

// TestNoSpellingMakesADeniedCallRun calls with random arguments what is denied.
func FuzzDenied(f *testing.F) {
	f.Add("secret/a", "x", "edit_file")
	f.Add("./open/../secret//a", "x", "write_file")
	f.Add("file:///secret/a", "", "multi_edit")
	f.Fuzz(func(t *testing.T, path, content, tool string) {
		p := newPlace(t, map[string]string{"secret/a": "keep\n", "open/b": "y\n"}, policyOf(PolicyOptions{Deny: []string{"write_file(secret/**)", "run_shell"}, Mode: ModeYolo}))
		require.NoError(t, os.Symlink("secret", filepath.Join(p.dir, "link")))
		p.call("read_file", map[string]any{"file_path": path})
		p.call(tool, map[string]any{"file_path": path, "path": path, "content": content, "old_string": "keep", "new_string": content, "command": "echo " + content + " > secret/a"})
		p.call("write_file", map[string]any{"file_path": path, "content": content})
		p.call("edit_file", map[string]any{"file_path": path, "old_string": "keep\n", "new_string": content})
		got, err := os.ReadFile(filepath.Join(p.dir, "secret", "a"))
		require.NoError(t, err)
		assert.Equal(t, "keep\n", string(got))
		entries, err := os.ReadDir(filepath.Join(p.dir, "secret"))
		require.NoError(t, err)
		assert.Len(t, entries, 1)
	})
}
