package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
)

// Ways around the read-before-write guard and the rules that were found once.

// What ends a line must be judged by the whole text, or lines that were never
// shown count as seen.
func TestALateNewlineDoesNotMakeUnseenLinesSeen(t *testing.T) {
	for name, text := range map[string]string{
		"CR first, LF after 64 KiB": "START\r" + strings.Repeat("secret work\r", 10000) + "tail1\ntail2\n",
		"no line end for 64 KiB":    "START" + strings.Repeat("x", 70000) + "\rsecret\rmore\r",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"f": text})
			p.ok("read_file", map[string]any{"file_path": "f", "limit": 1})
			res := p.call("edit_file", map[string]any{"file_path": "f", "old_string": "START", "new_string": "start"})
			require.False(t, res.IsError, res.Text)
			require.Regexp(t, `^v1p\.`, res.Meta["version"])
			p.fails("write_file", map[string]any{"file_path": "f", "content": "x\n"})
		})
	}
}

func TestAHandleOfAPartDoesNotMakeAnOldViewWhole(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "a\nb\n"})
	p.ok("read_file", map[string]any{"file_path": "f"})
	p.write("f", "a\n"+lines(3000))
	part := p.with(SessionOptions{}).call("read_file", map[string]any{"file_path": "f", "limit": 1}).Meta["version"]
	res := p.call("edit_file", map[string]any{"file_path": "f", "old_string": "a\nline a\nline b\nline c\nline d\nline e\nline f\nline g\nline h\nline i\nline j\nline k\nline l\nline m\nline n\nline o\nline p\nline q\nline r\nline s\nline t\nline u\nline v\nline w\nline x\nline y\nline z\nline a", "new_string": "b", "replace_all": false, "version": part})
	require.False(t, res.IsError, res.Text)
	require.Regexp(t, `^v1p\.`, res.Meta["version"])
	p.fails("write_file", map[string]any{"file_path": "f", "content": "x\n"})
}

func TestWithoutASessionNothingIsRemembered(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "a\nb\n"}).with(SessionOptions{Stateless: true})
	whole := p.call("read_file", map[string]any{"file_path": "f"}).Meta["version"]
	edited := p.call("edit_file", map[string]any{"file_path": "f", "old_string": "a", "new_string": "A", "version": whole})
	require.False(t, edited.IsError, edited.Text)
	require.Regexp(t, `^v1\.`, edited.Meta["version"], "who knew the whole knows it after an edit")
	p.ok("write_file", map[string]any{"file_path": "f", "content": "a\nb\n", "version": edited.Meta["version"]})
	part := p.call("read_file", map[string]any{"file_path": "f", "limit": 1}).Meta["version"]
	p.ok("read_file", map[string]any{"file_path": "f"}) // perhaps another client's
	edited = p.call("edit_file", map[string]any{"file_path": "f", "old_string": "a", "new_string": "A", "version": part})
	require.Regexp(t, `^v1p\.`, edited.Meta["version"])
	require.Empty(t, p.seen.all(10))
}

func TestAVersionOfAVanishedFileMakesNoNewOne(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "a\n"})
	version := p.call("read_file", map[string]any{"file_path": "f"}).Meta["version"]
	require.NoError(t, os.Remove(filepath.Join(p.dir, "f")))
	require.Contains(t, p.fails("write_file", map[string]any{"file_path": "f", "content": "x", "version": version}), "does not exist any more")
	require.NoFileExists(t, filepath.Join(p.dir, "f"))
}

func TestAFileMovedAfterItWasReadIsStillKnown(t *testing.T) {
	p := newPlace(t, map[string]string{"f": "a\n"})
	p.ok("read_file", map[string]any{"file_path": "f"})
	require.NoError(t, os.Rename(filepath.Join(p.dir, "f"), filepath.Join(p.dir, "g")))
	p.ok("edit_file", map[string]any{"file_path": "g", "old_string": "a", "new_string": "b"})
}

// A rule must hold for the place that is used, not for one the name meant before
// an earlier call of the session was done.
func TestRulesAreJudgedWhenACallsTurnHasCome(t *testing.T) {
	linked := make(chan struct{})
	p := newPlace(t, map[string]string{"secret/a": "x\n"}, func(e *Env) {
		e.Tools = NewRegistry(append(Builtin(), toolOf(Tool{Name: "link", External: true}, func(_ context.Context, _ *Session, dir string) (Output, error) {
			<-linked
			return Output{}, os.Symlink("secret", filepath.Join(dir, "out"))
		}))...)
	}, deny("write_file(secret/**)"))
	args, err := json.Marshal(map[string]string{"text": p.dir})
	require.NoError(t, err)
	first := p.Begin("link", args)
	second := p.Begin("write_file", json.RawMessage(`{"file_path":"out/new","content":"x"}`))
	done := make(chan Result)
	go func() { done <- second.Run(context.Background()) }()
	close(linked)
	require.False(t, first.Run(context.Background()).IsError)
	require.Contains(t, (<-done).Text, "Action denied")
	require.NoFileExists(t, filepath.Join(p.dir, "secret/new"))
}

func TestDenyRulesHoldByEveryRootAndLink(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	ws, link := filepath.Join(base, "ws"), filepath.Join(base, "link")
	for _, dir := range []string{"vendor/secret", "secret"} {
		require.NoError(t, os.MkdirAll(filepath.Join(ws, dir), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(ws, dir, "a"), []byte("needle\n"), 0o644))
	}
	require.NoError(t, os.Symlink("ws", link))
	require.NoError(t, os.Symlink("secret/a", filepath.Join(ws, "c")))
	require.NoError(t, os.Symlink("nope/../c", filepath.Join(ws, "l")))
	for name, row := range map[string]struct {
		roots []string
		rule  string
		paths []string
	}{
		"the rule says the given root, the call the real one": {[]string{link}, "read_file(" + link + "/secret/**)", []string{"secret/a", ws + "/secret/a", link + "/secret/a"}},
		"the rule is relative to an outer root":               {[]string{ws, filepath.Join(ws, "vendor")}, "read_file(vendor/secret/**)", []string{"vendor/secret/a", ws + "/vendor/secret/a"}},
		"the rule is relative to an inner root":               {[]string{ws, filepath.Join(ws, "vendor")}, "read_file(secret/a)", []string{"vendor/secret/a", "secret/a"}},
		"a link leads there":                                  {[]string{ws}, "read_file(secret/**)", []string{"c"}},
	} {
		t.Run(name, func(t *testing.T) {
			var specs []sandbox.RootSpec
			for _, r := range row.roots {
				specs = append(specs, sandbox.RootSpec{Dir: r})
			}
			w, err := sandbox.Open(specs, sandbox.Options{})
			require.NoError(t, err)
			defer w.Close()
			p := newPlace(t, nil, deny(row.rule), func(e *Env) { e.Workspace = w })
			for _, path := range row.paths {
				require.Contains(t, p.fails("read_file", map[string]any{"file_path": path}), "Action denied", path)
			}
		})
	}
	t.Run("a link through nothing leads nowhere, as for the system", func(t *testing.T) {
		w, err := sandbox.Open([]sandbox.RootSpec{{Dir: ws}}, sandbox.Options{})
		require.NoError(t, err)
		defer w.Close()
		p := newPlace(t, nil, func(e *Env) { e.Workspace = w })
		require.Contains(t, p.fails("read_file", map[string]any{"file_path": "l"}), "does not exist")
	})
}

func TestSearchesDoNotShowWhatRulesForbid(t *testing.T) {
	files := map[string]string{"secret/a": "needle\n", "open/b": "needle\n"}
	for _, rule := range []string{"grep_search(secret/**)", "read_file(secret/**)", "*(secret/**)", "read_*(secret)"} {
		p := newPlace(t, files, deny(rule))
		require.Equal(t, "open/b:1:needle\n[1 path left out by the server's rules]", p.ok("grep_search", map[string]any{"pattern": "needle"}), rule)
	}
	p := newPlace(t, files, deny("list_files(secret/**)"))
	require.Equal(t, "open/b\n[1 path left out by the server's rules]", p.ok("list_files", map[string]any{"pattern": "**"}))
	require.NotContains(t, p.ok("list_files", map[string]any{"pattern": "secret/*"}), "secret/a")
	p.ok("read_file", map[string]any{"file_path": "secret/a"})
}

func TestOwnStateIsNoPartOfAWorkspace(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "needle\n"})
	state := sandbox.OpenState(filepath.Join(p.dir, "state"))
	saved, err := state.Save("needle\n")
	require.NoError(t, err)
	w, err := sandbox.Open([]sandbox.RootSpec{{Dir: p.dir}}, sandbox.Options{Results: state})
	require.NoError(t, err)
	defer w.Close()
	p.env.Workspace = w
	require.NotContains(t, p.ok("grep_search", map[string]any{"pattern": "needle"}), "result-")
	require.NotContains(t, p.ok("list_files", map[string]any{"pattern": "**"}), "result-")
	require.Contains(t, p.fails("list_files", map[string]any{"pattern": "*", "path": "state"}), "Path escapes workspace")
	require.Contains(t, p.fails("write_file", map[string]any{"file_path": "state/results/x", "content": ""}), "Path escapes workspace")
	p.ok("read_file", map[string]any{"file_path": saved.Path()})
	require.Contains(t, p.fails("write_file", map[string]any{"file_path": saved.Path(), "content": ""}), "read-only")
}

func TestAnAbsoluteRuleGrantsAGuardedName(t *testing.T) {
	p := newPlace(t, nil)
	var err error
	p.env.Policy, err = NewPolicy(PolicyOptions{Allow: []string{"write_file(" + filepath.ToSlash(p.dir) + "/.envrc)"}}, p.env.Tools)
	require.NoError(t, err)
	p.ok("write_file", map[string]any{"file_path": ".envrc", "content": "x"})
}

func TestWhatTheModelCallsAPlaceGrantsNothing(t *testing.T) {
	p := newPlace(t, map[string]string{".git/hooks/x": ""}, func(e *Env) {
		e.Policy, _ = NewPolicy(PolicyOptions{Allow: []string{"write_file(docs/**)"}}, e.Tools)
	})
	require.NoError(t, os.Mkdir(filepath.Join(p.dir, "docs"), 0o755))
	require.NoError(t, os.Symlink("../.git/hooks", filepath.Join(p.dir, "docs/link")))
	require.Contains(t, p.fails("write_file", map[string]any{"file_path": "docs/link/pre-commit", "content": "x"}), "Action denied: .git/hooks/pre-commit is a guarded name")
}

func TestAGuardedFolderIsGuardedFromWhateverRoot(t *testing.T) {
	p := newPlace(t, map[string]string{".git/hooks/x": "", ".vscode/x": ""})
	w, err := sandbox.Open([]sandbox.RootSpec{{Dir: p.dir}, {Dir: filepath.Join(p.dir, ".git")}, {Dir: filepath.Join(p.dir, ".vscode")}}, sandbox.Options{})
	require.NoError(t, err)
	defer w.Close()
	p.env.Workspace = w
	for _, path := range []string{".git/hooks/pre-commit", ".git/config", filepath.Join(p.dir, ".vscode/tasks.json")} {
		require.Contains(t, p.fails("write_file", map[string]any{"file_path": path, "content": "x"}), "is a guarded name", path)
	}
}

func TestRulesThatCouldNeverMatchAreRefused(t *testing.T) {
	reg := NewRegistry(Builtin()...)
	for _, rule := range []string{"write_file(../shared/**)", "read_file([a)", "read_file({a,b)", "read_file(//a)", "mcp__x__y(z)", "*([)"} {
		_, err := ParseRule(rule, reg)
		require.Error(t, err, rule)
	}
	for _, rule := range []string{"run_shell(git [a)", "mcp__x__*", "read_file(~/x)"} {
		_, err := ParseRule(rule, reg)
		require.NoError(t, err, rule)
	}
}

func TestPanicsInHooksAreResults(t *testing.T) {
	for name, hook := range map[string]func(*Env){
		"before": func(e *Env) {
			e.Before = []BeforeHook{func(context.Context, HookCall) (HookVerdict, error) { panic("x") }}
		},
		"after": func(e *Env) { e.After = []AfterHook{func(context.Context, HookCall, *Result) { panic("x") }} },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"a": "x\n"}, hook)
			require.Contains(t, p.fails("read_file", map[string]any{"file_path": "a"}), "read_file failed unexpectedly")
		})
	}
}

func TestOtherServersParametersPassThrough(t *testing.T) {
	for name, row := range map[string]struct{ schema, sent, want string }{
		"nothing is said of parameters": {`{"type":"object"}`, `{"a":1,"b":null}`, `{"a":1,"b":null}`},
		"others are allowed":            {`{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":true}`, `{"a":"1","b":2}`, `{"a":1,"b":2}`},
		"a field may be null":           {`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]}`, `{"a":null}`, `{"a":null}`},
		"nested open objects":           {`{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"type":"integer"}}}}}`, `{"o":{"a":"1","b":2}}`, `{"o":{"a":1,"b":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			tool := NewRaw(Tool{Name: "mcp__x__y", Description: "Y.", External: true}, json.RawMessage(row.schema), nil)
			got, notes, err := tool.prepare(json.RawMessage(row.sent))
			require.NoError(t, err)
			require.Empty(t, notes)
			require.JSONEq(t, row.want, string(got))
		})
	}
	closed := NewRaw(Tool{Name: "mcp__x__y", Description: "Y.", External: true}, json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`), nil)
	_, notes, err := closed.prepare(json.RawMessage(`{"a":1,"b":2}`))
	require.NoError(t, err)
	require.Equal(t, []string{"ignored unknown parameter: b"}, notes)
}

func TestArgumentsWhoseMeaningWouldBeGuessedAreRefused(t *testing.T) {
	p := newPlace(t, nil)
	for args, says := range map[string]string{
		`{"file_path":"x1","file_path":"x2","content":""}`:               "file_path is given twice",
		`"{\"file_path\":\"x1\",\"file_path\":\"x2\",\"content\":\"\"}"`: "file_path is given twice",
		`{"file_path":"x1","content":"half \ud83d"}`:                     `one half of a surrogate pair`,
		`{"file_path":"x1","content":"\ude00\ud83d"}`:                    `one half of a surrogate pair`,
	} {
		res := p.Call(context.Background(), "write_file", json.RawMessage(args))
		require.True(t, res.IsError)
		require.Contains(t, res.Text, says)
	}
	res := p.Call(context.Background(), "write_file", json.RawMessage(`{"file_path":"x1","content":"\ud83d\ude00 \\ud83d"}`))
	require.False(t, res.IsError, res.Text)
	require.Equal(t, `😀 \ud83d`, p.file("x1"))
}

func TestNearNamesAreThoseOfTheRootMeant(t *testing.T) {
	p := newPlace(t, map[string]string{"config.json": ""})
	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "config.json"), nil, 0o644))
	w, err := sandbox.Open([]sandbox.RootSpec{{Dir: p.dir}, {Dir: other}}, sandbox.Options{})
	require.NoError(t, err)
	defer w.Close()
	p.env.Workspace = w
	want := filepath.ToSlash(other) + "/config.json"
	require.Contains(t, p.fails("read_file", map[string]any{"file_path": other + "/confg.json"}), "Did you mean: "+want+"?")
	require.Equal(t, want, p.ok("list_files", map[string]any{"pattern": other + "/*.json"}))
}

// A version is a sum of the content: who may not read a file must not learn by
// trying versions what is in it.
func TestVersionsDoNotTellWhatMayNotBeRead(t *testing.T) {
	p := newPlace(t, map[string]string{"secret": "pin=1234\n"}, deny("read_file(secret)"))
	for _, s := range []*place{p, p.with(SessionOptions{Stateless: true})} {
		for _, guess := range []string{"pin=1234\n", "pin=1235\n"} {
			got := s.fails("edit_file", map[string]any{"file_path": "secret", "old_string": "pin", "new_string": "x", "dry_run": true, "version": string(sandbox.VersionOf([]byte(guess)))})
			require.Equal(t, "Error: rules of the user forbid to show secret, so no version of it is taken: whoever changes a file must have seen it", got)
		}
	}
}

// The refusal of a stale write must not show what read_file may not.
func TestARefusalShowsNothingThatRulesForbidToRead(t *testing.T) {
	for _, rule := range []string{"read_file(.env)", "read_file"} {
		p := newPlace(t, nil, deny(rule))
		p.ok("write_file", map[string]any{"file_path": ".env", "content": "A=1\n"})
		p.write(".env", "A=1\nKEY=s3cr3t\n")
		for tool, args := range map[string]map[string]any{
			"write_file": {"file_path": ".env", "content": "A=2\n"},
			"edit_file":  {"file_path": ".env", "old_string": "A=1", "new_string": "A=2"},
		} {
			got := p.fails(tool, args)
			require.Contains(t, got, "modified externally")
			require.NotContains(t, got, "s3cr3t", rule)
		}
	}
}

func TestNearNamesAreNotThoseThatRulesHide(t *testing.T) {
	p := newPlace(t, map[string]string{".env": "x", "config": "x"}, deny("read_file(.env)"))
	require.NotContains(t, p.fails("read_file", map[string]any{"file_path": ".enw"}), "Did you mean")
	require.Contains(t, p.fails("read_file", map[string]any{"file_path": "confg"}), "Did you mean: config?")
}

func TestALineThatCannotBeReadIsRefusedWithTheReason(t *testing.T) {
	p := newPlace(t, nil, deny("run_shell(git push:*)"))
	require.Contains(t, p.fails("run_shell", map[string]any{"command": "$PYTHON -m pytest"}), "it cannot be told what this line runs")
	require.Contains(t, p.fails("run_shell", map[string]any{"command": "git push"}), "the user's rule --deny run_shell(git push:*) forbids this")
}
