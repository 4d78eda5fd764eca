package charset

import (
	"bytes"
	"iter"
	"slices"
	"strings"
)

// What it takes to be sure, in half bits; measured on texts of known encoding.
var (
	Together bits = 10
	Enough   bits = 6  // evidence at all
	Ahead    bits = 20 // of any reading with another text
	Doubt    bits = 16
	Slump    bits = 60 // no part of the text may speak against it so much
)

// decide gives the encoding of the best claim if it is sure, or nil.
func decide(claims []*claim, text []byte) *codec {
	if len(claims) == 0 || claims[0].codec == nil {
		return nil
	}
	best := claims[0]
	if best.total < Enough || best.worst > Slump {
		return nil
	}
	if partlyUTF8(best, claims, text) {
		return nil
	}
	name := best.codec
	for _, c := range claims[1:] {
		if c.codec == best.codec {
			continue
		}
		close := c.score() > best.score()-Ahead
		switch {
		case c.codec != nil && sameText(c.codec, best.codec, text):
			if close && rank(c.codec) < rank(name) {
				name = c.codec
			}
		case close:
			return nil
		}
	}
	return name
}

// partlyUTF8 tells whether some words read so much better as UTF-8 that they are.
func partlyUTF8(best *claim, claims []*claim, text []byte) bool {
	u := claims[slices.IndexFunc(claims, func(c *claim) bool { return c.codec == nil })]
	doubt := 0
	for word := range words(text) {
		var asUTF8, asBest sum
		u.weigh(word, &asUTF8)
		best.weigh(word, &asBest)
		if doubt = max(0, doubt+asUTF8.total-asBest.total); doubt > Doubt {
			return true
		}
	}
	return false
}

// words gives the parts of text between spaces, line ends and controls, of which
// none is inside a character, that are not all ASCII.
func words(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for start := 0; start < len(text); {
			end := start
			for end < len(text) && text[end] > ' ' {
				end++
			}
			if word := text[start:end]; ascii(word) < len(word) && !yield(word) {
				return
			}
			start = end + 1
		}
	}
}

// rank orders encodings that give the same text: those of Windows first.
func rank(c *codec) int {
	switch {
	case c.name == "windows-1252":
		return 0
	case strings.HasPrefix(c.name, "windows-"), c.name == "GBK":
		return 1
	}
	return 2
}

func sameText(a, b *codec, text []byte) bool {
	da, db := a.decoder(), b.decoder()
	if da.two == nil && db.two == nil {
		return sameBytes(da, db, text)
	}
	ta, na := a.decode(nil, text)
	tb, nb := b.decode(nil, text)
	return na == nb && bytes.Equal(ta, tb)
}

func sameBytes(a, b *decoder, text []byte) bool {
	for _, x := range text {
		if x >= 0x80 && a.one[x-0x80] != b.one[x-0x80] {
			return false
		}
	}
	return true
}
