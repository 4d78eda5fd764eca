package notebook

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// change is what an edit takes away and what it puts there.
func change(before, after string) (gone, come string) {
	start := commonPrefix(before, after)
	end := 0
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return before[start : len(before)-end], after[start : len(after)-end]
}

func TestEdits(t *testing.T) {
	tests := []struct {
		why, file string
		edit
		gone, come string
	}{
		{
			"the last line of a cell; the lines before stay as they are spelled, outputs go", "ascii-44.ipynb",
			edit{"replace", "cell-1", "print('naïve 😀')\nprint('é')", ""},
			"7,\n   \"metadata\": {},\n   \"outputs\": [\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n      \"na\\u00efve \\ud83d\\ude00\\n\"\n     ]\n    }\n   ],\n   \"source\": [\n    \"print('na\\u00efve \\ud83d\\ude00')\\n",
			"null,\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"print('na\\u00efve \\ud83d\\ude00')\\n\",\n    \"print('\\u00e9')",
		},
		{
			"CRLF file", "vscode.ipynb",
			edit{"replace", "cell-2", "y = 2\nz = 'é'\n", ""},
			"", "\\n\",\r\n    \"z = 'é'\\n",
		},
		{
			"code becomes markdown", "vscode.ipynb",
			edit{"replace", "cell-2", "y", Markdown},
			"code\",\r\n   \"execution_count\": null,\r\n   \"metadata\": {},\r\n   \"outputs\": [],\r\n   \"source\": [\r\n    \"y = 2",
			"markdown\",\r\n   \"metadata\": {},\r\n   \"source\": [\r\n    \"y",
		},
		{
			"the type alone; the attachment goes", "jupyter.ipynb",
			edit{"replace", "d00d0001", ".. rst::\n", Code},
			"raw\",\n   \"id\": \"d00d0001\",\n   \"metadata\": {}",
			"code\",\n   \"execution_count\": null,\n   \"id\": \"d00d0001\",\n   \"metadata\": {},\n   \"outputs\": []",
		},
		{
			"an empty cell takes the white space of others", "colab.ipynb",
			edit{"replace", "cell-2", "a\nb", ""},
			"", "\n        \"a\\n\",\n        \"b\"\n      ",
		},
		{
			"minified", "colab-min.ipynb",
			edit{"replace", "cell-2", "a\n</b> é", ""},
			"", "\"a\\n\",\"</b> é\"",
		},
		{
			"minified, the new keys last as there is no order", "colab-min.ipynb",
			edit{"replace", "cell-0", "1", Code},
			"markdown\",\"source\":[\"## Setup\\n\",\"Run this first.\"],\"metadata\":{\"id\":\"mK3lPq\"}",
			"code\",\"source\":[\"1\"],\"metadata\":{\"id\":\"mK3lPq\"},\"execution_count\":null,\"outputs\":[]",
		},
		{
			"sources that are one string, and a byte order mark", "jupytext.ipynb",
			edit{"replace", "90ab12cd", "def f():\n    return 'é'", ""},
			"1", "'é'",
		},
		{
			"insert with an id", "jupyter.ipynb",
			edit{"insert", "77e0aa3b", "a\nb", Markdown},
			"",
			"markdown\",\n   \"id\": \"00010203\",\n   \"metadata\": {},\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  },\n  {\n   \"cell_type\": \"",
		},
		{
			"insert as one string", "jupytext.ipynb",
			edit{"insert", "90ab12cd", "a\nb", Code},
			"",
			",\n        {\n            \"cell_type\": \"code\",\n            \"execution_count\": null,\n            \"id\": \"00010203\",\n            \"metadata\": {},\n            \"outputs\": [],\n            \"source\": \"a\\nb\"\n        }",
		},
		{
			"insert at the beginning, without an id before nbformat 4.5", "vscode.ipynb",
			edit{"insert", "", "", Raw},
			"",
			"raw\",\r\n   \"metadata\": {},\r\n   \"source\": []\r\n  },\r\n  {\r\n   \"cell_type\": \"",
		},
		{
			"insert minified", "colab-min.ipynb",
			edit{"insert", "cell-2", "x", Code},
			"", ",{\"cell_type\":\"code\",\"source\":[\"x\"],\"metadata\":{},\"execution_count\":null,\"outputs\":[]}",
		},
		{
			"delete the first", "colab-min.ipynb",
			edit{"delete", "cell-0", "", ""},
			"markdown\",\"source\":[\"## Setup\\n\",\"Run this first.\"],\"metadata\":{\"id\":\"mK3lPq\"}},{\"cell_type\":\"", "",
		},
		{
			"delete the last", "vscode.ipynb",
			edit{"delete", "cell-2", "", ""},
			",\r\n  {\r\n   \"cell_type\": \"code\",\r\n   \"execution_count\": null,\r\n   \"metadata\": {},\r\n   \"outputs\": [],\r\n   \"source\": [\r\n    \"y = 2\"\r\n   ]\r\n  }", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			before := load(t, tt.file)
			n := parse(t, before)
			n.Rand = bytes.NewReader([]byte{0, 1, 2, 3})
			out, err := tt.run(n)
			require.NoError(t, err)
			gone, come := change(before, out.Text)
			require.Equal(t, tt.gone, gone)
			require.Equal(t, tt.come, come)
			check(t, before, tt.edit)
		})
	}
}

// TestLayouts: white space that no tool writes, kept or followed.
func TestLayouts(t *testing.T) {
	code := func(rest string) string {
		return `"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],` + rest
	}
	tests := []struct {
		why, before string
		edit
		after string
	}{
		{
			"no cells, two spaces", "{\n  \"cells\": [\n  ],\n  \"nbformat\": 4\n}",
			edit{"insert", "", "a", Raw},
			"{\n  \"cells\": [\n    {\n      \"cell_type\": \"raw\",\n      \"metadata\": {},\n      \"source\": [\n        \"a\"\n      ]\n    }\n  ],\n  \"nbformat\": 4\n}",
		},
		{
			"no cells, minified", `{"cells":[],"nbformat":4}`,
			edit{"insert", "", "a\nb", Code},
			`{"cells":[{` + code(`"source":["a\n","b"]`) + `}],"nbformat":4}`,
		},
		{
			"the only cell", "{\"cells\": [\n  {\"id\": \"a\"}\n ] }",
			edit{"delete", "a", "", ""},
			"{\"cells\": [] }",
		},
		{
			"no source", `{"cells":[{"cell_type":"raw","metadata":{}}]}`,
			edit{"replace", "cell-0", "a\n", ""},
			`{"cells":[{"cell_type":"raw","metadata":{},"source":["a\n"]}]}`,
		},
		{
			"no cell_type", `{ "cells": [{ "source": 7 }] }`,
			edit{"replace", "cell-0", "a", Markdown},
			`{ "cells": [{ "cell_type": "markdown", "source": ["a"] }] }`,
		},
		{
			"a type nobody knows stays", `{"cells":[{"cell_type":"odd","source":"","outputs":[1]}]}`,
			edit{"replace", "cell-0", "a", ""},
			`{"cells":[{"cell_type":"odd","source":"a","outputs":[1]}]}`,
		},
		{
			"outputs missing, spaces and escapes elsewhere", `{"cells":[ {"a\u002fb" : "\/\ud800" , "cell_type":"c\u006fde","source" :[ "x" , "y" ] } ]}`,
			edit{"replace", "cell-0", "y", ""},
			`{"cells":[ {"a\u002fb" : "\/\ud800" , "cell_type":"c\u006fde","source" :[ "y" ] } ]}`,
		},
		{
			"half a surrogate pair in a line that stays", `{"cells":[{"cell_type":"raw","source":["\ud800\n","b"]}]}`,
			edit{"replace", "cell-0", "\ufffd\nc", ""},
			`{"cells":[{"cell_type":"raw","source":["\ud800\n","c"]}]}`,
		},
		{
			"sources with CRLF", `{"cells":[{"cell_type":"raw","source":["a\r\n","b"]}]}`,
			edit{"replace", "cell-0", "a\nc\n", ""},
			`{"cells":[{"cell_type":"raw","source":["a\r\n","c\r\n"]}]}`,
		},
		{
			"source with CRLF where none is", `{"cells":[{"cell_type":"raw","source":["a"]}]}`,
			edit{"replace", "cell-0", "a\r\nb", ""},
			`{"cells":[{"cell_type":"raw","source":["a\n","b"]}]}`,
		},
		{
			"source with line ends that are neither", `{"cells":[{"cell_type":"raw","source":["a"]}]}`,
			edit{"replace", "cell-0", "a\r\r\nb\r\n", ""},
			`{"cells":[{"cell_type":"raw","source":["a\r\r\n","b\r\n"]}]}`,
		},
		{
			"mixed line ends", `{"cells":[{"cell_type":"raw","source":["a\n", "b\r\n"]}]}`,
			edit{"replace", "cell-0", "a\nb\r\nc\n", ""},
			`{"cells":[{"cell_type":"raw","source":["a\n", "b\r\n", "c\n"]}]}`,
		},
		{
			"only cells are indented", "{\"cells\": [\n  {\n    \"cell_type\":\"raw\",\n    \"source\": []\n  }\n]}",
			edit{"replace", "cell-0", "a\nb", ""},
			"{\"cells\": [\n  {\n    \"cell_type\":\"raw\",\n    \"source\": [\n      \"a\\n\",\n      \"b\"\n    ]\n  }\n]}",
		},
		{
			"an escaped backslash is no escape", `{"cells":[{"cell_type":"raw","source":"\\u00e9"}]}`,
			edit{"replace", "cell-0", "é\x00\x7f", ""},
			`{"cells":[{"cell_type":"raw","source":"é\u0000` + "\x7f" + `"}]}`,
		},
		{
			"ASCII throughout", `{"cells":[{"cell_type":"raw","source":"\u00C9"}]}`,
			edit{"replace", "cell-0", "é😀\x7f\u2028", ""},
			`{"cells":[{"cell_type":"raw","source":"\u00e9\ud83d\ude00\u007f\u2028"}]}`,
		},
		{
			"a cell that is none", `{"cells":[1, 2, 3]}`,
			edit{"delete", "cell-1", "", ""},
			`{"cells":[1, 3]}`,
		},
		{
			"next to one", `{"cells":[1, 2]}`,
			edit{"insert", "cell-0", "a", Raw},
			`{"cells":[1, {"cell_type":"raw","metadata":{},"source":["a"]}, 2]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			out, err := tt.run(parse(t, tt.before))
			require.NoError(t, err)
			require.Equal(t, tt.after, out.Text)
		})
	}
}

func TestEditsRefused(t *testing.T) {
	twice := `{"cells": [{"cell_type": "code", "id": "x", "source": "a", "s\u006furce": "b"}], "nbformat": 4, "nbformat_minor": 5}`
	tests := []struct {
		why, text string
		edit
		want string
	}{
		{"unchanged", `{"cells": [{"cell_type": "raw", "source": ["a\n", "b"]}]}`, edit{"replace", "cell-0", "a\r\nb", Raw}, ErrNoChange.Error()},
		{"no such type", `{"cells": [{}]}`, edit{"replace", "cell-0", "", "heading"}, `"heading" is no type of cell; code, markdown and raw are`},
		{"no type", `{"cells": []}`, edit{"insert", "", "", ""}, "the type of the new cell is missing: code, markdown or raw"},
		{"not UTF-8", `{"cells": [{}]}`, edit{"replace", "cell-0", "\xff", ""}, "the source is not valid UTF-8"},
		{"not UTF-8", `{"cells": [{}]}`, edit{"insert", "cell-0", "\xff", Raw}, "the source is not valid UTF-8"},
		{"a key twice", twice, edit{"replace", "x", "c", ""}, `cell-0 (id x) has the key "source" twice, and which one counts is not defined; write the file anew with write_file`},
		{"a key twice", twice, edit{"delete", "x", "", ""}, `cell-0 (id x) has the key "source" twice, and which one counts is not defined; write the file anew with write_file`},
		{"no object", `{"cells": [null]}`, edit{"replace", "cell-0", "c", ""}, "cell-0 is no object in the JSON of the notebook; delete it and insert a cell"},
		{"nbformat 3", load(t, "nbformat-3.ipynb"), edit{"insert", "", "c", Raw}, `the notebook is of the old nbformat 3, which can be shown but not edited. "jupyter nbconvert --to notebook --inplace FILE" converts it`},
		{"nbformat 5", `{"cells": [], "nbformat": 5}`, edit{"insert", "", "c", Raw}, "the notebook is of nbformat 5; 4 is the newest that can be edited"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			out, err := tt.run(parse(t, tt.text))
			require.EqualError(t, err, tt.want)
			require.Equal(t, Edited{}, out)
		})
	}
}

func TestNewIDs(t *testing.T) {
	n := parse(t, `{"cells": [{"cell_type": "raw", "id": "00000000"}], "nbformat": 4, "nbformat_minor": 5}`)
	n.Rand = strings.NewReader("\x00\x00\x00\x00\xfe\x00\x00\x01")
	out, err := n.Insert("", "", Raw)
	require.NoError(t, err)
	require.Equal(t, "fe000001", out.Name)

	_, err = n.Insert("", "", Raw)
	require.ErrorContains(t, err, "no id for the new cell: EOF")
	n.Rand = strings.NewReader(strings.Repeat("\x00", 400))
	_, err = n.Insert("", "", Raw)
	require.EqualError(t, err, "no id for the new cell: 100 random ones were taken")

	n.Rand = nil
	out, err = n.Insert("00000000", "", Code)
	require.NoError(t, err)
	require.Regexp(t, "^[0-9a-f]{8}$", out.Name)
	require.Equal(t, 1, out.Index)

	// Without a word on the format, cells that have ids tell.
	out, err = parse(t, `{"cells": [{"cell_type": "raw", "id": "a"}]}`).Insert("", "", Raw)
	require.NoError(t, err)
	require.Contains(t, out.Text, `"id": "`+out.Name)
}

func TestEdited(t *testing.T) {
	out, err := parse(t, load(t, "jupyter.ipynb")).Replace("cell-1", "x", "")
	require.NoError(t, err)
	out.Text = ""
	require.Equal(t, Edited{Name: "a81b22fe", Index: 1, Type: Code, Cleared: 3}, out)
	out, err = parse(t, load(t, "vscode.ipynb")).Delete("cell-1")
	require.NoError(t, err)
	out.Text = ""
	require.Equal(t, Edited{Name: "cell-1", Index: 1, Type: Code, Cleared: 1}, out)
}
