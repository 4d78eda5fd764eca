package edit

import "strings"

// A fold says which characters count as equal in a search. A text is read as
// units: under a fold every line break is the unit '\n' and every look-alike the
// unit of its ASCII form, whatever its length in bytes; any other byte is its own
// unit. Nothing is copied for it, and invalid UTF-8 is just bytes.
type fold uint8

const (
	foldNothing fold = iota
	foldBreaks       // "\r\n", "\n" and "\r" are one
	foldLooks        // and quotes, dashes and blanks that look alike
)

// next reads the unit at s[i:]; i must be below len(s).
func (f fold) next(s string, i int) (code byte, size int) {
	c := s[i]
	if f == foldNothing {
		return c, 1
	}
	if c == '\r' {
		if i+1 < len(s) && s[i+1] == '\n' {
			return '\n', 2
		}
		return '\n', 1
	}
	if f == foldLooks && (c == 0xE2 || c == 0xC2) {
		if code, size := lookAlike(s[i:]); size > 0 {
			return code, size
		}
	}
	return c, 1
}

// prev reads the unit that ends at s[:end]; end must be above 0.
func (f fold) prev(s string, end int) (code byte, size int) {
	c := s[end-1]
	switch {
	case f == foldNothing:
		return c, 1
	case c == '\r':
		return '\n', 1
	case c == '\n':
		if end >= 2 && s[end-2] == '\r' {
			return '\n', 2
		}
		return '\n', 1
	case f == foldBreaks || c < 0x80:
		return c, 1
	}
	for _, n := range [...]int{3, 2} {
		if end < n {
			continue
		}
		if code, size := lookAlike(s[end-n : end]); size == n {
			return code, size
		}
	}
	return c, 1
}

// lookAlike tells which ASCII character the one at the start of s looks like;
// size is 0 when it looks like none.
func lookAlike(s string) (code byte, size int) {
	if len(s) >= 2 && s[0] == 0xC2 && s[1] == 0xA0 {
		return ' ', 2
	}
	if len(s) < 3 || s[0] != 0xE2 {
		return 0, 0
	}
	if s[1] == 0x88 && s[2] == 0x92 { // minus sign
		return '-', 3
	}
	if s[1] != 0x80 {
		return 0, 0
	}
	switch c := s[2]; {
	case c == 0x98, c == 0x99, c == 0xB2:
		return '\'', 3
	case c == 0x9C, c == 0x9D, c == 0xB3:
		return '"', 3
	case c >= 0x90 && c <= 0x95:
		return '-', 3
	case c == 0x87, c == 0xAF:
		return ' ', 3
	}
	return 0, 0
}

// folds tells whether the unit has more than one spelling under f.
func (f fold) folds(code byte) bool {
	switch code {
	case '\n':
		return f >= foldBreaks
	case '\'', '"', '-', ' ':
		return f == foldLooks
	}
	return false
}

// fold writes s as its units.
func (f fold) fold(s string) string {
	if f == foldNothing {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); {
		code, n := f.next(s, i)
		out.WriteByte(code)
		i += n
	}
	return out.String()
}

// anything tells whether f can find more in a text than the smaller folds can.
func (f fold) anything(units string) bool {
	for i := 0; i < len(units); i++ {
		if f.folds(units[i]) && (f == foldBreaks || units[i] != '\n') {
			return true
		}
	}
	return f == foldNothing
}
