package notebook

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The scanner walks over text that [json.Valid] has accepted, so it checks nothing
// and needs no stack: however deep a value nests, it only counts.

// A span is a part of a text. The zero value is no part at all.
type span struct{ start, end int }

func (s span) in(text string) string { return text[s.start:s.end] }

func (s span) present() bool { return s.end > s.start }

// all is the span of a text.
func all(text string) span { return span{0, len(text)} }

// A field is a member of an object, where it stands.
type field struct {
	name       string
	key, value span
}

// fields visits the members of an object. A value of another kind has none.
func fields(text string, at span, visit func(f field)) {
	if !at.present() || text[at.start] != '{' {
		return
	}
	for i := skipSpace(text, at.start+1); text[i] != '}'; i = skipSpace(text, i) {
		if text[i] == ',' {
			i = skipSpace(text, i+1)
		}
		key := span{i, skipString(text, i)}
		i = skipSpace(text, skipSpace(text, key.end)+1) // over the colon
		value := span{i, skipValue(text, i)}
		i = value.end
		visit(field{unquote(key.in(text)), key, value})
	}
}

// elements visits the elements of an array. A value of another kind has none.
func elements(text string, at span, visit func(value span)) {
	if !at.present() || text[at.start] != '[' {
		return
	}
	for i := skipSpace(text, at.start+1); text[i] != ']'; i = skipSpace(text, i) {
		if text[i] == ',' {
			i = skipSpace(text, i+1)
		}
		value := span{i, skipValue(text, i)}
		i = value.end
		visit(value)
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func skipSpace(text string, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}

// spaceBefore is where the white space that ends at text[i] begins.
func spaceBefore(text string, i int) int {
	for i > 0 && isSpace(text[i-1]) {
		i--
	}
	return i
}

// skipString is the end of the string whose opening quote is text[i]. It jumps from
// quote to quote, because most of a large notebook is a few very long strings.
func skipString(text string, i int) int {
	for i++; ; i++ {
		i += strings.IndexByte(text[i:], '"')
		back := i
		for text[back-1] == '\\' {
			back--
		}
		if (i-back)%2 == 0 {
			return i + 1
		}
	}
}

// skipValue is the end of the value that begins at text[i].
func skipValue(text string, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = skipString(text, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue // never ends a value: only met inside one
		default:
			for i < len(text) && !endsScalar(text[i]) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// endsScalar: no number, true, false or null goes on with c.
func endsScalar(c byte) bool {
	return c == ',' || c == ':' || c == ']' || c == '}' || isSpace(c)
}

// unquote is the string that raw spells, "" where raw is no string. Half a surrogate
// pair becomes U+FFFD. A source is a string for each of its lines, nearly all with an
// escape, so this is not left to the json package, which takes many times as long.
func unquote(raw string) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	raw = raw[1 : len(raw)-1]
	i := strings.IndexByte(raw, '\\')
	if i < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for ; i >= 0; i = strings.IndexByte(raw, '\\') {
		out = append(out, raw[:i]...)
		r, size := unescape(raw[i:])
		out = utf8.AppendRune(out, r)
		raw = raw[i+size:]
	}
	return string(append(out, raw...))
}

// unescape is the character of the escape that s begins with, and the length of it.
func unescape(s string) (r rune, size int) {
	if s[1] != 'u' {
		if i := strings.IndexByte("bfnrt", s[1]); i >= 0 {
			return rune("\b\f\n\r\t"[i]), 2
		}
		return rune(s[1]), 2
	}
	r = hexRune(s[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if pair := utf16.DecodeRune(r, hexRune(s[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hexRune(digits string) rune {
	n, _ := strconv.ParseUint(digits, 16, 16) // valid
	return rune(n)
}

// textOf is a text as notebooks keep it: one string, or a list of strings to be put
// together. Whatever else it may be counts as empty.
func textOf(text string, at span) string {
	if !at.present() || text[at.start] != '[' {
		return unquote(at.in(text))
	}
	var out strings.Builder
	elements(text, at, func(line span) { out.WriteString(unquote(line.in(text))) })
	return out.String()
}

// lineAt is the 1-based line that holds byte i of text.
func lineAt(text string, i int) int {
	end := "\n"
	if strings.IndexByte(text, '\n') < 0 {
		end = "\r"
	}
	return 1 + strings.Count(text[:min(i, len(text))], end)
}

// names tells which names came before.
type names struct {
	few  []string
	many map[string]bool
}

// add tells whether name came before.
func (n *names) add(name string) bool {
	if n.many != nil {
		before := n.many[name]
		n.many[name] = true
		return before
	}
	for _, s := range n.few {
		if s == name {
			return true
		}
	}
	if n.few = append(n.few, name); len(n.few) == 16 {
		n.many = make(map[string]bool)
		for _, s := range n.few {
			n.many[s] = true
		}
	}
	return false
}
