package charset

import (
	"bytes"
	"iter"
	"slices"
	"unicode/utf8"
)

// detectSize is how much of a text Detect looks at.
const detectSize = 1 << 20

// Detect says in which legacy encoding b is written: the one that gives the right
// text, and of several that give the same text the one of Windows, windows-1252
// first. GB18030 is said only of what GBK cannot hold. False is said of a text that
// is not surely in one encoding, or in none of those known, or where parts are in
// others; of UTF-8, also if it is cut or has faults; and of what is binary, UTF-16
// and UTF-32 included. Detect looks at 1 MiB, from the first line on that is not
// ASCII: a longer text may turn out not to be valid in the encoding. So that or
// more of a text is enough, and may be cut anywhere; less must be all of it, or end
// with a line.
func Detect(b []byte) (Encoding, bool) {
	if utf8.Valid(b) {
		return Encoding{}, false
	}
	text := window(b)
	if isBinary(text) {
		return Encoding{}, false
	}
	c := decide(weighAll(text), text)
	return Encoding{c}, c != nil
}

// window is the part of b to look at; of a long b, which may be a part of a longer
// text, it ends with an ASCII byte that ends no character. There is none in a long text without spaces and line
// ends: then it is empty.
func window(b []byte) []byte {
	start := bytes.LastIndexByte(b[:ASCII(b)], '\n') + 1
	b = b[start:]
	if len(b) < detectSize {
		return b
	}
	end := detectSize
	for end > 0 && b[end-1] >= '0' {
		end--
	}
	return b[:end]
}

// isBinary tells whether text has control characters as no text has.
func isBinary(text []byte) bool {
	controls := 0
	for _, b := range text {
		switch {
		case b == 0:
			return true
		case b < ' ' && !(b >= '\b' && b <= '\r') && b != 0x1B && b != 0x1A, b == 0x7F:
			controls++
		}
	}
	return controls*100 > len(text)
}

// A claim is a reading and how well text bears it out.
type claim struct {
	*reading
	sum
}

func (c *claim) score() bits { return c.total - c.prior }

// hopeless is how far a reading may fall behind the best before it is given up.
const hopeless bits = 400

// weighAll reads text line by line in all ways; the best comes first.
func weighAll(text []byte) []*claim {
	var claims []*claim
	for _, r := range readings() {
		claims = append(claims, &claim{reading: r})
	}
	for line := range lines(text) {
		best := -hopeless
		claims = slices.DeleteFunc(claims, func(c *claim) bool {
			if !c.weigh(line, &c.sum) {
				return true
			}
			best = max(best, c.score())
			return false
		})
		claims = slices.DeleteFunc(claims, func(c *claim) bool {
			return c.codec != nil && c.score() < best-hopeless
		})
	}
	slices.SortStableFunc(claims, func(a, b *claim) int { return b.score() - a.score() })
	return claims
}

// lines gives those that are not all ASCII.
func lines(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			line := text[:lineLength(text)]
			text = text[len(line):]
			if ASCII(line) < len(line) && !yield(line) {
				return
			}
		}
	}
}

// lineLength is the length of the first line, or of a part of a long one that ends
// at a space: no encoding has that inside a character.
func lineLength(text []byte) int {
	end := bytes.IndexByte(text, '\n') + 1
	if end == 0 {
		end = len(text)
	}
	if end <= longLine {
		return end
	}
	if i := bytes.IndexByte(text[longLine:end], ' '); i >= 0 {
		return longLine + i + 1
	}
	return end
}

const longLine = 400
