package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearest(t *testing.T) {
	words := []string{"root", "read-only", "allow", "allow-wide-root", "state-dir", "stdio", "help", "deny"}
	for got, want := range map[string]string{
		"rot": "root", "roots": "root", "readonly": "read-only", "stdoi": "stdio", "STDIO": "stdio", "alow": "allow",
		"wide-root": "allow-wide-root", "state": "state-dir", "http": "", "x": "", "": "", "sandbox": "",
	} {
		assert.Equal(t, want, nearest(got, words), got)
	}
}

func TestParseArguments(t *testing.T) {
	for in, want := range map[string]string{
		"":                "",
		" ":               "",
		`{"a":1}`:         "",
		` {"a":[1,{}]} `:  "",
		`{"a":1`:          "column 7: the JSON ends too early",
		`{"a":}`:          "column 6: invalid character '}' looking for beginning of value",
		`{'a':1}`:         "column 2: invalid character '\\'' looking for beginning of object key string",
		"{\"ä\":1,\n  x}": "line 2, column 3: invalid character 'x' looking for beginning of object key string",
		`[1]`:             "want a JSON object, got array",
		`"a"`:             "want a JSON object, got string",
		`null`:            "want a JSON object, got null",
		`{} x`:            `column 3: "x" follows the JSON object`,
	} {
		_, err := parseArguments(in)
		if want == "" {
			assert.NoError(t, err, in)
		} else {
			assert.EqualError(t, err, want, in)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	assert.Equal(t, "Reads a file.", firstSentence("Reads a file. And more."))
	assert.Equal(t, "Such as **/*.go or v1.2", firstSentence("Such as **/*.go\nor v1.2"))
	assert.Equal(t, []string{"one two", "three", "overlong-word", "four"}, wrap("one two three overlong-word four", 8))
}
