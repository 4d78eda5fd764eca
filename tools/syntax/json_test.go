package syntax

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/tailscale/hujson"
)

func TestJSON(t *testing.T) {
	runTable(t, []verdict{
		{"a.json", `{"a": [1, 2.5e3, "x", null, true]}`, 0, ""},
		{"a.json", "\ufeff{}", 0, ""},
		{"a.json", "\ufeff\n{,}", 2, "invalid character ',' where a key in double quotes should begin"},
		{"a.json", `{"a": 1, "a": 2}`, 0, ""},
		{"a.json", "{\n  \"a\": 1,\n}\n", 3, "there is a comma too many before '}'"},
		{"a.json", "[\n  1,\n]", 3, "there is a comma too many before ']'"},
		{"a.json", "{\n  \"a\" 1\n}", 2, "invalid character '1' after an object key, where ':' should follow"},
		{"a.json", "{\n  \"a\"}\n", 2, "invalid character '}' after an object key, where ':' should follow"},
		{"a.json", "{\n \"a\": 1\n \"b\": 2\n}", 3, "invalid character '\"' after a value, where ',' or '}' should follow"},
		{"a.json", "[1\n2]", 2, "invalid character '2' after an array element, where ',' or ']' should follow"},
		{"a.json", "{\n // x\n}", 2, "a comment is not allowed here"},
		{"a.json", "{\n /* x */\n}", 2, "a comment is not allowed here, or not closed"},
		{"a.json", "{\n \"a\": 1\n\n\n", 2, "the text ends before the JSON value is complete"},
		{"a.json", "{}\n}\n", 2, "invalid character '}' after the end of the JSON value"},
		{"a.json", "{\n \"a\": “x”\n}", 2, "invalid character '“' where a value should begin"},
		{"a.json", "{\n \"a\": \"x\ny\"\n}", 2, `invalid character '\n' in string literal`},
		{"a.json", "{\n<<<<<<< HEAD\n}", 2, "conflict markers of a merge"},
		{"a.json", "{'a': 1}", 1, `invalid character '\'' where a key in double quotes should begin`},
		{"a.json", `{"a": NaN}`, 1, "invalid character 'N' where a value should begin"},
		{"a.json", strings.Repeat("[", 100_000), 1, "nested too deeply"},
		{"package.json", "{} // x", 1, "a comment is not allowed here"},

		{"a.jsonl", "{}\n\n[1]\r\n", 0, ""},
		{"a.ndjson", "{}\n[1\n]\n", 2, "the text ends before the JSON value is complete"},
		{"a.jsonl", "{}\n{} {}\n", 2, "invalid character '{' after the end of the JSON value"},

		{"a.jsonc", "// x\n{ /* y */ \"a\": [1, 2, /* z */ ], // w\n \"b\": \"// no, ] \\\" */\", }\n// end", 0, ""},
		{"a.jsonc", "[1,,]", 1, "invalid character ',' where a value should begin"},
		{"a.jsonc", "[,]", 1, "invalid character ',' where a value should begin"},
		{"a.jsonc", "{\"a\":,}", 1, "invalid character ',' where a value should begin"},
		{"a.jsonc", "{\n // x\n \"a\" 1\n}", 3, "invalid character '1' after an object key, where ':' should follow"},
		{"a.jsonc", "{\n /* x\n \"a\": 1\n}", 2, "a comment is not allowed here, or not closed"},
		{"a.jsonc", "{\"a\": 1,\n \"b: 2,\n}", 2, `invalid character '\n' in string literal`},
		{"a.jsonc", strings.Repeat("[", 100_000), 1, "nested too deeply"},
	})
}

func FuzzJSON(f *testing.F) {
	for _, text := range []string{"{}", "[1,]", "{\"a\":\"\\u00\"}", "\"\xff\"", "1 2", "//", "nul", "-", "é", "[[[[", "\"a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "\ufeff") {
			return
		}
		err, known := Check("a.json", text)
		assert.True(t, known)
		assert.Equal(t, json.Valid([]byte(text)), err == nil)
		assertSane(t, text, err)
	})
}

// FuzzJSONC compares with hujson, which wants a line break after each line
// comment, UTF-8 in comments, and no other characters there that end lines.
func FuzzJSONC(f *testing.F) {
	for _, text := range []string{"{}//", "[1,/**/]", "[1,//\n]", "/*/ 1 */2", "{\"//\":1,}", "[,]", "{\"a\":,}", "[1,,]", "/", "[/*]", "\"\\\"//\"", "[\"\\", "{\"a\",}", "[1,}", ",]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.TrimSpace(text) == "" || !utf8.ValidString(text) || strings.ContainsAny(text, "\ufeff\u2028\u2029\r\v\f\u0085") {
			return
		}
		err, known := Check("a.jsonc", text)
		assert.True(t, known)
		_, want := hujson.Parse([]byte(text + "\n"))
		assert.Equal(t, want == nil, err == nil, "hujson says %v", want)
		assertSane(t, text, err)
	})
}
