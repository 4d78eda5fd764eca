package charset

// A wideReading reads bytes in a multi-byte encoding as text of a language.
type wideReading struct {
	d     *decoder
	model *characters
}

// weigh adds the evidence of line to s. False: it is not valid in the encoding.
func (r *wideReading) weigh(line []byte, s *sum) bool {
	before, last, again := plain, none, 0
	for i := 0; i < len(line); {
		if n := ASCII(line[i:]); n > 0 {
			if before != plain {
				s.add(r.leave(before, line[i]))
			}
			before, last = plain, none
			i += n
			continue
		}
		char, size := r.d.at(line[i:])
		if size == 0 {
			return false
		}
		e := r.evidence(before, last, char)
		for _, b := range line[i : i+size] {
			e += anyByte(b)
		}
		if before == plain && i > 0 && isASCIILetter(line[i-1]) {
			e -= 6
		}
		if again++; char != last {
			again = 0
		}
		if again >= 2 {
			e = min(e, 0)
		}
		s.add(e)
		before, last = classOf(char), char
		i += size
	}
	if before != plain {
		s.add(r.leave(before, '\n'))
	}
	return true
}

// evidence is what char after last, of the class before, costs; negative.
func (r *wideReading) evidence(before class, last, char rune) bits {
	e := -r.model.cost(char) - bits(r.model.after[before][classOf(char)])
	switch {
	case before == plain:
		e -= 2
	case r.model.pairs[[2]rune{last, char}]:
		e += together
	}
	if (char == 'ﾞ' || char == 'ﾟ') && !voiced(last, char) {
		e -= 20
	}
	return e
}

// leave is the evidence of the ASCII character b after one of class before.
func (r *wideReading) leave(before class, b byte) bits {
	e := anyEnd - bits(r.model.after[before][plain])
	if isASCIILetter(b) {
		e -= 6
	}
	return e
}

func isASCIILetter(b byte) bool { return 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' }

func anyByte(b byte) bits {
	switch {
	case b >= 0x80:
		return anyHigh
	case isASCIILetter(b):
		return anyLetter
	}
	return anyOther
}

// voiced tells whether the half-width katakana can bear the mark.
func voiced(kana, mark rune) bool {
	if mark == 'ﾟ' {
		return 'ﾊ' <= kana && kana <= 'ﾎ'
	}
	return 'ｶ' <= kana && kana <= 'ﾄ' || 'ﾊ' <= kana && kana <= 'ﾎ' || kana == 'ｳ'
}

// together is the evidence of a pair of characters that often stand together.
const together bits = 10
