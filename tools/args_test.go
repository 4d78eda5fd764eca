package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type sampleInput struct {
	FilePath string       `json:"file_path" jsonschema:"Which file. More words."`
	Count    *int         `json:"count,omitempty" jsonschema:"How many."`
	Ratio    float64      `json:"ratio,omitempty" jsonschema:"How much."`
	All      bool         `json:"replace_all,omitempty" jsonschema:"All of them."`
	Mode     string       `json:"output_mode,omitempty" enum:"fast,slow" jsonschema:"How."`
	Names    []string     `json:"names,omitempty" jsonschema:"Which names."`
	Edits    []sampleEdit `json:"edits,omitempty" jsonschema:"Which edits."`
}

type sampleEdit struct {
	Old string `json:"old_string" jsonschema:"Old."`
	New string `json:"new_string,omitempty" jsonschema:"New."`
}

func sampleTool(tr Traits, external bool) *Tool {
	t := New(Tool{Name: "sample", Title: "Sample", Description: "A sample.", Traits: tr, External: external},
		func(context.Context, *Session, sampleInput) (Output, error) { return Output{}, nil })
	return &t
}

func TestArgumentsAreForgivenThenValidated(t *testing.T) {
	for _, row := range []struct{ name, sent, want string }{
		{"as the schema says", `{"file_path":"a","count":2}`, `{"file_path":"a","count":2}`},
		{"null is absent", `{"file_path":"a","count":null,"x":null}`, `{"file_path":"a"}`},
		{"a number as text", `{"file_path":"a","count":"2","ratio":"0.5"}`, `{"file_path":"a","count":2,"ratio":0.5}`},
		{"a whole number with a fraction of nothing", `{"file_path":"a","count":2.0}`, `{"file_path":"a","count":2}`},
		{"a large whole number", `{"file_path":"a","count":1000000000000000000}`, `{"file_path":"a","count":1000000000000000000}`},
		{"truth as text", `{"file_path":"a","replace_all":"True"}`, `{"file_path":"a","replace_all":true}`},
		{"untruth as text", `{"file_path":"a","replace_all":"false"}`, `{"file_path":"a","replace_all":false}`},
		{"a list as text", `{"file_path":"a","names":"[\"x\", \"y\"]"}`, `{"file_path":"a","names":["x","y"]}`},
		{"objects in a list as text", `{"file_path":"a","edits":"[{\"old_text\":\"x\"}]"}`, `{"file_path":"a","edits":[{"old_string":"x"}]}`},
		{"text that looks like a number stays text", `{"file_path":"5"}`, `{"file_path":"5"}`},
		{"alias path", `{"path":"a"}`, `{"file_path":"a"}`},
		{"alias filePath", `{"filePath":"a"}`, `{"file_path":"a"}`},
		{"alias filename", `{"filename":"a"}`, `{"file_path":"a"}`},
		{"alias replaceAll", `{"path":"a","replaceAll":"true"}`, `{"file_path":"a","replace_all":true}`},
		{"camel case of any parameter", `{"path":"a","outputMode":"fast"}`, `{"file_path":"a","output_mode":"fast"}`},
		{"alias and name with one value", `{"path":"a","file_path":"a"}`, `{"file_path":"a"}`},
		{"alias and name, one null", `{"path":null,"file_path":"a"}`, `{"file_path":"a"}`},
		{"all arguments as text", `"{\"file_path\":\"a\"}"`, `{"file_path":"a"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, notes, err := sampleTool(Traits{}, false).prepare(json.RawMessage(row.sent))
			require.NoError(t, err)
			require.Empty(t, notes)
			require.JSONEq(t, row.want, string(got))
		})
	}
}

func TestWrongArgumentsAreNamedWithWhatWasExpectedAndWhatCame(t *testing.T) {
	for _, row := range []struct {
		name, sent string
		says       []string
	}{
		{"missing", `{}`, []string{"file_path is missing", "sample needs file_path", "a string", "Which file"}},
		{"missing among others", `{"count":1}`, []string{"file_path"}},
		{"no arguments", ``, []string{"file_path is missing"}},
		{"null for a required one", `{"file_path":null}`, []string{"file_path is missing"}},
		{"words for a number", `{"file_path":"a","count":"many"}`, []string{"count must be a whole number", `the string "many"`}},
		{"a fraction", `{"file_path":"a","count":1.5}`, []string{"count must be a whole number", "1.5"}},
		{"a number beyond all", `{"file_path":"a","count":1e30}`, []string{"count", "1e30"}},
		{"a list for a number", `{"file_path":"a","count":[1]}`, []string{"count", "a list ([1])"}},
		{"a number for text", `{"file_path":42}`, []string{"file_path must be a string", "42"}},
		{"an object for text", `{"file_path":{"a":1}}`, []string{"file_path must be a string", "an object"}},
		{"a word for truth", `{"file_path":"a","replace_all":"yes"}`, []string{"replace_all must be true or false", "yes"}},
		{"not one of the values", `{"file_path":"a","output_mode":"x"}`, []string{"output_mode must be one of fast, slow", `"x"`}},
		{"text for a list", `{"file_path":"a","names":"x"}`, []string{"names must be a list"}},
		{"wrong item", `{"file_path":"a","names":["x",{}]}`, []string{"names[1] must be a string"}},
		{"missing field of an item", `{"file_path":"a","edits":[{"new_string":"x"}]}`, []string{"edits[0].old_string is missing"}},
		{"unknown field of an item", `{"file_path":"a","edits":[{"old_string":"x","line":1}]}`, []string{"edits[0]", `"line"`}},
		{"alias and name that differ", `{"path":"a","file_path":"b"}`, []string{"path", "file_path", "different values"}},
		{"a list of arguments", `["a"]`, []string{"must be a JSON object", "a list"}},
		{"text that is no object", `"file_path=a"`, []string{"must be a JSON object"}},
		{"unknown on a tool that writes", `{"file_path":"a","append":true}`, []string{`no parameter "append"`, "nothing was done", "file_path, count"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, _, err := sampleTool(Traits{}, false).prepare(json.RawMessage(row.sent))
			require.Error(t, err)
			for _, words := range row.says {
				require.Contains(t, err.Error(), words)
			}
			require.Less(t, len(err.Error()), 600)
		})
	}
}

func TestUnknownParametersAreNotedWhereTheyCannotHarm(t *testing.T) {
	for name, tool := range map[string]*Tool{"a reader": sampleTool(Traits{ReadOnly: true}, false), "an outside tool": sampleTool(Traits{}, true)} {
		_, notes, err := tool.prepare(json.RawMessage(`{"file_path":"a","y":1,"x":2}`))
		require.NoError(t, err, name)
		require.Equal(t, []string{"ignored unknown parameters: x, y"}, notes)
		_, notes, err = tool.prepare(json.RawMessage(`{"file_path":"a","x":2}`))
		require.NoError(t, err, name)
		require.Equal(t, []string{"ignored unknown parameter: x"}, notes)
	}
}

func TestAnAliasIsOnlyAnAliasWhereTheToolLacksTheName(t *testing.T) {
	type in struct {
		Path     string `json:"path,omitempty" jsonschema:"A."`
		FilePath string `json:"file_path,omitempty" jsonschema:"B."`
	}
	tool := New(Tool{Name: "x", Description: "X."}, func(context.Context, *Session, in) (Output, error) { return Output{}, nil })
	got, _, err := tool.prepare(json.RawMessage(`{"path":"p","filename":"f"}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"path":"p","file_path":"f"}`, string(got))
}

func TestDerivedSchemasArePlain(t *testing.T) {
	schema := string(sampleTool(Traits{}, false).Schema())
	for _, no := range []string{"null", "additionalProperties", "$schema", "anyOf", "$ref"} {
		require.NotContains(t, schema, no)
	}
	require.Contains(t, schema, `"enum":["fast","slow"]`)
	require.Less(t, strings.Index(schema, `"count"`), strings.Index(schema, `"ratio"`), "parameters keep their order")
	require.JSONEq(t, `{"type":"object","properties":{}}`, string(New(Tool{Name: "x", Description: "X."}, func(context.Context, *Session, struct{}) (Output, error) { return Output{}, nil }).schema))
}

func TestNewPanicsOnAParameterWithoutWords(t *testing.T) {
	type in struct {
		A string `json:"a"`
	}
	require.PanicsWithValue(t, "tool x: input.a is not described", func() {
		New(Tool{Name: "x", Description: "X."}, func(context.Context, *Session, in) (Output, error) { return Output{}, nil })
	})
}

func TestRawToolsAreValidatedByTheirOwnSchema(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":3}},"required":["n"]}`)
	tool := NewRaw(Tool{Name: "mcp__x__y", Description: "Y.", External: true}, schema, nil)
	_, _, err := tool.prepare(json.RawMessage(`{"n":"4"}`))
	require.NoError(t, err)
	_, _, err = tool.prepare(json.RawMessage(`{"n":2}`))
	require.ErrorContains(t, err, "do not fit the tool's schema")
}

func FuzzArgumentsNeverPanicAndAlwaysFitTheSchema(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `"{}"`, `{"file_path":"a","count":"2"}`, `{"edits":"[{}]"}`, `[[[[`, `{"file_path":1e999}`, "\xff", `{"count":"+5","file_path":""}`} {
		f.Add([]byte(s))
	}
	tool := sampleTool(Traits{ReadOnly: true}, false)
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, _, err := tool.prepare(raw)
		if err != nil {
			return
		}
		if _, err := tool.decode(got); err != nil {
			t.Fatalf("%q became %s, which does not fit: %v", raw, got, err)
		}
	})
}
