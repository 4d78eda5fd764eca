package edit

import "strings"

// Line numbers follow one rule everywhere: "\n" ends a line ("\r\n" included),
// and only in a text without any "\n" does a lone "\r" end one.

// separator is the byte that ends a line of s.
func separator(s string) byte {
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\r') >= 0 {
		return '\r'
	}
	return '\n'
}

// Lines counts the lines of s. A final line ending does not begin another line.
func Lines(s string) int {
	if s == "" {
		return 0
	}
	return countLines(s, separator(s))
}

func countLines(s string, sep byte) int {
	n := countByte(s, sep)
	if s != "" && s[len(s)-1] != sep {
		n++
	}
	return n
}

// LineAt is the 1-based number of the line that holds byte offset of s. An
// offset past a final line ending belongs to the line that would come next.
func LineAt(s string, offset int) int {
	return 1 + countByte(s[:offset], separator(s))
}

func countByte(s string, c byte) int {
	return strings.Count(s, string(rune(c)))
}

// lineStart is the offset of the first byte of the line that holds offset.
func lineStart(s string, offset int, sep byte) int {
	return strings.LastIndexByte(s[:offset], sep) + 1
}

// lineEnd is the offset after the ending of the line that holds offset.
func lineEnd(s string, offset int, sep byte) int {
	i := strings.IndexByte(s[offset:], sep)
	if i < 0 {
		return len(s)
	}
	return offset + i + 1
}

// splitLines cuts s after each sep; the pieces share s's memory.
func splitLines(s string, sep byte) []string {
	if s == "" {
		return nil
	}
	out := make([]string, 0, countLines(s, sep))
	for s != "" {
		end := lineEnd(s, 0, sep)
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

// cutEnding parts a line from its line ending.
func cutEnding(line string) (body, ending string) {
	body = strings.TrimSuffix(line, "\n")
	if len(body) < len(line) {
		body = strings.TrimSuffix(body, "\r")
	} else {
		body = strings.TrimSuffix(line, "\r")
	}
	return body, line[len(body):]
}

// Endings counts the line endings of a text by kind. CR counts lone "\r" only.
type Endings struct{ LF, CRLF, CR int }

// CountEndings reads s once; a text without "\r" costs one pass of a byte search.
func CountEndings(s string) Endings {
	var e Endings
	e.LF = strings.Count(s, "\n")
	for i := strings.IndexByte(s, '\r'); i >= 0 && i < len(s); {
		if i+1 < len(s) && s[i+1] == '\n' {
			e.CRLF++
		} else {
			e.CR++
		}
		next := strings.IndexByte(s[i+1:], '\r')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	e.LF -= e.CRLF
	return e
}

// Uniform tells whether all lines end alike, and how: "\n", "\r\n", "\r", or ""
// when there is no line ending at all. A stray "\r" in a text with "\n" ends no
// line, so it does not make the text mixed.
func (e Endings) Uniform() (ending string, ok bool) {
	if e.LF > 0 && e.CRLF > 0 {
		return "", false
	}
	return e.Majority(), true
}

// Majority is the ending most lines have ("\n" when as many have "\r\n"), or ""
// when there is none.
func (e Endings) Majority() string {
	switch {
	case e.LF == 0 && e.CRLF == 0 && e.CR == 0:
		return ""
	case e.LF == 0 && e.CRLF == 0:
		return "\r"
	case e.CRLF > e.LF:
		return "\r\n"
	}
	return "\n"
}

// sameButEndings tells whether a and b differ in nothing but line endings.
func sameButEndings(a, b string) bool {
	return foldBreaks.fold(a) == foldBreaks.fold(b)
}

// withEndings writes every "\n" and "\r\n" of s as ending, if there is one. A lone
// "\r" stays what it is.
func withEndings(s, ending string) string {
	switch ending {
	case "\n":
		if strings.Contains(s, "\r\r\n") {
			return s // the first "\r" would make the "\n" a "\r\n" again
		}
		return strings.ReplaceAll(s, "\r\n", "\n")
	case "\r\n":
		return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
	case "\r":
		return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r")
	}
	return s
}
