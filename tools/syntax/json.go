package syntax

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// checkJSON agrees with json.Valid.
func checkJSON(text string) (*Error, bool) {
	return jsonError(text, []byte(text)), true
}

// checkJSONLines wants one value on each line; blank lines are fine.
func checkJSONLines(text string) (*Error, bool) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := jsonError(line, []byte(line)); err != nil {
			err.Line = number
			return err, true
		}
	}
	return nil, true
}

// jsonError returns why data is not JSON, nil if it is. The words of the
// reason come from text, which is data or, at the same offsets, what data was
// before its comments were blanked out.
func jsonError(text string, data []byte) *Error {
	if json.Valid(data) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return &Error{Reason: "not valid JSON"}
	}
	// The offset is that after the bad byte; at the end there is no bad byte.
	offset := int(syntax.Offset) - 1
	reason := syntax.Error()
	switch {
	case strings.HasPrefix(reason, "unexpected end"):
		return at(text, len(text), "the text ends before the JSON value is complete")
	case strings.HasSuffix(reason, "exceeded max depth"):
		return at(text, offset, "nested too deeply")
	}
	return at(text, offset, jsonReason(reason, text, data, offset))
}

// jsonReasons are the words of encoding/json that say how it works inside, and
// the plain ones for them.
var jsonReasons = strings.NewReplacer(
	"looking for beginning of object key string", "where a key in double quotes should begin",
	"looking for beginning of value", "where a value should begin",
	"after object key:value pair", "after a value, where ',' or '}' should follow",
	"after array element", "after an array element, where ',' or ']' should follow",
	"after object key", "after an object key, where ':' should follow",
	"after top-level value", "after the end of the JSON value",
)

// jsonReason says in plain words what is wrong at offset.
func jsonReason(reason, text string, data []byte, offset int) string {
	bad := text[offset]
	if bad >= utf8.RuneSelf { // encoding/json tells only the byte
		char, _ := utf8.DecodeRuneInString(text[offset:])
		reason = strings.Replace(reason, string(rune(bad)), string(char), 1)
	}
	switch {
	case !strings.HasPrefix(reason, "invalid character"):
	case bad == '}' || bad == ']':
		if last := strings.TrimRight(string(data[max(0, offset-256):offset]), " \t\r\n"); strings.HasSuffix(last, ",") {
			return "there is a comma too many before '" + string(rune(bad)) + "'"
		}
	case strings.HasPrefix(text[offset:], "/*") && strings.Contains(reason, "looking for"):
		return "a comment is not allowed here, or not closed"
	case strings.HasPrefix(text[offset:], "//"):
		return "a comment is not allowed here"
	case strings.HasPrefix(text[offset:], "<<<<<<<"):
		return "conflict markers of a merge"
	}
	return jsonReasons.Replace(reason)
}
