package edit

import (
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// maxInline is how long in bytes each of two lines may be that are compared word
// by word.
const maxInline = 400

// inlineDiff shows in one line how a line differs from another: what only was has
// as {-x-}, what only is has as {+x+}. It is "" where hardly anything is common, or
// the lines are too long to be read.
func inlineDiff(was, is string) string {
	if len(was) > maxInline || len(is) > maxInline {
		return ""
	}
	a, b := words(was), words(is)
	var out strings.Builder
	at, kept := 0, 0
	for _, d := range lcs.DiffLines(a, b) {
		same := strings.Join(a[at:d.Start], "")
		kept += len(strings.TrimSpace(same))
		out.WriteString(same)
		if gone := strings.Join(a[d.Start:d.End], ""); gone != "" {
			out.WriteString("{-" + gone + "-}")
		}
		if come := strings.Join(b[d.ReplStart:d.ReplEnd], ""); come != "" {
			out.WriteString("{+" + come + "+}")
		}
		at = d.End
	}
	rest := strings.Join(a[at:], "")
	kept += len(strings.TrimSpace(rest))
	if 3*kept < min(len(was), len(is)) {
		return ""
	}
	return out.String() + rest
}

// words takes s apart into words, runs of blanks, and single other characters.
func words(s string) []string {
	var out []string
	start, last := 0, ' '
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || unicode.IsMark(r):
			return 1
		case r == ' ' || r == '\t':
			return 2
		}
		return 0
	}
	for i, r := range s {
		if i > start && (kind(r) == 0 || kind(r) != kind(last)) {
			out = append(out, s[start:i])
			start = i
		}
		last = r
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
