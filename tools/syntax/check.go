package syntax

import (
	"fmt"
	"strings"
)

// The largest texts that are parsed, in bytes. Parsers that build a tree need
// many times the text in memory, the others only the text.
const (
	maxText = 8 << 20
	maxTree = 2 << 20
)

// longLine is the column from which on Error names it: in a shorter line the
// fault is quickly seen.
const longLine = 120

// Error says where and why a text does not parse.
type Error struct {
	Language string // for people, as in "is not valid JSON"
	Line     int    // from 1; 0: not known
	Column   int    // in bytes, from 1; 0: not known
	Reason   string // one short line
}

// Error is made to follow a colon, as in "config.json no longer parses: line 12: ...".
func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.Reason
	case e.Column > longLine:
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
	default:
		return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
	}
}

// language is one way to parse a text.
type language struct {
	name  string
	limit int // bytes; longer texts are not judged
	// check returns known false where it cannot judge the text.
	check func(text string) (err *Error, known bool)
}

// Check parses text as what the file name says. The name may be a path with
// slashes: for a few files the folder counts. Known is false where the name
// says nothing that can be parsed here, or the text cannot be judged.
//
// A blank text is never an error, although not every format allows it: it is a
// placeholder, and nobody empties a file by accident of syntax.
func Check(name, text string) (err *Error, known bool) {
	lang := languageOf(name, text)
	if lang == nil || len(text) > lang.limit {
		return nil, false
	}
	// A byte order mark is no part of the text: it moves no line.
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.Trim(text, " \t\r\n\f\v") == "" {
		return nil, true
	}
	err, known = guarded(lang.check, text)
	if err != nil {
		err.Language = lang.name
		err.Reason = oneLine(err.Reason)
	}
	return err, known
}

// Judges reports whether Check may have something to say of a text of size bytes in
// a file of that name; of a script, if its first line says that it is one.
func Judges(name string, size int) bool {
	lang := languageOf(name, "#!/bin/sh\n")
	return lang != nil && size <= lang.limit
}

// guarded runs check; a parser that panics has no verdict.
func guarded(check func(string) (*Error, bool), text string) (err *Error, known bool) {
	defer func() {
		if recover() != nil {
			err, known = nil, false
		}
	}()
	return check(text)
}
