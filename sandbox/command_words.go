package sandbox

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Words are looked at as strings; these stand for what is not in them. Neither
// character can come from a command line: see hidden.
const (
	unknown = "\x00" // a part that is only known when the line runs
	home    = "\x01" // the user's home directory

	// In a list of commands, where unknown stands for any number of words, what
	// is written there follows, and an end.
	single = "\x02" // unknown, but within one word
	closed = "\x03"
	marks  = 3
)

// maxAlternatives bounds what braces are expanded to.
const maxAlternatives = 64

// fields are the words of a command after expansion, as far as that is known.
func (f *floor) fields(words []*syntax.Word) []string {
	var out []string
	for _, w := range words {
		out = append(out, f.field(w)...)
	}
	return out
}

func (f *floor) field(w *syntax.Word) []string {
	if all, ok := f.allParams(w); ok {
		return all
	}
	w = &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	syntax.SplitBraces(w)
	texts := f.list.globbing(func() []string { return f.parts(w.Parts, false, true) })
	if len(texts) > 1 {
		texts = slices.DeleteFunc(texts, func(t string) bool { return t == "" }) // {,x} is one word
	}
	if f.list != nil || !splits(w.Parts) {
		return texts
	}
	var out []string
	for _, t := range texts {
		out = append(out, strings.Fields(t)...)
	}
	return out
}

// value is a word where it is not split or brace-expanded.
func (f *floor) value(w *syntax.Word) string {
	return strings.Join(f.parts(w.Parts, false, true), " ")
}

// splits reports whether a word is split after expansion.
func splits(parts []syntax.WordPart) bool {
	for _, p := range parts {
		switch p.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			return true
		}
	}
	return false
}

// allParams is "$@".
func (f *floor) allParams(w *syntax.Word) ([]string, bool) {
	if len(w.Parts) != 1 || len(f.params) == 0 || f.list != nil {
		return nil, false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Param.Value != "@" && p.Param.Value != "*" {
		return nil, false
	}
	return f.params[1:], true
}

// parts returns the texts that parts of a word can stand for: several where
// there are braces.
func (f *floor) parts(parts []syntax.WordPart, quoted, start bool) []string {
	texts := []string{""}
	var tail strings.Builder // of all of them
	for i, p := range parts {
		more := f.part(p, quoted, start && i == 0)
		if !f.spend(len(texts) * (len(texts[0]) + tail.Len())) {
			return []string{unknown}
		}
		if len(texts)*len(more) > maxAlternatives || len(texts[0])+tail.Len() > maxValue {
			more = f.list.cut(more, len(texts))
			texts = texts[:1]
		}
		if len(more) == 1 {
			tail.WriteString(more[0])
			continue
		}
		var all []string
		for _, t := range texts {
			for _, m := range more {
				all = append(all, t+tail.String()+m)
			}
		}
		texts = all
		tail.Reset()
	}
	for i := range texts {
		texts[i] += tail.String()
	}
	return texts
}

func (f *floor) part(p syntax.WordPart, quoted, start bool) []string {
	if text, ok := f.list.part(f.src, p, quoted, start); ok {
		return []string{text}
	}
	switch p := p.(type) {
	case *syntax.Lit:
		return []string{literal(p.Value, quoted, start)}
	case *syntax.SglQuoted:
		if p.Dollar {
			return []string{unescapeQuoted(p.Value)}
		}
		return []string{p.Value}
	case *syntax.DblQuoted:
		return f.parts(p.Parts, true, false)
	case *syntax.ParamExp:
		return []string{f.param(p)}
	case *syntax.CmdSubst:
		return []string{f.substitution(p)}
	case *syntax.BraceExp:
		return f.braces(p)
	}
	return []string{unknown}
}

func (f *floor) braces(b *syntax.BraceExp) []string {
	if b.Sequence {
		return []string{unknown}
	}
	var all []string
	for _, w := range b.Elems {
		all = append(all, f.parts(w.Parts, false, false)...)
	}
	if len(all) == 0 {
		return []string{unknown}
	}
	return all
}

// literal takes the backslashes out, and replaces a tilde at the start.
func literal(s string, quoted, start bool) string {
	if start && !quoted && strings.HasPrefix(s, "~") {
		name, rest, slash := strings.Cut(s, "/")
		if slash {
			rest = "/" + rest
		}
		if name == "~+" || name == "~-" {
			return unknown + rest
		}
		return home + rest // ~ and ~user
	}
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case s[i] == '\n':
		case quoted && !strings.ContainsRune("$`\"\\", rune(s[i])):
			b.WriteByte('\\')
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func (f *floor) param(p *syntax.ParamExp) string {
	if p.Param == nil || p.Length || p.Width || p.Excl {
		return unknown
	}
	name := p.Param.Value
	value, known := f.variable(name)
	if p.Exp != nil && p.Exp.Word != nil && !known {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			return f.value(p.Exp.Word)
		}
	}
	if !known || name != "HOME" && (p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Index != nil) {
		return unknown
	}
	return value
}

func (f *floor) variable(name string) (string, bool) {
	if v, ok := f.vars[name]; ok {
		return v, true
	}
	if n, err := strconv.Atoi(name); err == nil && n < len(f.params) {
		return f.params[n], true
	}
	if name == "HOME" {
		return home, true
	}
	return "", false
}

func (f *floor) substitution(c *syntax.CmdSubst) string {
	if len(c.Stmts) != 1 {
		return unknown
	}
	if f.work++; f.work > maxWork {
		return unknown
	}
	text, known := f.output(c.Stmts[0])
	if !known {
		return unknown
	}
	return strings.TrimRight(text, "\n")
}

// echoed is what echo writes.
func echoed(args []string) (string, bool) {
	escapes := false
	for len(args) > 0 && (args[0] == "-n" || args[0] == "-e" || args[0] == "-ne" || args[0] == "-en" || args[0] == "-E") {
		escapes = escapes || strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		text = unescape(text)
	}
	return text + "\n", true
}

// printed is what printf writes, for the simplest formats.
func printed(args []string) (string, bool) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return "", false
	}
	format := unescape(args[0])
	if !strings.Contains(format, "%") {
		return format, true
	}
	if strings.Count(format, "%") != 1 || !strings.Contains(format, "%s") && !strings.Contains(format, "%b") {
		return "", false
	}
	var b strings.Builder
	for _, a := range args[1:] {
		if strings.Contains(format, "%b") {
			a = unescape(a)
		}
		b.WriteString(strings.NewReplacer("%s", a, "%b", a).Replace(format))
	}
	return b.String(), true
}

// unescape reads the escapes of echo -e and printf. A shell that reads the text
// skips a NUL in it.
func unescape(s string) string { return unescapeTo(s, false) }

// unescapeQuoted reads the escapes of $'…', which a NUL ends.
func unescapeQuoted(s string) string { return unescapeTo(s, true) }

func unescapeTo(s string, nulEnds bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if c := strings.IndexByte(`abefnrtv\'"?`, s[i]); c >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v\\'\"?"[c])
			continue
		}
		digits, base, n := escapeDigits(s[i:])
		if n == 0 {
			b.WriteByte('\\')
			b.WriteByte(s[i])
			continue
		}
		v, _ := strconv.ParseUint(digits, base, 32)
		switch {
		case byte(v) == 0 && (v == 0 || s[i] != 'u' && s[i] != 'U'):
			if nulEnds {
				return b.String()
			}
		case v <= marks: // they stand for something else here
		case s[i] == 'u' || s[i] == 'U':
			b.WriteString(string(rune(min(v, utf8.MaxRune))))
		default:
			b.WriteByte(byte(v))
		}
		i += n - 1
	}
	return b.String()
}

// escapeDigits finds the number of an escape: s begins after the backslash.
func escapeDigits(s string) (digits string, base, n int) {
	skip, most := 1, 0
	base = 16
	switch {
	case s[0] == 'x':
		most = 2
	case s[0] == 'u':
		most = 4
	case s[0] == 'U':
		most = 8
	case s[0] == '0':
		skip, most, base = 0, 4, 8
	case s[0] >= '1' && s[0] <= '7':
		skip, most, base = 0, 3, 8
	default:
		return "", 0, 0
	}
	end := skip
	for end < len(s) && end < skip+most && isDigit(s[end], base) {
		end++
	}
	if end == skip {
		return "", 0, 0
	}
	return s[skip:end], base, end
}

func isDigit(b byte, base int) bool {
	if base == 8 {
		return b >= '0' && b <= '7'
	}
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}
