package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

// world is a bridge to servers, and one client's session.
type world struct {
	*tools.Session
	env    *tools.Env
	bridge *Bridge
}

func entry(t *testing.T, how string) Entry {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	return Entry{Name: how, Key: how, Command: exe, Args: []string{"serve-as", how}, Timeout: time.Minute}
}

func newWorld(t *testing.T, state string, servers ...Entry) *world {
	t.Helper()
	if state == "" {
		state = t.TempDir()
	}
	st := sandbox.OpenState(state)
	shell := sandbox.NewShell(sandbox.ShellOptions{})
	reg := tools.NewRegistry(tools.Builtin()...)
	b := New(Options{Servers: servers, Registry: reg, Shell: shell, State: st, Dir: t.TempDir(), Env: []string{"BRIDGE_TEST=inherited"}})
	env := &tools.Env{Tools: reg, State: st, HideDeferred: true}
	s := env.NewSession(tools.SessionOptions{})
	t.Cleanup(func() {
		s.Close()
		b.Close()
		shell.Close()
	})
	return &world{s, env, b}
}

func (w *world) run(t *testing.T, tool, text string) tools.Result {
	t.Helper()
	args, err := json.Marshal(map[string]string{"text": text})
	require.NoError(t, err)
	return w.Call(t.Context(), tool, args)
}

func (w *world) search(t *testing.T, query string) string {
	t.Helper()
	args, err := json.Marshal(map[string]string{"query": query})
	require.NoError(t, err)
	return w.Call(t.Context(), "tool_search", args).Text
}

func TestToolsAreFoundAndCalled(t *testing.T) {
	w := newWorld(t, "", entry(t, "ok"))
	assert.Contains(t, w.search(t, "select:mcp__ok__echo"), `"name":"mcp__ok__echo"`)
	assert.Equal(t, "echo hi", w.run(t, "mcp__ok__echo", "hi").Text)
	res := w.Call(t.Context(), "call_tool", json.RawMessage(`{"name":"MCP__ok__Echo","arguments":{"text":"through"}}`))
	assert.Equal(t, "echo through", res.Text)
	assert.Equal(t, "inherited", w.run(t, "mcp__ok__env", "BRIDGE_TEST").Text)
}

func TestAToolIsCalledBeforeItIsKnown(t *testing.T) {
	w := newWorld(t, "", entry(t, "ok"))
	assert.Equal(t, "echo first", w.run(t, "mcp__ok__echo", "first").Text)
	res := w.run(t, "mcp__ok__nothing", "")
	assert.True(t, res.IsError)
	assert.Contains(t, res.Text, "Unknown tool: mcp__ok__nothing")
	res = w.run(t, "mcp__other__echo", "")
	assert.Equal(t, "Unknown tool: mcp__other__echo", res.Text)
}

func TestNothingIsStartedBeforeItIsWanted(t *testing.T) {
	w := newWorld(t, "", entry(t, "ok"))
	w.Call(t.Context(), "read_file", json.RawMessage(`{"file_path":"x"}`))
	w.Visible()
	assert.Nil(t, w.bridge.servers[0].trying)
}

func TestACrashIsToldAndTheNextCallStartsAnew(t *testing.T) {
	w := newWorld(t, "", entry(t, "ok"))
	require.Equal(t, "echo a", w.run(t, "mcp__ok__echo", "a").Text)
	res := w.run(t, "mcp__ok__crash", "")
	assert.True(t, res.IsError)
	assert.Contains(t, res.Text, "the server ok failed in this call: it ended with exit code 9. It said: last words.")
	assert.Equal(t, "echo b", w.run(t, "mcp__ok__echo", "b").Text)
}

func TestAServerThatCannotStart(t *testing.T) {
	none := Entry{Name: "none", Key: "none", Command: "no-such-program-x", Timeout: time.Minute}
	unset := Entry{Name: "unset", Key: "unset", Broken: "its configuration wants TOKEN, which is not set in the environment"}
	w := newWorld(t, "", entry(t, "exit"), none, unset, entry(t, "ok"))
	found := w.search(t, "echo")
	assert.Contains(t, found, `mcp__ok__echo`)
	assert.Contains(t, found, "[the server exit cannot be used: it ended with exit code 3. It said: no [31mlicence]")
	assert.Contains(t, found, "[the server none cannot be used: there is no program no-such-program-x in PATH]")
	assert.Contains(t, found, "[the server unset cannot be used: its configuration wants TOKEN")

	res := w.run(t, "mcp__none__x", "")
	assert.True(t, res.IsError)
	assert.Contains(t, res.Text, "the server none cannot be used: there is no program")
	failing := w.bridge.servers[0]
	failing.mu.Lock()
	failing.failures = 6 // it has been tried for some time
	failing.mu.Unlock()
	w.run(t, "mcp__exit__x", "")
	res = w.run(t, "mcp__exit__x", "")
	assert.Contains(t, res.Text, "It is tried again in")
}

func TestAHangingServerHoldsNothingElseUp(t *testing.T) {
	w := newWorld(t, "", entry(t, "ok"), entry(t, "silent"))
	require.Equal(t, "echo a", w.run(t, "mcp__ok__echo", "a").Text)

	ctx, cancel := context.WithCancel(t.Context())
	stalled := w.Begin("mcp__ok__stall", nil)
	ended := make(chan tools.Result)
	go func() { ended <- stalled.Run(ctx) }()

	assert.Equal(t, "echo b", w.run(t, "mcp__silent__echo", "b").Text, "another server")
	write := w.Call(t.Context(), "undo", json.RawMessage(`{"list":true}`)) // runs alone among ours
	assert.NotContains(t, write.Text, "cancelled")
	behind := w.Begin("mcp__ok__echo", json.RawMessage(`{"text":"behind"}`)) // waits in its own lane
	cancel()
	res := <-ended
	assert.True(t, res.IsError)
	assert.Equal(t, "Error: the call was cancelled", res.Text)
	assert.Equal(t, "echo behind", behind.Run(t.Context()).Text)
}

func TestAServerThatSaysNothingToANewMethodIsGreetedTheOldWay(t *testing.T) {
	w := newWorld(t, "", entry(t, "silent"))
	assert.Equal(t, "echo x", w.run(t, "mcp__silent__echo", "x").Text)
}

func TestATimeoutIsToldAndTheServerToo(t *testing.T) {
	e := entry(t, "ok")
	e.Timeout = 200 * time.Millisecond
	w := newWorld(t, "", e)
	require.Equal(t, "echo a", w.run(t, "mcp__ok__echo", "a").Text)
	res := w.run(t, "mcp__ok__stall", "")
	assert.True(t, res.IsError)
	assert.Contains(t, res.Text, "the server ok did not answer within 200ms, and the call was cancelled")
	require.Eventually(t, func() bool {
		return strings.Contains(w.bridge.servers[0].trying.conn.log.text(), "cancelled")
	}, 10*time.Second, 10*time.Millisecond)
}

func TestAServerThatSendsTooMuchIsEnded(t *testing.T) {
	for _, c := range []struct{ tool, want string }{
		{"flood", "it sent more than 32 MiB that nobody had asked for"},
		{"long", "it sent a message of more than 16 MiB"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			w := newWorld(t, "", entry(t, "ok"))
			res := w.run(t, "mcp__ok__"+c.tool, "")
			assert.True(t, res.IsError)
			assert.Contains(t, res.Text, c.want)
			assert.Equal(t, "echo a", w.run(t, "mcp__ok__echo", "a").Text)
		})
	}
}

func TestAServerThatReadsNothingDoesNotHoldACall(t *testing.T) {
	w := newWorld(t, "", entry(t, "deaf"))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	res := w.Call(ctx, "mcp__deaf__x", json.RawMessage(`{"text":"`+strings.Repeat("x", 1<<20)+`"}`))
	assert.True(t, res.IsError)
	assert.Contains(t, res.Text, "took too long")
}

func TestWhatIsNoResultIsAnError(t *testing.T) {
	w := newWorld(t, "", entry(t, "ok"))
	res := w.run(t, "mcp__ok__junk", "")
	assert.True(t, res.IsError)
	assert.Contains(t, res.Text, "its answer has a part that is no content of MCP")
}

func TestProgressIsPassedOn(t *testing.T) {
	w := newWorld(t, "", entry(t, "ok"))
	var mu sync.Mutex
	var got []tools.Progress
	ctx := tools.WithProgress(t.Context(), func(p tools.Progress) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, p)
	})
	require.Equal(t, "done", w.Call(ctx, "mcp__ok__progress", nil).Text)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []tools.Progress{{Progress: 1, Total: 3, Message: "step"}, {Progress: 2, Total: 3, Message: "step"}, {Progress: 3, Total: 3, Message: "step"}}, got)
}

func TestAQuestionReachesTheUserOfTheCall(t *testing.T) {
	w := newWorld(t, "", entry(t, "ok"))
	ctx := tools.WithElicit(t.Context(), func(_ context.Context, q tools.Question) (tools.Answer, error) {
		assert.Equal(t, "The server ok asks: Colour?", q.Message)
		return tools.Answer{Action: "accept", Content: json.RawMessage(`{"colour":"blue"}`)}, nil
	})
	assert.Contains(t, w.Call(ctx, "mcp__ok__ask", nil).Text, `"content":{"colour":"blue"}`)
	assert.Contains(t, w.run(t, "mcp__ok__ask", "").Text, `"action":"cancel"`, "nobody to ask")
}

func TestAChangedListIsFollowed(t *testing.T) {
	w := newWorld(t, "", entry(t, "ok"))
	changed := make(chan struct{}, 16)
	w.env.Tools.Watch(func() { changed <- struct{}{} })
	require.Equal(t, "changed", w.run(t, "mcp__ok__change", "brand_new").Text)
	for {
		select {
		case <-changed:
		case <-time.After(20 * time.Second):
			t.Fatal("the new tool has not come")
		}
		if tool, ok := w.env.Tools.Known("mcp__ok__brand_new"); ok {
			assert.Equal(t, "Does brand_new.", tool.Description)
			return
		}
	}
}

func TestALargeResultIsSavedAndShownInPart(t *testing.T) {
	w := newWorld(t, "", entry(t, "ok"))
	res := w.run(t, "mcp__ok__big", "")
	assert.Contains(t, res.Text, "[Result too large (40 KB, 8002 lines). Full output saved to ")
	require.Len(t, res.Raw, 1, "the picture is passed on")
	assert.JSONEq(t, `{"n":1}`, string(res.Data))
	assert.True(t, w.run(t, "mcp__ok__big", "error").IsError)
}

func TestTraitsOfAServerAreBelievedOnlyIfItIsTrusted(t *testing.T) {
	trusted := entry(t, "ok")
	trusted.Name, trusted.Key, trusted.Trusted = "friend", "friend", true
	w := newWorld(t, "", entry(t, "ok"), trusted)
	w.search(t, "echo")
	stranger, _ := w.env.Tools.Known("mcp__ok__echo")
	friend, _ := w.env.Tools.Known("mcp__friend__echo")
	assert.Equal(t, tools.Traits{}, stranger.Traits)
	assert.Equal(t, tools.Traits{ReadOnly: true, ConcurrencySafe: true, Additive: true, Idempotent: true, ClosedWorld: true}, friend.Traits)
}

func TestAllowAndDenyOfAnEntry(t *testing.T) {
	e := entry(t, "ok")
	e.Allow, e.Deny = []string{"e*", "crash"}, []string{"env"}
	w := newWorld(t, "", e)
	w.search(t, "echo")
	for name, want := range map[string]bool{"echo": true, "crash": true, "env": false, "stall": false} {
		_, ok := w.env.Tools.Known("mcp__ok__" + name)
		assert.Equal(t, want, ok, name)
	}
	assert.Contains(t, w.run(t, "mcp__ok__env", "PATH").Text, "Unknown tool")
}

func TestWhatAServerToldIsKnownToTheNextProcess(t *testing.T) {
	state := t.TempDir()
	first := newWorld(t, state, entry(t, "ok"))
	first.search(t, "echo")
	first.bridge.Close()

	e := entry(t, "ok")
	second := newWorld(t, state, e)
	second.bridge.recall()
	_, ok := second.env.Tools.Known("mcp__ok__echo")
	assert.True(t, ok)
	assert.Nil(t, second.bridge.servers[0].trying, "and it has not been started for that")

	e.Args = append(e.Args, "other") // that would be another server
	third := newWorld(t, state, e)
	third.bridge.recall()
	_, ok = third.env.Tools.Known("mcp__ok__echo")
	assert.False(t, ok)

	files, err := filepath.Glob(filepath.Join(state, "memos", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.WriteFile(files[0], []byte(`{"tools":[{"name":""},{"name":"x","inputSchema":7}]`), 0o600))
	fourth := newWorld(t, state, entry(t, "ok"))
	assert.Equal(t, "echo a", fourth.run(t, "mcp__ok__echo", "a").Text, "a broken memo costs nothing")
}

func TestNamesThatHostsTake(t *testing.T) {
	name, full := toolName("srv", "do.it/now")
	assert.Equal(t, "mcp__srv__do_it_now", name)
	assert.Empty(t, full)
	long := strings.Repeat("long_", 20)
	name, full = toolName("srv", long)
	assert.Len(t, name, maxName)
	assert.Equal(t, "mcp__srv__"+long, full)
	other, _ := toolName("srv", long+"x")
	assert.NotEqual(t, name, other)
	name, _ = toolName("srv", "搜索")
	assert.Regexp(t, `^mcp__srv__[0-9a-f]{8}$`, name)
}

func TestDefinitionsAreBounded(t *testing.T) {
	e := &Entry{Name: "s", Key: "s"}
	props := map[string]any{}
	for i := range 100 {
		props[fmt.Sprint("p", i)] = map[string]any{"type": "string", "description": strings.Repeat("word ", 200), "examples": []string{"x"}}
	}
	large, err := json.Marshal(map[string]any{"type": "object", "properties": props})
	require.NoError(t, err)
	huge := json.RawMessage(`{"type":"object","enum":["` + strings.Repeat("x", 40<<10) + `"]}`)
	for _, c := range []struct {
		name   string
		d      definition
		schema string // a part of it
	}{
		{"hidden characters are taken out", definition{Description: "a\u202eb\U000e0041c", InputSchema: json.RawMessage(`{"type":"object","description":"x\u200by"}`)}, `"type":"object"`},
		{"no schema", definition{}, `{"type":"object","properties":{}}`},
		{"no type", definition{InputSchema: json.RawMessage(`{"properties":{"a":{"type":"string"}}}`)}, `"type":"object"`},
		{"another type", definition{InputSchema: json.RawMessage(`{"type":"string"}`)}, `"type":"object"`},
		{"a pattern that Go does not know", definition{InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","pattern":"(?=x)"}}}`)}, `(?=x)`},
		{"a schema elsewhere", definition{InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1/x"}}}`)}, `"$ref"`},
		{"long descriptions of parameters", definition{InputSchema: large}, `…`},
		{"too large whatever is cut", definition{InputSchema: huge}, "too large to be shown"},
		{"a long description", definition{Description: strings.Repeat("ä", 5000), InputSchema: json.RawMessage(`{"type":"object"}`)}, ""},
	} {
		c.d.Name = "t"
		tool := c.d.tool(e, nil)
		assert.True(t, strings.Contains(string(tool.Schema()), c.schema), c.name)
		assert.LessOrEqual(t, len(tool.Schema()), maxSchema, c.name)
		assert.LessOrEqual(t, len(tool.Description), maxDescription+len("…"), c.name)
		assert.NotEmpty(t, tool.Description, c.name)
		assert.NotContains(t, tool.Description, "\u202e", c.name)
	}
}
