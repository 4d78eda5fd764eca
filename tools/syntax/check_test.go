package syntax

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// verdict is what Check should say of a text; line 0 and no reason: it parses.
type verdict struct {
	name, text string
	line       int
	reason     string
}

func runTable(t *testing.T, tests []verdict) {
	t.Helper()
	for _, tt := range tests {
		label := tt.name + " " + oneLine(strings.ReplaceAll(tt.text[:min(len(tt.text), 60)], "\n", "⏎"))
		t.Run(label, func(t *testing.T) {
			err, known := Check(tt.name, tt.text)
			require.True(t, known)
			if tt.reason == "" {
				assert.Nil(t, err)
				return
			}
			require.NotNil(t, err)
			assert.Equal(t, tt.line, err.Line)
			assert.Equal(t, tt.reason, err.Reason)
			assertSane(t, tt.text, err)
		})
	}
}

// assertSane checks what holds for every error.
func assertSane(t *testing.T, text string, err *Error) {
	t.Helper()
	if err == nil {
		return
	}
	assert.NotEmpty(t, err.Language)
	assert.NotEmpty(t, err.Reason)
	assert.True(t, utf8.ValidString(err.Reason))
	assert.LessOrEqual(t, utf8.RuneCountInString(err.Reason), maxReason)
	assert.NotContains(t, err.Reason, "\n")
	assert.NotContains(t, err.Reason, "\x1b")
	assert.LessOrEqual(t, err.Line, strings.Count(text, "\n")+1)
	assert.GreaterOrEqual(t, err.Line, 0)
	assert.GreaterOrEqual(t, err.Column, 0)
}

func TestErrorFollowsAColon(t *testing.T) {
	var err error = &Error{Language: "JSON", Line: 12, Column: 3, Reason: "why"}
	assert.EqualError(t, err, "line 12: why")
	assert.EqualError(t, &Error{Line: 1, Column: 5000, Reason: "why"}, "line 1, column 5000: why")
	assert.EqualError(t, &Error{Reason: "why"}, "why")
}

func TestBlankIsNoError(t *testing.T) {
	for _, name := range []string{"a.json", "a.jsonl", "a.jsonc", "a.yaml", "a.toml", "a.xml", "a.go", "a.sh"} {
		for _, text := range []string{"", "\n", " \t\r\n", "\ufeff", "\ufeff\n"} {
			err, known := Check(name, text)
			assert.True(t, known, "%s %q", name, text)
			assert.Nil(t, err, "%s %q", name, text)
		}
	}
}

func TestUnknown(t *testing.T) {
	for name, text := range map[string]string{
		"a.txt":         "{",
		"a.json5":       "{",
		"a.zsh":         "if",
		".zshrc":        "if",
		"go.mod":        "module",
		"Makefile":      "if",
		"a.py":          "#!/bin/sh\nif",
		"run":           "#!/usr/bin/env python3\nif (",
		"run.sh":        "#!/usr/bin/zsh\nif (",
		"":              "{",
		"chart.yaml.j2": "{",
		"large.json":    strings.Repeat("{", maxText+1),
		"large.yaml":    "[" + strings.Repeat(" ", maxTree),
		"old.xml":       `<?xml version="1.1"?><a>`,
	} {
		err, known := Check(name, text)
		assert.False(t, known, name)
		assert.Nil(t, err, name)
	}
}

func TestPanicHasNoVerdict(t *testing.T) {
	err, known := guarded(func(string) (*Error, bool) { panic("a parser's mistake") }, "")
	assert.False(t, known)
	assert.Nil(t, err)
}

func TestOneLine(t *testing.T) {
	assert.Equal(t, "red text", oneLine("\x1bred\x00 text\nsecond line"))
	assert.Equal(t, maxReason, utf8.RuneCountInString(oneLine(strings.Repeat("é", 1000))))
	assert.Equal(t, "bytes", oneLine("by\xfftes"))
}

func FuzzCheck(f *testing.F) {
	names := []string{"a.yaml", "a.toml", "a.xml", "a.xhtml", "a.go", "a.sh", "a.ksh", "a.bats", "run", "a.jsonl"}
	for _, text := range []string{
		"a: [1, {b: 'c'}]\n---\n- &x y\n- *x\n", "a: |\n  b\n c: \"\n", "? a\n: !!x b", "%YAML 1.2\n---\n",
		"[a]\nb = 1979-05-27\n[[c]]\nd = {e = '''x'''}", "a = \"\\u00\"",
		"<!DOCTYPE a [<!ENTITY b \"c\">]><a d='&b;'><!-- x --><![CDATA[y]]></a>", "<a><b></a>",
		"package a\n//line x.go:99\nfunc f() { if x {", "#!/bin/sh\nif a; then b; fi <<E\nx\nE\n", "$(( ${a[@]/b/`c`} ", "@test x {",
	} {
		for i := range names {
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, name uint8, text string) {
		err, known := Check(names[int(name)%len(names)], text)
		if !known {
			assert.Nil(t, err)
		}
		assertSane(t, text, err)
	})
}
