package bridge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func lookup(name string) (string, bool) {
	v, ok := map[string]string{"HOME": "/home/me", "EMPTY": "", "TOKEN": "s3cret"}[name]
	return v, ok
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       []Entry
	}{
		{"a program", `{"mcpServers":{"a":{"command":"npx","args":["-y","${HOME}/x"],"env":{"B":"2","A":"${TOKEN}"},"cwd":"/w"}}}`,
			[]Entry{{Name: "a", Key: "a", Command: "npx", Args: []string{"-y", "/home/me/x"}, Env: []string{"A=s3cret", "B=2"}, Dir: "/w", Timeout: defaultTimeout}}},
		{"an address", `{"mcpServers":{"gh.io":{"url":"https://x.example/mcp","headers":{"Authorization":"Bearer ${TOKEN}"},"trusted":true,"deferred":false,"timeout":1500}}}`,
			[]Entry{{Name: "gh.io", Key: "gh_io", URL: "https://x.example/mcp", Headers: map[string]string{"Authorization": "Bearer s3cret"}, Trusted: true, Listed: true, Timeout: 1500 * time.Millisecond}}},
		{"the order of the file", `{"mcpServers":{"z":{"command":"z"},"a":{"command":"a"}}}`,
			[]Entry{{Name: "z", Key: "z", Command: "z", Timeout: defaultTimeout}, {Name: "a", Key: "a", Command: "a", Timeout: defaultTimeout}}},
		{"comments, commas, a byte-order mark, the other name of the key, keys of others", "\ufeff{\"servers\":{/* x */\"a\":{\"type\":\"stdio\",\"command\":\"a\",\"alwaysAllow\":[1],},},\"inputs\":[]}",
			[]Entry{{Name: "a", Key: "a", Command: "a", Timeout: defaultTimeout}}},
		{"defaults, and VS Code's way to name a variable", `{"mcpServers":{"a":{"command":"${NONE:-x}","args":["${EMPTY:-y}","${EMPTY}","${env:HOME}","$HOME"]}}}`,
			[]Entry{{Name: "a", Key: "a", Command: "x", Args: []string{"y", "", "/home/me", "$HOME"}, Timeout: defaultTimeout}}},
		{"one switched off", `{"mcpServers":{"a":{"command":"a","disabled":true},"b":{"url":"http://x/","enabled":false}}}`, nil},
		{"a variable that is not set", `{"mcpServers":{"a":{"command":"a","env":{"K":"${NONE}"}}}}`,
			[]Entry{{Name: "a", Key: "a", Command: "a", Env: []string{"K="}, Timeout: defaultTimeout, Broken: "its configuration wants NONE, which is not set in the environment"}}},
		{"none at all", `{"mcpServers":{}}`, nil},
	} {
		got, err := Parse([]byte(c.file), lookup)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, got, c.name)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"no JSON", `{`, "it is not JSON"},
		{"no servers", `{"mcp":{}}`, `it has no "mcpServers"`},
		{"a list of servers", `{"mcpServers":[]}`, "mcpServers must be an object"},
		{"no object", `[]`, "it must be an object with mcpServers"},
		{"neither command nor url", `{"mcpServers":{"a":{}}}`, `server "a": it needs a command to start, or the url of a server`},
		{"both", `{"mcpServers":{"a":{"command":"x","url":"http://y"}}}`, `server "a": it has both`},
		{"a type that does not fit", `{"mcpServers":{"a":{"command":"x","type":"http"}}}`, `server "a": type "http" does not fit`},
		{"a wrong type", `{"mcpServers":{"a":{"command":["x"]}}}`, `server "a": command must be a string, but a list came`},
		{"a yes in words", `{"mcpServers":{"a":{"command":"x","trusted":"yes"}}}`, `server "a": trusted must be true or false, but a string came`},
		{"no object for an entry", `{"mcpServers":{"a":"x"}}`, `server "a": it must be an object, but a string came`},
		{"a number in env", `{"mcpServers":{"a":{"command":"x","env":{"A":1}}}}`, `server "a": each value in env must be a string, but a number came`},
		{"no address", `{"mcpServers":{"a":{"url":"ftp://x"}}}`, `server "a": its url is none of http or https`},
		{"one name twice", `{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`, `server "a" is there twice`},
		{"names that become one", `{"mcpServers":{"a.b":{"command":"x"},"A b":{"command":"y"}}}`, `the tools of "a.b" and of "A b" would both be called`},
		{"a name of no letters", `{"mcpServers":{"..":{"command":"x"}}}`, `server "..": a server needs a name`},
		{"a bad pattern", `{"mcpServers":{"a":{"command":"x","deny":["["]}}}`, `server "a": "[" is no pattern`},
		{"no time at all", `{"mcpServers":{"a":{"command":"x","timeout":0}}}`, `server "a": timeout is in milliseconds`},
	} {
		_, err := Parse([]byte(c.file), lookup)
		assert.ErrorContains(t, err, c.want, c.name)
	}
}

func TestTheOldTransportIsRefusedWhenItIsWanted(t *testing.T) {
	list, err := Parse([]byte(`{"mcpServers":{"a":{"type":"sse","url":"http://x/sse"},"b":{"command":"x"}}}`), lookup)
	require.NoError(t, err, "the others can be used")
	assert.Contains(t, list[0].Broken, "type sse")
}

func FuzzParse(f *testing.F) {
	f.Add(`{"mcpServers":{"a":{"command":"x","args":["${A:-b}"],"timeout":1}}}`)
	f.Add(`{"servers":{"a":{"url":"http://x","headers":{"A":"${B}"}},}}`)
	f.Fuzz(func(t *testing.T, file string) {
		list, err := Parse([]byte(file), lookup)
		if err != nil {
			return
		}
		for _, e := range list {
			if e.Key == "" || wordOf(e.Key) != e.Key || e.Timeout <= 0 || (e.Command == "") == (e.URL == "") && e.Broken == "" {
				t.Fatalf("%+v", e)
			}
		}
	})
}
