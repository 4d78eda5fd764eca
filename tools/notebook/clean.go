package notebook

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// clean is what a terminal shows of an output in the end: without escape sequences and
// control characters, and of a line that was written again and again (a progress bar)
// the last state.
func clean(s string) string {
	out := make([]byte, 0, len(s))
	start := 0       // of the current line in out
	rewrite := false // a carriage return: the next character begins the line anew
	for i := 0; i < len(s); {
		c := s[i]
		if c == 0x1b {
			i = skipEscape(s, i)
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case c == '\n':
			out = append(out, c)
			start, rewrite = len(out), false
		case c == '\r':
			rewrite = true
		case c == '\b':
			_, last := utf8.DecodeLastRune(out[start:])
			out = out[:len(out)-last]
		case c == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r >= 0xa0):
			if rewrite {
				out, rewrite = out[:start], false
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// skipEscape is the end of the escape sequence that begins at s[i]. A broken one ends
// where it breaks.
func skipEscape(s string, i int) int {
	i++
	if i == len(s) {
		return i
	}
	switch s[i] {
	case '[': // colors, cursor
		i++
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
			i++
		}
		return skipByte(s, i, 0x40)
	case ']', 'P', 'X', '^', '_': // a string up to BEL or ESC \, of a title or link
		return skipStringEscape(s, i+1)
	}
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	return skipByte(s, i, 0x30)
}

// skipStringEscape looks for the end of a string no further than its line and the
// next escape: text after one that never ends must not be lost.
func skipStringEscape(s string, i int) int {
	n := strings.IndexAny(s[i:], "\a\x1b\n")
	switch {
	case n < 0 || s[i+n] == '\n':
		return i
	case s[i+n] == '\a':
		return i + n + 1
	}
	if strings.HasPrefix(s[i+n:], "\x1b\\") {
		return i + n + 2
	}
	return i
}

// skipByte skips the last byte of a sequence, if that is what stands there.
func skipByte(s string, i int, least byte) int {
	if i < len(s) && s[i] >= least && s[i] <= 0x7e {
		return i + 1
	}
	return i
}

// cut leaves the head and the tail of a text that has more lines or characters, with
// a word about what is missing between them.
func cut(s string, lines, chars int) (short string, isCut bool) {
	if strings.Count(s, "\n") < lines && utf8.RuneCountInString(s) <= chars {
		return s, false
	}
	head := headOf(s, lines/2, chars/2)
	tail := tailOf(s, lines-lines/2, chars-chars/2)
	gone := s[len(head) : len(s)-len(tail)]
	mark := fmt.Sprintf("[… %d characters cut …]", utf8.RuneCountInString(gone))
	if n := strings.Count(gone, "\n"); n > 0 {
		mark = fmt.Sprintf("[… %d characters in %d lines cut …]", utf8.RuneCountInString(gone), n)
	}
	return endLine(head) + mark + "\n" + tail, true
}

// headOf is the longest beginning of s with no more lines and characters.
func headOf(s string, lines, chars int) string {
	end := 0
	for lines > 0 && end < len(s) && chars > 0 {
		c, size := utf8.DecodeRuneInString(s[end:])
		end += size
		chars--
		if c == '\n' {
			lines--
		}
	}
	return s[:end]
}

// tailOf is the longest end of s, which does not end in a line break of its own, with
// no more lines and characters.
func tailOf(s string, lines, chars int) string {
	start := len(s)
	for start > 0 && chars > 0 {
		c, size := utf8.DecodeLastRuneInString(s[:start])
		if c == '\n' {
			if lines--; lines == 0 {
				break
			}
		}
		start -= size
		chars--
	}
	return s[start:]
}

// endLine is s with a line break at its end, if it is not empty.
func endLine(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// byteSize is a size for people: "34 KB".
func byteSize(n int) string {
	if n == 1 {
		return "1 byte"
	}
	size, unit := float64(n), "bytes"
	for _, next := range []string{"KB", "MB", "GB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, next
	}
	if unit != "bytes" && size < 10 {
		return fmt.Sprintf("%.1f %s", size, unit)
	}
	return fmt.Sprintf("%.0f %s", size, unit)
}
