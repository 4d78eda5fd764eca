package syntax

import (
	"strings"
	"testing"
)

const (
	wrongKey    = " (wrong indentation, or text after a closing quote or bracket?)"
	wrongValue  = " (wrong indentation, or a value with ': ' that needs quotes?)"
	openBracket = " (a bracket that is not closed?)"
)

func TestYAML(t *testing.T) {
	runTable(t, []verdict{
		{"a.yml", "a: &x [1, 2]\nb: *x\n---\n- c\n...\n", 0, ""},
		{"a.yaml", "Ref: !Ref Bucket\nSub: !Sub '${A}-x'\nIf: !If [a, !GetAtt b.c, !Ref d]\n", 0, ""},
		{"a.yaml", "a: 1\na: 2\n", 0, ""},
		{"a.yaml", "\ufeffa: 1\r\nb:\r\n  - c\r\n", 0, ""},
		{"a.yaml", "run: |\n  if x: then\n\n  : {[\nnext: >-\n  y\n", 0, ""},
		{"a.yaml", "a: 1\nb: 2\n  c: 3\nd: 4\ne: 5\n", 3, "mapping values are not allowed in this context" + wrongValue},
		{"a.yaml", "a: 1\nb: c: d\ne: 1\n", 2, "mapping values are not allowed in this context" + wrongValue},
		{"a.yaml", "a: b: c\n", 1, "mapping values are not allowed in this context" + wrongValue},
		{"a.yaml", "a:\n  b: 1\n c: 2\nd: 3\nf: 4\n", 3, "did not find expected key" + wrongKey},
		{"a.yaml", "on:\n  push:\n    b: [main]\n   pull: x\njobs:\n  a: 1\n", 4, "did not find expected key" + wrongKey},
		{"a.yaml", "a: 1\nb: 'it's'\nc: 1\n", 2, "did not find expected key" + wrongKey},
		{"a.yaml", "a: 1\nb: [1, 2]]\nc: 1\n", 2, "did not find expected key" + wrongKey},
		{"a.yaml", "a:\n  - b\n  c: 1\nd: 1\n", 3, "did not find expected '-' indicator" + wrongKey},
		{"a.yaml", "a:\n  - x\n  - y: [1, 2\nb: 1\nc: 2\nd: 3\n", 3, "did not find expected ',' or ']'" + openBracket},
		{"a.yaml", "a: 1\nb: {x: 1, y: 2\nc: 1\nd: 2\n", 2, "did not find expected ',' or '}'" + openBracket},
		{"a.yaml", "l: [1,\n  2,\n  3]\nb: \"open\nc: 1\nd: 2\n", 4, "a quote is not closed"},
		{"a.yaml", "a: 1\nb 2\nc: 3\nd: 4\n", 2, "could not find expected ':'"},
		{"a.yaml", "a:\n  b: 1\n\tc: 2\nd: 3\n", 3, "found a tab character that violates indentation"},
		{"a.yaml", "a: 1\nb: @x\nc: 1\n", 2, "found character that cannot start any token"},
		{"a.yaml", "a: 1\nb: \"\\q\"\nc: 1\n", 2, "found unknown escape character"},
		{"a.yaml", "a: 1\nb: *nope\nc: 1\nd: 1\n", 2, "unknown anchor 'nope' referenced"},
		{"a.yaml", "a: 1\nb: \x01\nc: 1\n", 2, "control characters are not allowed"},
		{"a.yaml", "a: 1\nx:\n{{- if .x }}\nb: 1\n{{- end }}\nc: 1\n", 3, "could not find expected ':'"},
		{"a.yaml", "a: 1\n---\nb: 1\nc: 2\n d: 1\ne: 1\n", 5, "mapping values are not allowed in this context" + wrongValue},
		{"a.yaml", strings.Repeat("k:\n  - v: 1\n", 3000) + "a: ]\n" + strings.Repeat("k:\n  - v: 1\n", 3000), 6001, "did not find expected node content"},
	})
}

func TestTOML(t *testing.T) {
	long := strings.Repeat("# a comment\n", maxDecoded/12+1)
	lines := strings.Count(long, "\n")
	runTable(t, []verdict{
		{"a.toml", "[a]\nb = \"c\"\n[[d]]\ne = 1979-05-27T07:32:00Z\nf = [1, 2,\n # x\n]\ng.h = '''\nx'''\n", 0, ""},
		{"Cargo.lock", "version = 3\n[[package]]\nname = \"a\"\n[[package]]\nname = \"b\"\n", 0, ""},
		{"Pipfile", "[packages]\na = \"*\"\n", 0, ""},
		{"a.toml", "\ufeffa = 1\r\nb = 2\r\n", 0, ""},
		{"a.toml", "a = 1\nb = \n", 2, "unexpected end of the line at start of value"},
		{"a.toml", "a = 1\na = 2\n", 2, "key a is already defined"},
		{"a.toml", "[a]\nb = 1\n[a]\nc = 1\n", 3, "table a already exists"},
		{"a.toml", "a = 1\nb = [1, 2\nc = 3\n", 3, "expected ',' or ']' after array value"},
		{"a.toml", "a = 1\nb = \"x\nc = 3\n", 2, "basic strings cannot have new lines"},
		{"a.toml", "a = 1\nb\n", 2, "expected '=' after key"},
		{"a.toml", "a = 1\nb = yes\n", 2, "unexpected character U+0079 'y' at start of value"},
		{"a.toml", long + "a = 1\na = 2\n", 0, ""},
		{"a.toml", long + "a = 1\nb = yes\n", lines + 2, "unexpected character U+0079 'y' at start of value"},
		{"a.toml", "a = " + strings.Repeat("[", 100_000), 1, "arrays and inline tables are nested more than the maximum of 10000 levels deep"},
	})
}

func TestXML(t *testing.T) {
	runTable(t, []verdict{
		{"a.xml", "<?xml version=\"1.0\" encoding=\"windows-1252\"?>\n<!-- x -->\n<a b=\"1\" c:d='2'>&lt;é&#65;<![CDATA[<]]></a>\n<?end?>\n", 0, ""},
		{"a.xml", "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>", 0, ""},
		{"a.xml", "<!DOCTYPE a [\n<!ENTITY b \"c\">\n<!ENTITY % p 'q'>\n]>\n<a d='&b;'>&b;</a>", 0, ""},
		{"a.xml", "<!DOCTYPE a SYSTEM \"a.dtd\">\n<a>&any;</a>", 0, ""},
		{"a.xml", "<a>\n&nbsp;</a>", 2, "invalid character entity &nbsp;"},
		{"a.svg", "<a>\n&nbsp;</a>", 2, "invalid character entity &nbsp;"},
		{"a.xhtml", "<a>&nbsp;</a>", 0, ""},
		{"a.xml", "<a>\n<b>\n</a>", 3, "</a> where <b> of line 2 should be closed"},
		{"a.xml", "<a>\n<x:b>\n</x:b>\n\n", 3, "<a> of line 1 is not closed"},
		{"a.xml", "<a/>\n<b/>", 2, "a second root element, <b>"},
		{"a.xml", "<a/>\nx", 2, "text outside of the root element"},
		{"a.xml", "<a/>\n</a>", 2, "</a> closes no element"},
		{"a.xml", "<!-- x -->\n", 1, "no root element"},
		{"a.xml", "<a>\n<b c='1'\n c='2'/></a>", 3, "the attribute c is there twice"},
		{"a.xml", "<a>\n<b c=1/></a>", 2, "unquoted or missing attribute value in element"},
		{"a.xml", "<a>\nx & y</a>", 2, "invalid character entity & (no semicolon)"},
		{"a.xml", "<a>\n<!-- x\n</a>\n", 2, "a tag, comment or other markup that begins here does not end"},
		{"a.xml", "<a>\n</a>\n<!DOCTYPE a>", 3, "a DOCTYPE where none is allowed"},
		{"a.csproj", "<Project>\n<A></B>\n</Project>", 2, "</B> where <A> of line 2 should be closed"},
	})
}

func TestGo(t *testing.T) {
	runTable(t, []verdict{
		{"a.go", "package a\n\nvar x = y // not known, but it parses\n", 0, ""},
		{"a.go", "package a\n\nfunc f() {\n\tif x {\n}\n", 5, "expected '}', found 'EOF'"},
		{"a.go", "package a\n//line b.go:99\nfunc f( {}\n", 3, "expected ')', found '{'"},
		{"a.go", "package a\nvar a = \"x\n", 2, "string literal not terminated"},
		{"a.go", "func f() {}\n", 1, "expected 'package', found 'func'"},
		{"a.go", "package a\nvar a = " + strings.Repeat("(", 200_000), 2, "exceeded max nesting depth"},
	})
}

func TestShell(t *testing.T) {
	runTable(t, []verdict{
		{"a.sh", "if [[ a =~ b ]]; then x=(1 2); fi <<E\n$y\nE\n", 0, ""},
		{"a.sh", "#!/bin/sh\nx=(1 2)\n", 0, ""},
		{"a.sh", "\ufeff#!/usr/bin/env -S LC_ALL=C bash -e\necho\r\n", 0, ""},
		{"a.bats", "@test \"x\" {\n  run y\n}\n", 0, ""},
		{".envrc", "export A=1\n", 0, ""},
		{"a.sh", "a\nif b; then\n  c\n", 2, "`if` statement must end with `fi`"},
		{"a.sh", "a\nb \"c\n", 2, "reached EOF without closing quote `\"`"},
		{"run", "#!/bin/busybox sh\nb )\n", 2, "a command can only contain words and redirects; encountered `)`"},
		{".git/hooks/pre-commit", "#!/bin/sh\nfi\n", 2, "`fi` can only be used to end an `if`"},
		{"a.bats", "@test \"x\" {\n", 1, "`{` must be followed by a statement list"},
		{"a.ksh", "for x\n", 1, "`for NAME` must be followed by `in`, `do`, `;`, or a newline"},
		{"a.sh", "x\ncat <<E\ny\n", 2, "unclosed here-document `E`"},
		{"a.sh", "a\necho $((# 1))\n", 2, "unsigned expressions are a mksh feature; tried parsing as bash"},
		{"a.sh", "echo ${x@}\n", 1, "@ expansion operator requires a literal"},
	})
}
