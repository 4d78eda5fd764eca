package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

// TestACancellationThatMeetsItsRequest: the two come on two connections, in any
// order, at the same moment. Both are answered, whoever comes first.
func TestACancellationThatMeetsItsRequest(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{})
	b := w.begun("2025-06-18")
	for i := range 300 {
		var pair sync.WaitGroup
		pair.Go(func() {
			status, said := b.say(call(fmt.Sprint(i), "steps", `{"count":1}`))
			if status == http.StatusAccepted {
				assert.Empty(t, said)
			} else {
				shows(t, said, "stepped")
			}
		})
		pair.Go(func() {
			status, _ := b.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
			assert.Equal(t, http.StatusAccepted, status)
		})
		pair.Wait()
	}
	awaitRunning(t, w, 0)
}

// onFiles is a server with the real tools on a folder.
func onFiles(t *testing.T) (w *web, dir string) {
	t.Helper()
	dir = t.TempDir()
	ws, err := sandbox.Open([]sandbox.RootSpec{{Dir: dir}}, sandbox.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { ws.Close() })
	env := &tools.Env{Tools: tools.NewRegistry(tools.Builtin()...), Workspace: ws, State: sandbox.OpenState(t.TempDir())}
	return serveWeb(t, New(env, Options{}), HTTPOptions{}), dir
}

// TestNothingHappensToAFileAfterItsEditWasCancelled: when the cancelled request is
// let go, the file is as it will stay, and the client knows nothing of it.
func TestNothingHappensToAFileAfterItsEditWasCancelled(t *testing.T) {
	w, dir := onFiles(t)
	b := w.begun("2025-06-18")
	file := filepath.Join(dir, "f")
	id, cancelled := 0, 0
	next := func() string { id++; return fmt.Sprint(id) }
	for i := range 150 {
		text := fmt.Sprintf("count %d\n%s", i, strings.Repeat("x", 100_000))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, said := b.say(call(next(), "read_file", `{"file_path":"f"}`))
		require.Len(t, said, 1)
		edit := next()
		var pair sync.WaitGroup
		answered := false
		pair.Go(func() {
			status, _ := b.say(call(edit, "edit_file", fmt.Sprintf(`{"file_path":"f","old_string":"count %d\n","new_string":"edited\n"}`, i)))
			answered = status == http.StatusOK
		})
		pair.Go(func() {
			b.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + edit + `}}`)
		})
		pair.Wait()
		before, err := os.ReadFile(file)
		require.NoError(t, err)
		if answered {
			continue
		}
		cancelled++
		b.say(call(next(), "read_file", `{"file_path":"f"}`))
		after, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(before[:20]), string(after[:20]))
	}
	t.Logf("%d of 150 were cancelled", cancelled)
}

// TestAReadNobodyGotLicensesNothing: of a cancelled read the client has seen
// nothing.
func TestAReadNobodyGotLicensesNothing(t *testing.T) {
	w, dir := onFiles(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("one\n"), 0o600))
	for range 100 {
		b := w.begun("2025-06-18")
		var pair sync.WaitGroup
		got := false
		pair.Go(func() {
			status, _ := b.say(call("1", "read_file", `{"file_path":"f"}`))
			got = status == http.StatusOK
		})
		pair.Go(func() {
			b.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		})
		pair.Wait()
		_, said := b.say(call("2", "edit_file", `{"file_path":"f","old_string":"one","new_string":"two","dry_run":true}`))
		require.Len(t, said, 1)
		var m struct{ Result struct{ IsError bool } }
		require.NoError(t, json.Unmarshal([]byte(said[0]), &m))
		assert.Equal(t, !got, m.Result.IsError, said[0])
	}
}
