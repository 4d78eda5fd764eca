package charset

import (
	"strings"
	"unicode"
)

// A kind is what a byte stands for in a single-byte encoding and a language.
type kind uint8

const (
	nothing kind = iota // undefined, or a control character that no text has
	letter              // of the language
	guest               // a letter of a related one, as in names
	foreign             // another letter
	digits
	space
	ascii7  // another ASCII character
	opening // a quotation mark
	closing
	usual   // a sign that many texts have
	mark    // a sign that some have
	amount  // one that no letter follows
	strange // one that they hardly have
	frame   // for drawing boxes
)

// A glyph is what a byte stands for.
type glyph struct {
	kind   kind
	letter uint8 // 0 unless kind is letter
	upper  bool
	high   bool // not ASCII
	sign   rune // what it is, of those between opening and amount
}

const (
	openingSigns = "“‘„‚¿¡"
	closingSigns = "”’"
	usualSigns   = "©°§µ"
	markSigns    = "®«»‹›–—…•·№\u00A0،؟؛ๆฯ\u200C\u200D\u200E\u200F"
	amountSigns  = "€£฿™±²³½¼×ªº"
	guests       = "áàâäãåąăæçćčďđéèêëęěíìîïľłñńňóòôöõőøřśšşßťţúùûüůűźžż"
)

// glyphOf says what r is in the language of m; b is how it is written.
func glyphOf(r rune, b byte, m *letters) glyph {
	g := glyph{high: b >= 0x80, upper: unicode.IsUpper(r)}
	if n := m.of[unicode.ToLower(r)]; n > 0 {
		g.kind, g.letter = letter, n
		return g
	}
	switch {
	case strings.ContainsRune(openingSigns, r):
		g.kind, g.sign = opening, r
	case strings.ContainsRune(closingSigns, r):
		g.kind, g.sign = closing, r
	case strings.ContainsRune(usualSigns, r):
		g.kind, g.sign = usual, r
	case strings.ContainsRune(markSigns, r):
		g.kind, g.sign = mark, r
	case strings.ContainsRune(amountSigns, r):
		g.kind, g.sign = amount, r
	case m.rare > 0 && strings.ContainsRune(guests, unicode.ToLower(r)):
		g.kind = guest
	case unicode.IsLetter(r) || unicode.IsMark(r):
		g.kind = foreign
	case '0' <= r && r <= '9':
		g.kind = digits
	case r == ' ' || '\t' <= r && r <= '\r':
		g.kind = space
	case !g.high:
		g.kind = ascii7
	case 0x2500 <= r && r <= 0x259F:
		g.kind = frame
	case r < 0xA0: // none, or a control character
		g.kind = nothing
	default:
		g.kind = strange
	}
	return g
}
