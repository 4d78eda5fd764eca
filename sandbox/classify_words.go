package sandbox

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is the text of a word that the shell leaves as it is; a pattern of file names
// only where every name it can stand for begins with "./", so that none is an option.
func (r *reader) word(w *syntax.Word) (text string, pattern, ok bool) {
	if w == nil || len(w.Parts) == 0 {
		return "", false, false
	}
	var b strings.Builder
	for _, p := range w.Parts {
		part, globs, ok := r.part(p)
		if !ok {
			return "", false, false
		}
		pattern = pattern || globs
		b.WriteString(part)
	}
	first, _ := w.Parts[0].(*syntax.Lit)
	switch {
	case pattern && (first == nil || !strings.HasPrefix(first.Value, "./")):
		return "", false, false
	case first != nil && strings.HasPrefix(first.Value, "~"):
		return "", false, false
	}
	return b.String(), pattern, true
}

// part is one part of a word; globs: it holds a pattern of file names.
func (r *reader) part(p syntax.WordPart) (text string, globs, ok bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		return unquoted(p.Value)
	case *syntax.SglQuoted:
		return p.Value, false, !p.Dollar
	case *syntax.DblQuoted:
		if p.Dollar {
			return "", false, false
		}
		var b strings.Builder
		for _, q := range p.Parts {
			switch q := q.(type) {
			case *syntax.Lit:
				b.WriteString(unescapeDouble(q.Value))
			case *syntax.ParamExp:
				value, ok := r.loopVariable(q)
				if !ok {
					return "", false, false
				}
				b.WriteString(value)
			default:
				return "", false, false
			}
		}
		return b.String(), false, true
	}
	return "", false, false
}

// loopVariable: "$f" or "${f}" of a loop over known words, and nothing done to it.
func (r *reader) loopVariable(p *syntax.ParamExp) (value string, ok bool) {
	if p.Param == nil {
		return "", false
	}
	value, ok = r.vars[p.Param.Value]
	return value, ok && !p.Excl && !p.Length && !p.Width &&
		p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
}

// unquoted is a text without quotes around it.
func unquoted(s string) (text string, globs, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) {
				return "", false, false
			}
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case '*', '?', '[':
			globs = globs || c != '[' || strings.IndexByte(s[i:], ']') > 0
			b.WriteByte(c)
		case '{', '}', '`', '$':
			if c == '{' && i+1 < len(s) && s[i+1] == '}' || c == '}' && i > 0 && s[i-1] == '{' {
				b.WriteByte(c) // {} is just that
				continue
			}
			return "", false, false
		case '~':
			if i > 0 && (s[i-1] == ':' || s[i-1] == '=') {
				return "", false, false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), globs, true
}

// unescapeDouble is a text between double quotes.
func unescapeDouble(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// inside tells whether a path cannot lead out of the directory by its text.
func inside(p string) bool {
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || strings.ContainsAny(p, "\x00\n") {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return false
		}
	}
	return true
}

// argInside is inside for an argument, which may be an option with a value.
func argInside(a string) bool {
	if a == "/dev/null" {
		return true
	}
	if !strings.HasPrefix(a, "-") {
		return insideEach(a, ":=")
	}
	name, value, has := strings.Cut(a, "=")
	return !strings.Contains(name, "/") && !strings.Contains(name, "..") && (!has || insideEach(value, ":="))
}

// insideEach takes the parts between separators, too: PATH=/x, HEAD:../x.
func insideEach(s, separators string) bool {
	if !inside(s) {
		return false
	}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if !inside(part) {
			return false
		}
	}
	return true
}
