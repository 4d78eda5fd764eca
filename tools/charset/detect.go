package charset

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// detectSize is how much of a text Detect looks at.
const detectSize = 1 << 20

// Detect says in which legacy encoding b is written. It looks at 1 MiB from the
// first line on that is not ASCII. Not sure, mixed, UTF-8 even if faulty or cut,
// or binary: false.
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

// window is the part of b to look at: whole lines, if there is more.
func window(b []byte) []byte {
	start := bytes.LastIndexByte(b[:ascii(b)], '\n') + 1
	b = b[start:]
	if len(b) <= detectSize {
		return b
	}
	b = b[:detectSize]
	if end := bytes.LastIndexFunc(b, func(r rune) bool { return r <= ' ' }); end >= 0 {
		b = b[:end+1]
	}
	return b
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
	for len(text) > 0 {
		line := text[:lineLength(text)]
		text = text[len(line):]
		if ascii(line) == len(line) {
			continue
		}
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

// lineLength is the length of the first line, or of a part of it that ends where
// no encoding has a character that goes on.
func lineLength(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}
