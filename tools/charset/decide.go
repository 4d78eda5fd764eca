package charset

import (
	"bytes"
	"iter"
	"slices"
	"strings"
)

// What it takes to be sure, in half bits; measured on texts of known encoding.
const (
	enough   bits = 6   // evidence for the reading
	ahead    bits = 20  // of any reading with another text
	slump    bits = 100 // no stretch of the text may speak against it so much
	doubtful bits = 16  // nor may some words be UTF-8 with so much more evidence
	poor     bits = 16  // a line that speaks against it so much is looked at again,
	good     bits = 30  // and may not have so much evidence in another reading
)

// decide gives the encoding of the best claim if it is sure, or nil.
func decide(claims []*claim, text []byte) *codec {
	if len(claims) == 0 || claims[0].codec == nil {
		return nil
	}
	best := claims[0]
	if best.total < enough || best.worst > slump {
		return nil
	}
	name := best.codec
	for _, c := range claims[1:] {
		if c.score() <= best.score()-ahead {
			break
		}
		switch {
		case c.codec == best.codec:
		case c.codec == nil || !sameText(c.codec, best.codec, text):
			return nil
		case rank(c.codec) < rank(name):
			name = c.codec
		}
	}
	if partlyUTF8(best, text) || partlyOther(best, text) {
		return nil
	}
	return name
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

// sameText compares what two encodings that can read text make of it.
func sameText(a, b *codec, text []byte) bool {
	da, db := a.decoder(), b.decoder()
	if da.two == nil && db.two == nil {
		return !slices.ContainsFunc(text, func(x byte) bool {
			return x >= 0x80 && da.one[x-0x80] != db.one[x-0x80]
		})
	}
	if strings.HasPrefix(a.name, "GB") && strings.HasPrefix(b.name, "GB") {
		return true // both can read it: it has no sequence of four bytes
	}
	ta, na := a.decode(nil, text)
	tb, nb := b.decode(nil, text)
	return na == nb && bytes.Equal(ta, tb)
}

// partlyUTF8 tells whether some words read so much better as UTF-8 that they are.
func partlyUTF8(best *claim, text []byte) bool {
	all := readings()
	u := all[len(all)-1]
	doubt := 0
	var asUTF8, asBest sum
	for word := range words(text) {
		asUTF8, asBest = sum{}, sum{}
		u.weigh(word, &asUTF8)
		best.weigh(word, &asBest)
		if doubt = max(0, doubt+asUTF8.total-asBest.total); doubt > doubtful {
			return true
		}
	}
	return false
}

// partlyOther tells whether a line that speaks against the best reading is good
// text in another encoding, as where files were put together.
func partlyOther(best *claim, text []byte) bool {
	left := 200 // lines to try: all readings take their time
	var asBest sum
	for line := range lines(text) {
		asBest = sum{}
		if best.weigh(line, &asBest); asBest.total > -poor {
			continue
		}
		if left--; left < 0 {
			return false
		}
		if slices.ContainsFunc(readings(), func(r *reading) bool { return r.readsBetter(line, best.codec) }) {
			return true
		}
	}
	return false
}

// readsBetter tells whether line is good text in r, and not that of the codec.
func (r *reading) readsBetter(line []byte, than *codec) bool {
	var s sum
	return r.codec != than && r.weigh(line, &s) && s.total-r.prior > good &&
		(r.codec == nil || !sameText(r.codec, than, line))
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
			if word := text[start:end]; ASCII(word) < len(word) && !yield(word) {
				return
			}
			start = end + 1
		}
	}
}
