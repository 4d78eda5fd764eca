package pdf

import (
	"bytes"
	"strconv"
)

const (
	maxDepth    = 64      // of arrays and dictionaries in each other
	maxElements = 400_000 // in one object, all arrays and dictionaries in it together
)

// lexer takes PDF syntax apart. It has no errors: what it does not understand
// it passes over, and at the end of the input it gives eof for ever.
type lexer struct {
	src      []byte
	pos      int
	work     *work
	elements int  // in the objects read so far
	noRefs   bool // in a content stream "1 0 R" is no reference
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool {
	return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if c == '%' {
			end := bytes.IndexAny(l.src[l.pos:], "\r\n")
			if end < 0 {
				end = len(l.src) - l.pos
			}
			l.work.scan(end)
			l.pos += end
			continue
		}
		if !isSpace(c) {
			return
		}
		l.pos++
	}
}

// token gives the next token; the brackets [ ] << >> { } come as keywords.
func (l *lexer) token() any {
	l.work.step(1)
	start := l.pos
	l.skipSpace()
	l.work.scan(l.pos - start)
	if l.pos >= len(l.src) {
		return eof
	}
	c := l.src[l.pos]
	l.pos++
	switch c {
	case '/':
		return l.name()
	case '(':
		return l.literal()
	case '<':
		if l.peek() == '<' {
			l.pos++
			return keyword("<<")
		}
		return l.hex()
	case '>':
		if l.peek() == '>' {
			l.pos++
			return keyword(">>")
		}
		return keyword(">")
	case '[', ']', '{', '}', ')':
		return keyword(c)
	}
	l.pos--
	return l.word()
}

func (l *lexer) peek() byte {
	if l.pos < len(l.src) {
		return l.src[l.pos]
	}
	return ' '
}

func (l *lexer) regular() []byte {
	start := l.pos
	for l.pos < len(l.src) && !isSpace(l.src[l.pos]) && !isDelimiter(l.src[l.pos]) {
		l.pos++
	}
	l.work.scan(l.pos - start)
	return l.src[start:l.pos]
}

func (l *lexer) name() any {
	raw := l.regular()
	if bytes.IndexByte(raw, '#') < 0 {
		return name(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) && unhex(raw[i+1]) >= 0 && unhex(raw[i+2]) >= 0 {
			out = append(out, byte(unhex(raw[i+1])<<4|unhex(raw[i+2])))
			i += 2
			continue
		}
		out = append(out, raw[i])
	}
	return name(out)
}

func (l *lexer) word() any {
	w := l.regular()
	switch string(w) {
	case "true":
		return true
	case "false":
		return false
	}
	if n, ok := parseNumber(w); ok {
		return n
	}
	return keyword(w)
}

// parseNumber also takes what bad writers make: "--5", "1.", ".5", "3.4.5".
func parseNumber(w []byte) (any, bool) {
	if len(w) == 0 || len(w) > 40 || bytes.IndexByte([]byte("+-.0123456789"), w[0]) < 0 {
		return nil, false
	}
	if n, err := strconv.ParseInt(string(w), 10, 64); err == nil {
		return n, true
	}
	s := w
	for len(s) > 1 && (s[0] == '-' || s[0] == '+') && (s[1] == '-' || s[1] == '+') {
		s = s[1:]
	}
	if first := bytes.IndexByte(s, '.'); first >= 0 {
		if second := bytes.IndexByte(s[first+1:], '.'); second >= 0 {
			s = s[:first+1+second]
		}
	}
	for _, c := range s {
		if c != '+' && c != '-' && c != '.' && (c < '0' || c > '9') {
			return nil, false
		}
	}
	n, err := strconv.ParseFloat(string(s), 64)
	if err != nil {
		return nil, false
	}
	return n, true
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (l *lexer) hex() any {
	start := l.pos
	out := unhexAll(l.src[l.pos:], &l.pos)
	l.work.scan(l.pos - start)
	return string(out)
}

// unhexAll decodes hex digits up to '>', and moves pos behind it.
func unhexAll(src []byte, pos *int) []byte {
	var out []byte
	high := -1
	for i, c := range src {
		if c == '>' {
			src = src[:i]
			*pos++
			break
		}
		d := unhex(c)
		if d < 0 {
			continue
		}
		if high < 0 {
			high = d
			continue
		}
		out = append(out, byte(high<<4|d))
		high = -1
	}
	*pos += len(src)
	if high >= 0 {
		out = append(out, byte(high<<4))
	}
	return out
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

func (l *lexer) literal() any {
	var out []byte
	start, depth := l.pos, 1
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		l.pos++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.work.scan(l.pos - start)
				return string(out)
			}
		case '\\':
			out = l.escape(out)
			continue
		}
		out = append(out, c)
	}
	l.work.scan(l.pos - start)
	return string(out)
}

func (l *lexer) escape(out []byte) []byte {
	if l.pos >= len(l.src) {
		return out
	}
	c := l.peek()
	l.pos++
	if e, ok := escapes[c]; ok {
		return append(out, e)
	}
	switch {
	case c == '\r':
		if l.peek() == '\n' {
			l.pos++
		}
		return out
	case c == '\n':
		return out
	case '0' <= c && c <= '7':
		n := int(c - '0')
		for i := 0; i < 2 && '0' <= l.peek() && l.peek() <= '7'; i++ {
			n = n<<3 | int(l.peek()-'0')
			l.pos++
		}
		return append(out, byte(n))
	}
	return append(out, c)
}
