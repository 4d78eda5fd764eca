package charset

import "unicode/utf8"

// A narrowReading reads bytes in a single-byte encoding as text of a language.
type narrowReading struct {
	glyphs [256]glyph
	model  *letters
}

func newNarrow(c *codec, language string) *narrowReading {
	r := &narrowReading{model: lettersOf(language)}
	d := c.decoder()
	for i := range r.glyphs {
		char := rune(i)
		if i >= utf8.RuneSelf {
			char = d.one[i-utf8.RuneSelf]
		}
		r.glyphs[i] = glyphOf(char, byte(i), r.model)
	}
	return r
}

// What a byte of no language costs, in half bits. Evidence for a reading is what
// it saves against that.
const (
	anyHigh   bits = 14 // one of 128
	anyLetter bits = 10 // an ASCII letter
	anyOther  bits = 13 // another ASCII character
	anyEnd    bits = 5  // the end of a word
)

// weigh adds the evidence of line to s. False: it has a byte that is nothing.
func (r *narrowReading) weigh(line []byte, s *sum) bool {
	before, caps := r.glyphs[' '], false // caps: before and the letter before it are capitals
	for i := 0; i < len(line); i++ {
		g := r.glyphs[line[i]]
		if g.high || before.high {
			e := r.evidence(before, g, caps)
			switch {
			case g.sign != 0 && atHome(g.sign, line[:i], line[i+1:]):
				e = anyHigh + 4 // as for a letter: signs are as rare as those
			case i >= 2 && line[i] == line[i-1] && line[i] == line[i-2]:
				e = min(e, 0) // a line of dashes is no text
			case g.kind == frame && before.kind == frame && line[i] != line[i-1]:
				e -= 2
			}
			s.add(e)
		}
		caps = g.upper && before.upper
		before = g
		switch n := ASCII(line[i:]); {
		case g.kind == nothing && g.high:
			return false
		case n > 1:
			i += n - 1
			before = r.glyphs[line[i]]
			caps = before.upper && r.glyphs[line[i-1]].upper
		}
	}
	if before.high {
		s.add(r.evidence(before, r.glyphs[' '], caps))
	}
	return true
}

// evidence is what g after before speaks for the reading; one of them is high.
func (r *narrowReading) evidence(before, g glyph, caps bool) bits {
	switch g.kind {
	case letter:
		return r.letterEvidence(before, g, caps)
	case guest:
		return anyHigh - 24
	case foreign:
		return r.foreignEvidence(before, g)
	case digits, space, ascii7, nothing:
		e := anyEnd - r.end(before)
		switch {
		case g.kind == digits && before.kind == letter:
			e -= 4
		case before.kind == opening && g.kind != digits:
			e -= 8
		}
		return e
	}
	if g.kind == frame && before.kind == frame {
		return 0 // boxes are drawn in every language
	}
	return anyHigh - r.end(before) - r.signCost(before, g)
}

func (r *narrowReading) letterEvidence(before, g glyph, caps bool) bits {
	saved := anyLetter
	if g.high {
		saved = anyHigh + r.model.rare
	}
	switch before.kind {
	case letter:
		cost := bits(r.model.costs[int(before.letter)*r.model.size+int(g.letter)])
		return saved - cost - caseCost(before, g, caps)
	case guest:
		return 0
	case foreign:
		return saved - r.first(g) - 14
	case amount, frame:
		return saved - r.first(g) - 10
	}
	return saved - r.first(g)
}

// first is the cost of a letter at the beginning of a word.
func (r *narrowReading) first(g glyph) bits {
	cost := 2 + bits(r.model.costs[g.letter])
	if !g.high {
		cost = anyLetter
	}
	if g.upper {
		cost += 4
	}
	return cost
}

// end is the cost of the end of a word after a letter.
func (r *narrowReading) end(before glyph) bits {
	switch {
	case before.kind == guest:
		return anyEnd
	case before.kind != letter:
		return 2
	case !before.high && r.model.plain > 0:
		return 4
	}
	return bits(r.model.costs[int(before.letter)*r.model.size])
}

func (r *narrowReading) foreignEvidence(before, g glyph) bits {
	saved, cost := anyLetter, anyLetter
	if g.high {
		saved, cost = anyHigh, 22
	}
	if before.kind == letter || before.kind == foreign && before.high != g.high {
		cost += 10
	}
	return saved - cost
}

// caseCost tells a word as it is usually written from "wORD" and "woRd".
func caseCost(before, g glyph, caps bool) bits {
	switch {
	case g.upper && !before.upper:
		return 18
	case g.upper && !caps:
		return 5
	case !g.upper && caps:
		return 12
	}
	return 0
}

// signCost is the cost of a sign that is not ASCII.
func (r *narrowReading) signCost(before, g glyph) bits {
	quote := 6
	if r.model.rare == 0 {
		quote = 12 // other scripts seldom have those, and are taken for them by others
	}
	inWord := before.kind == letter || before.kind == guest || before.kind == foreign || before.kind == digits
	switch g.kind {
	case opening:
		if inWord {
			return 26
		}
		return quote
	case closing:
		if before.kind == space {
			return 26
		}
		return quote
	case usual:
		return 8
	case amount:
		return 10
	case mark:
		return 15
	case frame:
		if inWord {
			return 34
		}
		return 20
	}
	return 30
}
