package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

// TestNoReadOfOnePrincipalLicensesAnEditOfAnother: two hundred clients of two
// principals, of both eras, at once on the same files. Each reads some files and
// edits others; whether an edit is allowed must depend on its own reads alone.
func TestNoReadOfOnePrincipalLicensesAnEditOfAnother(t *testing.T) {
	const clients, rounds, files = 200, 6, 8
	dir := t.TempDir()
	name := func(i int) string { return fmt.Sprintf("f%d.txt", i%files) }
	for i := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name(i)), []byte("start\n"), 0o600))
	}
	ws, err := sandbox.Open([]sandbox.RootSpec{{Dir: dir}}, sandbox.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { ws.Close() })
	env := &tools.Env{Tools: tools.NewRegistry(tools.Builtin()...), Workspace: ws, State: sandbox.OpenState(t.TempDir())}
	w := serveWeb(t, New(env, Options{}), HTTPOptions{Tokens: twoPrincipals(t)})

	var all sync.WaitGroup
	var edits atomic.Int64
	for i := range clients {
		all.Go(func() {
			c := &licence{t: t, id: i, read: map[string]string{}}
			token := []string{"Authorization", "Bearer " + []string{tokenA, tokenB}[i%2]}
			if c.modern = i/2%2 == 1; c.modern {
				c.browser = w.alone(token...)
			} else {
				c.browser = w.begun("2025-06-18", token...)
			}
			for round := range rounds {
				c.tryUnread(name(i + round*3 + 1)) // never read by this client, by others all the time
				if i%4 < 2 || round%2 == 0 {
					c.readAndEdit(name(i), &edits)
				}
			}
		})
	}
	all.Wait()
	assert.Positive(t, edits.Load())
	lines := 0
	for i := range files {
		text, err := os.ReadFile(filepath.Join(dir, name(i)))
		require.NoError(t, err)
		lines += strings.Count(string(text), "\n") - 1
	}
	assert.EqualValues(t, edits.Load(), lines, "what was told to be done was done, once, and nothing else")
}

// licence is a client that knows what it may edit.
type licence struct {
	*browser
	t      *testing.T
	id, n  int
	modern bool
	read   map[string]string // versions of what it has read
}

// callTool returns the text of the result, its version, and whether it is an error.
func (c *licence) callTool(tool string, args map[string]any) (text, version string, failed bool) {
	c.n++
	raw, err := json.Marshal(args)
	require.NoError(c.t, err)
	var said []string
	if c.modern {
		_, said = c.ask(fmt.Sprint(c.n), "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, raw))
	} else {
		_, said = c.say(call(fmt.Sprint(c.n), tool, string(raw)))
	}
	if !assert.Len(c.t, said, 1) {
		return "", "", true
	}
	var m struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
			Meta    map[string]any `json:"_meta"`
		}
	}
	if !assert.NoError(c.t, json.Unmarshal([]byte(said[0]), &m), said[0]) || !assert.NotEmpty(c.t, m.Result.Content, said[0]) {
		return "", "", true
	}
	version, _ = m.Result.Meta["mcp-tools/version"].(string)
	return m.Result.Content[0].Text, version, m.Result.IsError
}

// tryUnread edits what the client has not read.
func (c *licence) tryUnread(file string) {
	if c.read[file] != "" {
		return
	}
	text, version, failed := c.callTool("edit_file", map[string]any{"file_path": file, "old_string": "start\n", "new_string": "stolen\n"})
	assert.True(c.t, failed, text)
	assert.Contains(c.t, text, "You must read this file before editing")
	assert.Empty(c.t, version)
	assert.NotContains(c.t, text, "v1.")
}

// readAndEdit edits what the client has just read: it succeeds unless somebody
// else was faster, and then says so.
func (c *licence) readAndEdit(file string, edits *atomic.Int64) {
	text, version, failed := c.callTool("read_file", map[string]any{"file_path": file})
	if !assert.False(c.t, failed, text) {
		return
	}
	c.read[file] = version
	args := map[string]any{"file_path": file, "old_string": "start\n", "new_string": fmt.Sprintf("start\n%d-%d\n", c.id, c.n)}
	if c.modern {
		args["version"] = version
	}
	if text, _, failed = c.callTool("edit_file", args); !failed {
		edits.Add(1)
		return
	}
	assert.Contains(c.t, text, "modified externally")
}
