package syntax

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// maxDecoded is the longest TOML that is decoded, in bytes: the time that
// takes grows with the square of the number of keys.
const maxDecoded = 64 << 10

// checkTOML decodes a text of usual length, which also finds keys and tables
// defined twice: TOML forbids them, and every reader refuses them. Of a longer
// one it parses each line.
func checkTOML(text string) (*Error, bool) {
	if len(text) > maxDecoded {
		return tomlSyntax(text), true
	}
	var all map[string]any
	err := toml.Unmarshal([]byte(text), &all)
	var decode *toml.DecodeError
	switch {
	case err == nil:
		return nil, true
	case errors.As(err, &decode):
		line, column := decode.Position()
		return &Error{Line: line, Column: column, Reason: tomlReason(decode.Error())}, true
	default:
		return &Error{Reason: tomlReason(err.Error())}, true
	}
}

// tomlSyntax parses the expressions of text one after the other.
func tomlSyntax(text string) *Error {
	var p unstable.Parser
	p.Reset([]byte(text))
	for p.NextExpression() {
	}
	err := p.Error()
	if err == nil {
		return nil
	}
	var parse *unstable.ParserError
	if !errors.As(err, &parse) {
		return &Error{Reason: tomlReason(err.Error())}
	}
	start := p.Shape(p.Range(parse.Highlight)).Start
	return &Error{Line: start.Line, Column: start.Column, Reason: tomlReason(parse.Message)}
}

// tomlReason drops the library's name from its reason, and says the end of a
// line in words.
func tomlReason(reason string) string {
	reason = strings.TrimPrefix(reason, "toml: ")
	return strings.Replace(reason, "unexpected character U+000A", "unexpected end of the line", 1)
}
