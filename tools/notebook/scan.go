package notebook

import (
	"encoding/json"
	"strings"
)

// The scanner walks over text that [json.Valid] has accepted, so it checks nothing
// and needs no stack: however deep a value nests, it only counts.

// A span is a part of a text. The zero value is no part at all.
type span struct{ start, end int }

func (s span) in(text string) string { return text[s.start:s.end] }

func (s span) present() bool { return s.end > s.start }

// A field is a member of an object, where it stands.
type field struct {
	name       string
	key, value span
}

// fields visits the members of the object that begins at text[at]. A value of
// another kind has none.
func fields(text string, at int, visit func(f field)) {
	if at >= len(text) || text[at] != '{' {
		return
	}
	for i := skipSpace(text, at+1); text[i] != '}'; i = skipSpace(text, i) {
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

// elements visits the elements of the array that begins at text[at]. A value of
// another kind has none.
func elements(text string, at int, visit func(value span)) {
	if at >= len(text) || text[at] != '[' {
		return
	}
	for i := skipSpace(text, at+1); text[i] != ']'; i = skipSpace(text, i) {
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
// pair becomes U+FFFD.
func unquote(raw string) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var s string
	_ = json.Unmarshal([]byte(raw), &s) // valid, and a string
	return s
}

// textOf is a text as notebooks keep it: one string, or a list of strings to be put
// together. Whatever else it may be counts as empty.
func textOf(text string, at span) string {
	if !at.present() || text[at.start] != '[' {
		return unquote(at.in(text))
	}
	var out strings.Builder
	elements(text, at.start, func(line span) { out.WriteString(unquote(line.in(text))) })
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
