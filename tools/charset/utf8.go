package charset

import (
	"unicode"
	"unicode/utf8"
)

// A utf8Reading reads bytes as UTF-8 with faults. It is no answer, but a text that
// reads best so is not legacy.
type utf8Reading struct {
	models []*characters
}

// faulty is the cost of a byte that is not valid.
const faulty = 24

func (r *utf8Reading) weigh(line []byte, s *sum) bool {
	for i := 0; i < len(line); {
		if n := ASCII(line[i:]); n > 0 {
			i += n
			continue
		}
		char, size := utf8.DecodeRune(line[i:])
		switch {
		case size > 1:
			s.add(bits(size)*anyHigh - r.cost(char))
		case !utf8.FullRune(line[i:]):
			return true // cut
		default:
			s.add(-faulty)
		}
		i += size
	}
	return true
}

// cost is that of the character in any language.
func (r *utf8Reading) cost(char rune) bits {
	switch c := classOf(char); {
	case c != sign:
		cost := unseen
		for _, m := range r.models {
			cost = min(cost, m.cost(char))
		}
		return cost + 6
	case unicode.In(char, unicode.Latin, unicode.Cyrillic, unicode.Greek) && char < 0x460,
		unicode.In(char, unicode.Hebrew, unicode.Arabic, unicode.Thai, unicode.Mn) && char < 0xE60:
		return 16
	case 0x2010 <= char && char < 0x2600, 0xA0 <= char && char < 0x100, 0x3000 <= char && char < 0x3040, char >= 0xFF00 && char < 0xFF60:
		return 20
	case unicode.IsGraphic(char):
		return 28
	}
	return 44
}
