package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

// told asks a server with a workspace of these files and returns the answers by id.
func told(t *testing.T, files map[string]string, policy tools.PolicyOptions, requests ...string) (dir string, answers []string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
	}
	state := sandbox.OpenState(filepath.Join(t.TempDir(), "state"))
	ws, err := sandbox.Open([]sandbox.RootSpec{{Dir: dir}}, sandbox.Options{Results: state})
	require.NoError(t, err)
	t.Cleanup(func() { ws.Close() })
	reg := tools.NewRegistry(tools.Builtin()...)
	p, err := tools.NewPolicy(policy, reg)
	require.NoError(t, err)
	s := New(&tools.Env{Tools: reg, Workspace: ws, State: state, Policy: p, HideDeferred: true}, Options{})
	w, r, wait := s.Connect(t.Context())
	defer wait()
	defer w.Close()
	lines := json.NewDecoder(r)
	for _, request := range append([]string{strings.TrimSpace(initialize("2025-11-25", "{}"))}, requests...) {
		request = strings.ReplaceAll(request, "DIR", filepath.ToSlash(dir))
		if i := strings.Index(request, "SAVED"); i >= 0 {
			request = strings.ReplaceAll(request, "SAVED", savedURI(t, answers))
		}
		_, err := fmt.Fprintln(w, request)
		require.NoError(t, err)
		var answer json.RawMessage
		require.NoError(t, lines.Decode(&answer))
		answers = append(answers, string(answer))
	}
	return dir, answers[1:]
}

// savedURI is the URI of the result that an earlier answer has linked to.
func savedURI(t *testing.T, answers []string) string {
	t.Helper()
	for _, a := range answers {
		if i := strings.Index(a, "file://"); i >= 0 && strings.Contains(a, "resource_link") {
			return a[i : i+strings.IndexByte(a[i:], '"')]
		}
	}
	t.Fatal("no result was saved")
	return ""
}

func rpc(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
}

var withSkills = map[string]string{
	"a.txt":                             "one\n",
	"b.png":                             "\x89PNG\r\n\x1a\n\x00",
	"big.txt":                           strings.Repeat("0123456789\n", 500_000),
	"sub/c.txt":                         "c",
	".claude/skills/hello/SKILL.md":     "---\nname: hello\ndescription: Says hello.\nargument-hint: WHO\n---\nSay hello to $ARGUMENTS.\n",
	".claude/skills/hello/more info.md": "more",
	".claude/skills/quiet/SKILL.md":     "---\ndescription: Not for users.\nuser-invocable: false\n---\nx\n",
}

func TestPromptsAreSkills(t *testing.T) {
	_, got := told(t, withSkills, tools.PolicyOptions{},
		rpc("prompts/list", ""),
		rpc("prompts/get", `"name":"hello","arguments":{"args":"Bob"}`),
		rpc("prompts/get", `"name":"quiet"`),
		rpc("prompts/get", `"name":"\u0000"`),
		rpc("prompts/get", `"name":7`),
		rpc("completion/complete", `"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"args","value":"x"}`),
	)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"hello","description":"Says hello.","arguments":[{"name":"args","description":"WHO"}]}]}}`, got[0])
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"description":"Says hello.","messages":[{"role":"user","content":{"type":"text","text":"Say hello to Bob."}}]}}`, got[1])
	assert.Contains(t, got[2], `"code":-32602`)
	assert.Contains(t, got[2], "there is no prompt quiet; prompts/list names them")
	assert.Contains(t, got[3], `"code":-32602`)
	assert.Contains(t, got[4], "name must be the name of a prompt")
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"completion":{"values":[]}}}`, got[5])
}

func TestResourcesAreSkillsFilesAndSavedResults(t *testing.T) {
	dir, got := told(t, withSkills, tools.PolicyOptions{},
		rpc("resources/list", ""),
		rpc("resources/templates/list", ""),
		rpc("resources/read", `"uri":"skill://hello/SKILL.md"`),
		rpc("resources/read", `"uri":"skill://hello"`),
		rpc("resources/read", `"uri":"skill://hello/more%20info.md"`),
		rpc("resources/read", `"uri":"file://DIR/a.txt"`),
		rpc("resources/read", `"uri":"file://DIR/b.png"`),
		call("1", "grep_search", `{"pattern":"0","include":"big.txt","limit":4000}`),
		rpc("resources/list", ""),
		rpc("resources/read", `"uri":"SAVED"`),
	)
	base := filepath.ToSlash(dir)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"resources":[
		{"uri":"skill://hello/SKILL.md","name":"hello","description":"Says hello.","mimeType":"text/markdown"},
		{"uri":"skill://quiet/SKILL.md","name":"quiet","description":"Not for users.","mimeType":"text/markdown"}]}}`, got[0])
	assert.Contains(t, got[1], `"uriTemplate":"file://{+path}"`)
	assert.Contains(t, got[1], `"uriTemplate":"skill://{name}/{+file}"`)
	assert.Contains(t, got[2], `$ARGUMENTS`)
	assert.Contains(t, got[3], `$ARGUMENTS`)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"skill://hello/more%20info.md","mimeType":"text/plain","text":"more"}]}}`, got[4])
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"file://`+base+`/a.txt","mimeType":"text/plain","text":"one\n"}]}}`, got[5])
	assert.Contains(t, got[6], `"mimeType":"image/png","blob":"iVBORw0KGgoA"`)
	assert.Contains(t, got[8], `"description":"A result of grep_search, whole"`)
	assert.Contains(t, got[9], "big.txt:4000:0123456789")
}

func TestResourcesThatAreNotToBeRead(t *testing.T) {
	_, got := told(t, withSkills, tools.PolicyOptions{Deny: []string{"read_file(sub/**)", "read_file(.claude/skills/quiet/**)"}},
		rpc("resources/read", `"uri":"file:///etc/passwd"`),
		rpc("resources/read", `"uri":"file://DIR/sub/c.txt"`),
		rpc("resources/read", `"uri":"file://DIR/none.txt"`),
		rpc("resources/read", `"uri":"skill://hello/../../../a.txt"`),
		rpc("resources/read", `"uri":"skill://hello/%2e%2e/%2e%2e/%2e%2e/a.txt"`),
		rpc("resources/read", `"uri":"skill://quiet"`),
		rpc("resources/read", `"uri":"https://example.com/"`),
		rpc("resources/read", `"uri":""`),
	)
	for _, answer := range got[:7] {
		assert.Contains(t, answer, `"code":-32002,"message":"There is no such resource, or it may not be read"`)
	}
	assert.Contains(t, got[7], "uri must be the URI of a resource")

	_, got = told(t, withSkills, tools.PolicyOptions{}, rpc("resources/read", `"uri":"file://DIR/big.txt"`), rpc("resources/read", `"uri":"file://DIR/sub"`))
	assert.Contains(t, got[0], "it has more than 4 MiB; read_file reads it in parts")
	assert.Contains(t, got[1], "The resource cannot be read")

	_, got = told(t, withSkills, tools.PolicyOptions{Deny: []string{"read_file", "skill"}},
		rpc("resources/read", `"uri":"file://DIR/a.txt"`), rpc("resources/list", ""), rpc("resources/templates/list", ""), rpc("prompts/list", ""))
	assert.Contains(t, got[0], `-32002`)
	assert.Contains(t, got[1], `"resources":[]`)
	assert.Contains(t, got[2], `"resourceTemplates":[]`)
	assert.Contains(t, got[3], `"prompts":[]`)
}

func TestPathsAreCompleted(t *testing.T) {
	complete := func(uri, name, value string) string {
		return rpc("completion/complete", `"ref":{"type":"ref/resource","uri":"`+uri+`"},"argument":{"name":"`+name+`","value":"`+value+`"}`)
	}
	dir, got := told(t, withSkills, tools.PolicyOptions{Deny: []string{"read_file(b.png)"}},
		complete(fileTemplate, "path", "DIR/"), complete(fileTemplate, "path", "DIR/sub/c"), complete(fileTemplate, "path", "/"), complete(fileTemplate, "path", "/etc/"),
		complete(skillTemplate, "name", "H"))
	base := filepath.ToSlash(dir)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"completion":{"values":["`+base+`/.claude/","`+base+`/a.txt","`+base+`/big.txt","`+base+`/sub/"]}}}`, got[0])
	assert.Contains(t, got[1], `"values":["`+base+`/sub/c.txt"]`)
	assert.Contains(t, got[2], `"values":["`+base+`/"]`)
	assert.Contains(t, got[3], `"values":[]`)
	assert.Contains(t, got[4], `"values":["hello"]`)
}

func TestOnlyWhatDoesNotChangeMayBeKept(t *testing.T) {
	modern := func(method, params string) string { return rpc(method, params+modernMeta) }
	_, got := told(t, withSkills, tools.PolicyOptions{}, modern("tools/list", ""), modern("resources/list", ""), modern("prompts/list", ""), modern("resources/read", `"uri":"file://DIR/a.txt",`))
	assert.Contains(t, got[0], `"ttlMs":300000`)
	for _, answer := range got[1:] {
		assert.NotContains(t, answer, `"ttlMs":300000`)
	}
}
