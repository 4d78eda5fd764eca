package server

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/tools"
)

func progressOf(v float64) tools.Progress { return tools.Progress{Progress: v} }

func TestIDKeys(t *testing.T) {
	for _, same := range [][]string{{`1`, `1.0`, `1e0`, `10e-1`}, {`"1"`, `"\u0031"`}, {`-0.5`}, {`"n1"`}, {`9007199254740993`}} {
		first, ok := idKey(json.RawMessage(same[0]))
		require.True(t, ok)
		for _, s := range same[1:] {
			k, ok := idKey(json.RawMessage(s))
			assert.True(t, ok)
			assert.Equal(t, first, k, s)
		}
	}
	for _, s := range []string{``, `null`, `true`, `false`, `{}`, `[]`} {
		_, ok := idKey(json.RawMessage(s))
		assert.False(t, ok, s)
	}
}

func TestMembersMatchesEncodingJSON(t *testing.T) {
	for _, s := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a" : "x,}\"]" , "b":[1,{"c":"}"}],"c":null,"d":-1.5e3,"e":true}`, `{"\u0061":{}, "\\":""}`,
		`{"a":[[],[[]],{}],"b":"\\"}`,
		`{` + strings.Join([]string{`"1":1`, `"2":1`, `"3":1`, `"4":1`, `"5":1`, `"6":1`, `"7":1`, `"8":1`, `"9":1`, `"10":1`, `"11":1`, `"12":1`, `"13":1`, `"14":1`, `"15":1`, `"16":1`, `"17":1`, `"18":1`}, ",") + `}`,
	} {
		sameMembers(t, []byte(s))
	}
	assert.ErrorIs(t, members([]byte(`{"a":1,"b":2,"\u0061":3}`), func(string, json.RawMessage) {}), errTwice)
	assert.ErrorIs(t, members([]byte(`[1]`), func(string, json.RawMessage) {}), errNotObject)
}

func sameMembers(t *testing.T, obj []byte) {
	t.Helper()
	got := map[string]string{}
	n := 0
	err := members(obj, func(name string, v json.RawMessage) { got[name] = string(v); n++ })
	if err != nil {
		return
	}
	var want map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(obj, &want))
	require.Len(t, got, len(want))
	require.Equal(t, len(want), n)
	for k, v := range want {
		require.Equal(t, string(v), got[k])
	}
}

func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\"}"}], "c":null}`))
	f.Add([]byte("{\"\\u00e4\":\"\\ud800\"}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if !utf8.Valid(in) || !json.Valid(in) {
			return
		}
		sameMembers(t, in)
		if s := strings.TrimLeft(string(in), " \t\r\n"); s[0] == '[' {
			var want []json.RawMessage
			require.NoError(t, json.Unmarshal(in, &want))
			n := 0
			elements(in, func(v json.RawMessage) { require.Equal(t, string(want[n]), string(v)); n++ })
			require.Len(t, want, n)
		}
	})
}

// FuzzStdio: whatever comes in, every line that goes out is a JSON-RPC message
// or a batch of them, and serving ends with the input.
func FuzzStdio(f *testing.F) {
	for _, s := range []string{
		initialize("2025-03-26", "{}") + `[{"jsonrpc":"2.0","id":1,"method":"ping"},5]`,
		call("1", "echo", `{"text":"\ud800"}`) + call(`"x"`, "nope", `null`),
		`{"jsonrpc":"2.0","id":1e999,"method":"tools/call","params":{"name":"steps","arguments":{"count":3},"_meta":{"progressToken":"\ud800"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{` + modernMeta + `,"notifications":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}` + "\n\xff\n{\n",
		modernCall("1", `,"inputResponses":{"roots":5},"requestState":7`),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if strings.Contains(string(in), "hold") || strings.Contains(string(in), "deaf") || strings.Contains(string(in), "every") {
			return // they wait for more than the input's end
		}
		for _, line := range serve(t, newFixture(), strings.NewReader(string(in))) {
			require.True(t, utf8.ValidString(line), "%q", line)
			require.True(t, strings.HasSuffix(line, "\n"))
			var one map[string]json.RawMessage
			if line[0] == '[' {
				var all []map[string]json.RawMessage
				require.NoError(t, json.Unmarshal([]byte(line), &all), "%q", line)
				continue
			}
			require.NoError(t, json.Unmarshal([]byte(line), &one), "%q", line)
			require.Equal(t, `"2.0"`, string(one["jsonrpc"]))
		}
	})
}
