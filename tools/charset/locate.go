package charset

import "unicode/utf8"

// Locate maps offsets in the decoded text of b to offsets in b. The offsets must
// ascend (equal ones may follow each other). An offset that is not the beginning
// of a character, nor the end of the text, gives -1: inside a rune, between the
// two runes that four sequences of Big5 stand for, past the end, or past the first
// invalid sequence. For the zero Encoding all are -1.
func (e Encoding) Locate(b []byte, offsets []int) []int {
	places := make([]int, len(offsets))
	walk := locator{b: b}
	if e.c != nil {
		walk.d = e.c.decoder()
	}
	for i, offset := range offsets {
		places[i] = -1
		if walk.d != nil && walk.to(offset) {
			places[i] = walk.i
		}
	}
	return places
}

// A locator stands at i in b and at the same place at text in the decoded text.
type locator struct {
	d       *decoder
	b       []byte
	i, text int
}

// to goes on to the last character that begins at or before offset, and tells
// whether it begins there.
func (l *locator) to(offset int) bool {
	for l.text < offset && l.i < len(l.b) {
		rest := l.b[l.i:]
		if n := min(ASCII(rest[:min(len(rest), offset-l.text)]), offset-l.text); n > 0 {
			l.i += n
			l.text += n
			continue
		}
		r, size := l.d.at(rest)
		if size == 0 || l.text+runeLen(r) > offset {
			return false
		}
		l.i += size
		l.text += runeLen(r)
	}
	return l.text == offset
}

func runeLen(r rune) int {
	if r >= firstPair {
		return len(pairs[r-firstPair])
	}
	return utf8.RuneLen(r)
}
