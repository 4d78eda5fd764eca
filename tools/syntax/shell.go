package syntax

import (
	"errors"
	"io"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxFrames bounds the calls that the shell parser nests: it calls itself for
// what is nested in a script, without a bound of its own, and a stack that
// overflows ends the process. A nesting takes about ten calls.
const maxFrames = 5000

var errTooDeep = errors.New("nested too deeply")

// A script is wrong only if every dialect its reader may speak refuses it:
// /bin/sh is Bash on some systems, and no parser here speaks ksh93.

func checkBash(text string) (*Error, bool) { return checkShell(text, syntax.LangBash) }
func checkBats(text string) (*Error, bool) { return checkShell(text, syntax.LangBats) }
func checkPOSIX(text string) (*Error, bool) {
	return checkShell(text, syntax.LangBash, syntax.LangPOSIX)
}
func checkKorn(text string) (*Error, bool) {
	return checkShell(text, syntax.LangMirBSDKorn, syntax.LangBash)
}

// checkShell returns the error of the first dialect if all have one.
func checkShell(text string, dialects ...syntax.LangVariant) (*Error, bool) {
	var first error
	for _, dialect := range dialects {
		parser := syntax.NewParser(syntax.Variant(dialect))
		_, err := parser.Parse(&shallowReader{text: text}, "")
		if err == nil {
			return nil, true
		}
		if errors.Is(err, errTooDeep) {
			return nil, false
		}
		if first == nil {
			first = err
		}
	}
	return shellError(first), true
}

// shellError takes place and reason out of an error of the shell parser.
func shellError(err error) *Error {
	var parse syntax.ParseError
	var dialect syntax.LangError
	switch {
	case errors.As(err, &parse):
		return atShell(parse.Pos, placeholders.Replace(parse.Text))
	case errors.As(err, &dialect):
		reason := strings.TrimPrefix(dialect.Error(), dialect.Pos.String()+": ")
		return atShell(dialect.Pos, reason)
	default:
		return &Error{Reason: err.Error()}
	}
}

// placeholders are the names the library invents in its reasons.
var placeholders = strings.NewReplacer("`for foo`", "`for NAME`", "`select foo`", "`select NAME`", "`foo()`", "`NAME()`", "`foo(`", "`NAME(`")

// atShell returns an Error at pos, which knows no columns and lines that are
// very large.
func atShell(pos syntax.Pos, reason string) *Error {
	return &Error{Line: int(pos.Line()), Column: int(pos.Col()), Reason: reason}
}

// shallowReader hands out text piece by piece and fails when the parser that
// reads it has nested too deeply.
type shallowReader struct{ text string }

func (r *shallowReader) Read(p []byte) (int, error) {
	var frame [1]uintptr
	if runtime.Callers(maxFrames, frame[:]) > 0 {
		return 0, errTooDeep
	}
	if r.text == "" {
		return 0, io.EOF
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	return n, nil
}

// interpreters maps the programs that a first line may name to what they read.
var interpreters = table(map[*language]string{
	langBash:  "bash rbash",
	langPOSIX: "sh dash ash",
	langKorn:  "ksh mksh ksh93 pdksh oksh",
	langBats:  "bats",
})

// isShell reports whether l is a kind of shell script.
func (l *language) isShell() bool {
	return l == langBash || l == langPOSIX || l == langKorn || l == langBats
}

// scriptLanguage returns what the first line of text says it is, or byName
// where it has no #! line.
func scriptLanguage(text string, byName *language) *language {
	line, _, _ := strings.Cut(strings.TrimPrefix(text, "\ufeff"), "\n")
	command, found := strings.CutPrefix(line, "#!")
	if !found {
		return byName
	}
	for word := range strings.FieldsSeq(command) {
		program := word[strings.LastIndexByte(word, '/')+1:]
		wrapper := program == "env" || program == "busybox"
		if wrapper || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		return interpreters[program]
	}
	return nil
}
