package search

import (
	"strings"
	"unicode/utf8"
)

// segKind sorts components by the cheapest test that decides them.
type segKind uint8

const (
	segLiteral    segKind = iota // text
	segDoubleStar                // ** : any number of components
	segAny                       // *
	segPrefix                    // text*
	segSuffix                    // *text
	segAround                    // text*tail
	segGeneral                   // tokens
)

// A segment is one component of a glob.
type segment struct {
	kind   segKind
	dot    bool // begins with a dot of its own: may stand for hidden names
	text   string
	tail   string
	tokens []globToken
}

type tokenKind uint8

const (
	tokLiteral tokenKind = iota
	tokOne               // ?
	tokStar              // *
	tokClass             // [a-z]
)

type globToken struct {
	kind    tokenKind
	negated bool
	lit     rune
	raw     string // lit as bytes
	ranges  []runeRange
}

type runeRange struct{ lo, hi rune }

// compileSegment compiles one component of a checked pattern.
func compileSegment(part string) segment {
	if part == "**" {
		return segment{kind: segDoubleStar}
	}
	tokens := tokenize(part)
	seg := segment{kind: segGeneral, tokens: tokens}
	seg.dot = len(tokens) > 0 && tokens[0].kind == tokLiteral && tokens[0].lit == '.'
	seg.simplify()
	return seg
}

// simplify finds a cheaper form for "text", "*", "text*", "*text" and "text*tail".
func (s *segment) simplify() {
	star := -1
	var text [2]strings.Builder
	for i, t := range s.tokens {
		switch {
		case t.kind == tokStar && star < 0:
			star = i
		case t.kind != tokLiteral:
			return
		case star < 0:
			text[0].WriteString(t.raw)
		default:
			text[1].WriteString(t.raw)
		}
	}
	head, tail := text[0].String(), text[1].String()
	switch {
	case star < 0:
		s.kind, s.text = segLiteral, head
	case head == "" && tail == "":
		s.kind = segAny
	case tail == "":
		s.kind, s.text = segPrefix, head
	case head == "":
		s.kind, s.text = segSuffix, tail
	default:
		s.kind, s.text, s.tail = segAround, head, tail
	}
	s.tokens = nil
}

func (s *segment) match(name string) bool {
	switch s.kind {
	case segLiteral:
		return name == s.text
	case segAny, segDoubleStar:
		return true
	case segPrefix:
		return strings.HasPrefix(name, s.text)
	case segSuffix:
		return strings.HasSuffix(name, s.text)
	case segAround:
		return len(name) >= len(s.text)+len(s.tail) && strings.HasPrefix(name, s.text) && strings.HasSuffix(name, s.tail)
	}
	return matchTokens(s.tokens, name)
}

// matchTokens matches a whole name. Going back to the last star is enough: an
// earlier one could only have taken less.
func matchTokens(tokens []globToken, name string) bool {
	t, n := 0, 0
	starT, starN := -1, 0
	for n < len(name) {
		if t < len(tokens) && tokens[t].kind == tokStar {
			t++
			starT, starN = t, n
			continue
		}
		if t < len(tokens) {
			if w := tokens[t].width1(name[n:]); w > 0 {
				t++
				n += w
				continue
			}
		}
		if starT < 0 {
			return false
		}
		_, w := utf8.DecodeRuneInString(name[starN:])
		starN += w
		t, n = starT, starN
	}
	for t < len(tokens) && tokens[t].kind == tokStar {
		t++
	}
	return t == len(tokens)
}

// width1 is the number of bytes of the one character at the start of s that the
// token stands for, 0 if it does not match.
func (t *globToken) width1(s string) int {
	if t.kind == tokLiteral {
		if strings.HasPrefix(s, t.raw) {
			return len(t.raw)
		}
		return 0
	}
	r, w := utf8.DecodeRuneInString(s)
	if t.kind == tokOne || t.inClass(r) != t.negated {
		return w
	}
	return 0
}

func (t *globToken) inClass(r rune) bool {
	for _, x := range t.ranges {
		if x.lo <= r && r <= x.hi {
			return true
		}
	}
	return false
}

// tokenize splits a component into tokens; several stars in a row are one.
func tokenize(p string) []globToken {
	var out []globToken
	for i := 0; i < len(p); {
		switch p[i] {
		case '*':
			if n := len(out); n == 0 || out[n-1].kind != tokStar {
				out = append(out, globToken{kind: tokStar})
			}
			i++
		case '?':
			out = append(out, globToken{kind: tokOne})
			i++
		case '[':
			end := classEnd(p, i)
			out = append(out, parseClass(p[i+1:end]))
			i = end + 1
		default:
			if p[i] == '\\' {
				i++
			}
			r, w := utf8.DecodeRuneInString(p[i:])
			out = append(out, globToken{kind: tokLiteral, lit: r, raw: p[i : i+w]})
			i += w
		}
	}
	return out
}

// parseClass parses what is between the brackets.
func parseClass(p string) globToken {
	t := globToken{kind: tokClass}
	if p[0] == '!' || p[0] == '^' {
		t.negated = true
		p = p[1:]
	}
	next := func() rune {
		if p[0] == '\\' && len(p) > 1 {
			p = p[1:]
		}
		r, w := utf8.DecodeRuneInString(p)
		p = p[w:]
		return r
	}
	for p != "" {
		lo := next()
		hi := lo
		if len(p) > 1 && p[0] == '-' {
			p = p[1:]
			hi = next()
			// A range the wrong way round still holds its first character.
			t.ranges = append(t.ranges, runeRange{lo, lo})
		}
		t.ranges = append(t.ranges, runeRange{lo, hi})
	}
	return t
}
