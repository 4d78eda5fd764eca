package syntax

import (
	"strings"
	"unicode"
)

// maxReason is the longest reason told, in characters.
const maxReason = 160

// at returns an Error at a byte offset of text. An offset at or past the end
// means the last line that has something in it.
func at(text string, offset int, reason string) *Error {
	if offset >= len(text) {
		offset = len(strings.TrimRight(text, " \t\r\n"))
	}
	before := text[:max(offset, 0)]
	return &Error{
		Line:   strings.Count(before, "\n") + 1,
		Column: len(before) - strings.LastIndexByte(before, '\n'),
		Reason: reason,
	}
}

// oneLine makes reason one short line without control characters, such as the
// colours of a terminal: it may quote the text that was parsed.
func oneLine(reason string) string {
	reason, _, _ = strings.Cut(strings.TrimSpace(reason), "\n")
	reason = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, reason)
	if runes := []rune(reason); len(runes) > maxReason {
		reason = string(runes[:maxReason-1]) + "…"
	}
	return reason
}
