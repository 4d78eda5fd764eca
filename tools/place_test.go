package tools

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A place is a session on a workspace of its own.
type place struct {
	*Session
	t   testing.TB
	dir string
	env *Env
}

// newPlace makes a workspace with files; setup may change the environment.
func newPlace(t testing.TB, files map[string]string, setup ...func(*Env)) *place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	dir := filepath.Join(base, "ws")
	require.NoError(t, os.MkdirAll(filepath.Join(base, "state"), 0o700))
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, text := range files {
		full := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
	}
	state := sandbox.OpenState(filepath.Join(base, "state"))
	ws, err := sandbox.Open([]sandbox.RootSpec{{Dir: dir}}, sandbox.Options{Results: state})
	require.NoError(t, err)
	env := &Env{Tools: NewRegistry(Builtin()...), Workspace: ws, State: state}
	for _, f := range setup {
		f(env)
	}
	s := env.NewSession(SessionOptions{})
	t.Cleanup(func() { s.Close(); ws.Close() })
	return &place{Session: s, t: t, dir: dir, env: env}
}

// with is a second session on the same workspace.
func (p *place) with(o SessionOptions) *place {
	s := p.env.NewSession(o)
	p.t.Cleanup(s.Close)
	return &place{Session: s, t: p.t, dir: p.dir, env: p.env}
}

func (p *place) call(tool string, args map[string]any) Result {
	p.t.Helper()
	raw, err := json.Marshal(args)
	require.NoError(p.t, err)
	return p.Call(context.Background(), tool, raw)
}

// ok calls a tool that must succeed and returns its text.
func (p *place) ok(tool string, args map[string]any) string {
	p.t.Helper()
	res := p.call(tool, args)
	require.False(p.t, res.IsError, "%s", res.Text)
	return res.Text
}

// fails calls a tool that must fail and returns its text.
func (p *place) fails(tool string, args map[string]any) string {
	p.t.Helper()
	res := p.call(tool, args)
	require.True(p.t, res.IsError, "%s", res.Text)
	return res.Text
}

func (p *place) write(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644))
}

func (p *place) file(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	require.NoError(p.t, err)
	return string(b)
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line " + string(rune('a'+i%26)) + "\n")
	}
	return b.String()
}

func openRootsOf(e *Env) func([]string) (*sandbox.Workspace, error) {
	return func(uris []string) (*sandbox.Workspace, error) {
		return sandbox.OpenRootURIs(uris, sandbox.Options{Results: e.State})
	}
}
