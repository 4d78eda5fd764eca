package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/tools"
)

// configured is a config of these flags, a file and variables.
func configured(t *testing.T, file string, environ []string, args ...string) (*config, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	var c config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.http.register(flags)
	c.register(flags)
	require.NoError(t, flags.Parse(append(args, "--config", path)))
	return &c, path, c.settle(environ)
}

func TestWhereASettingComesFrom(t *testing.T) {
	c, path, err := configured(t, "{\n\"mode\": \"yolo\",\n\"deny\": [\"a\"],\n\"state_dir\": \"/s\", \"root\": \"/f\"}", []string{"MCP_TOOLS_MODE=plan", "MCP_TOOLS_DENY=b\nc", `MCP_TOOLS_ASK=["d, e"]`, "OTHER=x"}, "--deny", "f", "--root", "/r")
	require.NoError(t, err)
	assert.Equal(t, "plan", c.mode.value)
	assert.Equal(t, []string{"f", "b", "c", "a"}, c.deny)
	assert.Equal(t, []string{"d, e"}, c.ask)
	assert.Equal(t, []string{"/r"}, c.roots)
	assert.Equal(t, "/s", c.stateDir)
	assert.Equal(t, map[string]string{
		"mode": "$MCP_TOOLS_MODE", "deny": "command line and $MCP_TOOLS_DENY and " + path + ":3", "ask": "$MCP_TOOLS_ASK",
		"root": "command line", "state-dir": path + ":4", "config": "command line",
	}, c.set.origins)
	assert.Equal(t, []string{"--deny=f", "--root=/r", "--config=" + path}, c.set.given)
}

func TestTheRulesAreReloaded(t *testing.T) {
	dir := t.TempDir()
	c, path, err := configured(t, `{"deny":["write_file(a)"],"principals":{"alice":{"deny":["write_file(b)"]}}}`, nil, "--root", dir, "--state-dir", filepath.Join(dir, "..", "st"), "--http", "127.0.0.1:0")
	require.NoError(t, err)
	env, closeEnv, err := newEnv(c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer closeEnv()
	all, alice := env.NewSession(tools.SessionOptions{}), env.NewSession(tools.SessionOptions{Principal: "alice"})
	writes := func(s *tools.Session, file string) bool {
		res := s.Call(t.Context(), "write_file", json.RawMessage(`{"file_path":"`+file+`","content":"x"}`))
		return !res.IsError
	}
	assert.False(t, writes(all, "a"))
	assert.True(t, writes(all, "b"))
	assert.False(t, writes(alice, "a"), "what holds for all holds for her")
	assert.False(t, writes(alice, "b"))

	require.NoError(t, os.WriteFile(path, []byte(`{"deny":["write_file(c)"]}`), 0o600))
	c.reload(env, slog.New(slog.DiscardHandler))
	assert.True(t, writes(all, "a"))
	assert.False(t, writes(all, "c"))
	require.NoError(t, os.Remove(filepath.Join(dir, "b"))) // else it would have to be read first
	assert.True(t, writes(alice, "b"))
	assert.False(t, writes(alice, "c"))

	require.NoError(t, os.WriteFile(path, []byte(`{"deny":`), 0o600))
	var log strings.Builder
	c.reload(env, slog.New(slog.NewTextHandler(&log, nil)))
	assert.Contains(t, log.String(), "the rules stay as they were")
	assert.False(t, writes(all, "c"))
}

func TestPrincipalsWithFoldersOfTheirOwn(t *testing.T) {
	shared, own := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(own, "mine.txt"), []byte("mine\n"), 0o600))
	c, _, err := configured(t, fmt.Sprintf(`{"principals":{"alice":{"root":[%q],"read_only":true}}}`, own), nil, "--root", shared, "--state-dir", t.TempDir())
	require.NoError(t, err)
	env, closeEnv, err := newEnv(c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer closeEnv()
	read := json.RawMessage(`{"file_path":"mine.txt"}`)
	alice, bob := env.NewSession(tools.SessionOptions{Principal: "alice"}), env.NewSession(tools.SessionOptions{Principal: "bob"})
	assert.Contains(t, alice.Call(t.Context(), "read_file", read).Text, "mine")
	assert.True(t, bob.Call(t.Context(), "read_file", read).IsError)
	assert.Contains(t, bob.Call(t.Context(), "read_file", json.RawMessage(fmt.Sprintf(`{"file_path":%q}`, filepath.Join(own, "mine.txt")))).Text, "escapes workspace")
	for _, tool := range alice.Visible() {
		assert.True(t, tool.Traits.ReadOnly, tool.Name)
	}
}

func TestTheAuditIsRotatedAndPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := newAudit(path, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoFileExists(t, path, "nothing is made before there is something to write")
	require.NoError(t, os.WriteFile(path, make([]byte, maxAudit-100), 0o600))
	for i := range 3 {
		a.write(tools.AuditLine{Tool: fmt.Sprint("t", i), Verdict: "done"})
	}
	a.close()
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(1000))
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.FileExists(t, path+".1")
	for range keptAudits + 3 {
		a.add(make([]byte, maxAudit/2+1))
	}
	a.close()
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	assert.Len(t, files, keptAudits+1)

	_, err = newAudit(filepath.Join(t.TempDir(), "none", "a"), nil)
	assert.ErrorContains(t, err, "there is no folder")
	_, err = newAudit(t.TempDir(), nil)
	assert.ErrorContains(t, err, "it is no file")
}

func TestWhatTheAuditSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	c, _, err := configured(t, `{"deny":["write_file"]}`, nil, "--root", t.TempDir(), "--state-dir", t.TempDir(), "--audit", path)
	require.NoError(t, err)
	env, closeEnv, err := newEnv(c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	s := env.NewSession(tools.SessionOptions{Principal: "alice"})
	for _, call := range []string{`read_file {"file_path":"secret-name"}`, `write_file {"file_path":"a","content":"secret"}`, `list_files {"pattern":"*"}`, `no_such {}`, `edit_file {}`, `call_tool {"name":"undo","arguments":{"list":true}}`} {
		name, args, _ := strings.Cut(call, " ")
		s.Call(t.Context(), name, json.RawMessage(args))
	}
	closeEnv()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "secret", "never contents")
	var got []string
	for line := range strings.Lines(string(data)) {
		var l tools.AuditLine
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		assert.Equal(t, "alice", l.Principal)
		got = append(got, l.Tool+" "+l.Verdict)
	}
	assert.Equal(t, []string{"read_file failed", "write_file denied", "list_files done", "no_such invalid", "edit_file invalid", "undo done"}, got)
}

// TestTheSchemaKnowsEverySetting: what the program takes the schema allows, and the
// other way about.
func TestTheSchemaKnowsEverySetting(t *testing.T) {
	b, err := configSchema()
	require.NoError(t, err)
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(b, &s))
	resolved, err := s.Resolve(nil)
	require.NoError(t, err)
	for file, fits := range map[string]bool{
		`{"mode":"plan","deny":["a"],"allow":"b","read_only":true,"root":["/x"],"http":"127.0.0.1:1"}`: true,
		`{"hooks":{"pre_tool":[{"matcher":"x","command":"y","timeout":5}]}}`:                           true,
		`{"principals":{"a":{"root":["/x"],"mode":"plan"}}}`:                                           true,
		`{"mode":"none"}`:        false,
		`{"rot":["x"]}`:          false,
		`{"read_only":"yes"}`:    false,
		`{"stdio":true}`:         false,
		`{"hooks":{"before":1}}`: false,
	} {
		var v any
		require.NoError(t, json.Unmarshal([]byte(file), &v))
		assert.Equal(t, fits, resolved.Validate(v) == nil, file)
		_, _, err := configured(t, file, nil)
		assert.Equal(t, fits, err == nil, "%s: %v", file, err)
	}
}
