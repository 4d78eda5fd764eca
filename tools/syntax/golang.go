package syntax

import (
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
)

// checkGo parses a Go source file and returns its first error.
func checkGo(text string) (*Error, bool) {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err == nil {
		return nil, true
	}
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return &Error{Reason: err.Error()}, true
	}
	// The offset, as //line directives may move the line.
	return at(text, list[0].Pos.Offset, list[0].Msg), true
}
