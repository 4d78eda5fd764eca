package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxPattern bounds a grep pattern, in bytes.
const maxPattern = 32 << 10

// ErrNewline: the pattern holds a line break, but without Multiline each line is
// matched by itself, so that it could never match.
var ErrNewline = errors.New("the pattern holds a line break, but lines are matched one by one")

// A PatternError says why a pattern is no regular expression as we know them.
type PatternError struct {
	Reason string
	Offset int    // of the fault, in bytes; -1 if it has no single place
	Hint   string // how to do without, or ""
}

func (e *PatternError) Error() string {
	msg := "invalid pattern: " + e.Reason
	if e.Offset >= 0 {
		msg += fmt.Sprintf(" at position %d", e.Offset+1)
	}
	if e.Hint != "" {
		msg += ". " + e.Hint
	}
	return msg
}

// A program is a compiled pattern.
type program struct {
	literal   string         // must occur in every match; "" if none is known
	plain     bool           // the literal is the whole pattern: re is not needed
	re        *regexp.Regexp // finds a match; group number group holds it
	resume    *regexp.Regexp // as group+1, one that begins in the rest of a line, behind one character
	group     int
	multiline bool // matches may hold line breaks
	anchored  bool // \A occurs: only resume knows where the text begins
}

// compile prepares a query. Errors are [ErrNewline] and [*PatternError].
func compile(q Query) (*program, error) {
	tree, err := parsePattern(q)
	if err != nil {
		return nil, err
	}
	p := &program{multiline: q.Multiline && spansLines(tree)}
	if q.Multiline {
		joinCRLF(tree)
		p.anchored = hasOp(tree, syntax.OpBeginText)
	}
	if !p.multiline {
		if hasNewlineLiteral(tree) || !q.Multiline && writesNewline(q) {
			return nil, ErrNewline
		}
		withinLine(tree)
	}
	p.literal = required(tree)
	p.plain = tree.Op == syntax.OpLiteral && p.literal != "" && !q.Word
	if len(p.literal) < 2 && !p.plain {
		p.literal = ""
	}
	return p, p.build(tree.String(), q.Word)
}

func parsePattern(q Query) (*syntax.Regexp, error) {
	if len(q.Pattern) > maxPattern {
		return nil, &PatternError{Reason: "it is longer than 32768 bytes", Offset: -1}
	}
	if !utf8.ValidString(q.Pattern) {
		return nil, &PatternError{Reason: "it is not valid UTF-8", Offset: -1}
	}
	flags := syntax.Perl &^ syntax.OneLine // ^ and $ at line breaks
	if q.IgnoreCase {
		flags |= syntax.FoldCase
	}
	if q.FixedStrings {
		flags |= syntax.Literal
	}
	tree, err := syntax.Parse(q.Pattern, flags)
	if err != nil {
		return nil, explain(q.Pattern, err)
	}
	return tree, nil
}

// wordChar is what Word takes for part of a word, in any script.
const wordChar = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}`

func (p *program) build(expr string, word bool) error {
	if p.plain && !p.multiline {
		return nil
	}
	if word {
		// The neighbours are part of the expression, so that another
		// alternative or place is tried where they do not fit.
		expr = `(?m:^|[^` + wordChar + `])(` + expr + `)(?m:$|[^` + wordChar + `])`
		p.group = 1
	}
	var err error
	if p.re, err = regexp.Compile(expr); err != nil {
		return explain(expr, err)
	}
	if p.multiline {
		reach := `[^\n]*?`
		if p.anchored {
			reach = `(?s:.*?)`
		}
		p.resume, err = regexp.Compile(`\A(?s:.)` + reach + `(` + expr + `)`)
	}
	return err
}

// withinLine makes sure that no part of the tree matches a line break, and that
// "text" means the line.
func withinLine(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
		re.Flags &^= syntax.WasDollar
	case syntax.OpCharClass:
		if re.Rune = without(re.Rune, '\n'); len(re.Rune) == 0 {
			re.Op = syntax.OpNoMatch
		}
	}
	for _, sub := range re.Sub {
		withinLine(sub)
	}
}

// without takes r out of a list of ranges.
func without(ranges []rune, r rune) []rune {
	var out []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if r < lo || hi < r {
			out = append(out, lo, hi)
			continue
		}
		if lo < r {
			out = append(out, lo, r-1)
		}
		if r < hi {
			out = append(out, r+1, hi)
		}
	}
	return out
}

// spansLines reports whether a match may hold a line break or depends on where
// the file begins and ends.
func spansLines(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpBeginText, syntax.OpEndText:
		return true
	case syntax.OpLiteral, syntax.OpCharClass:
		return holdsNewline(re)
	}
	return slices.ContainsFunc(re.Sub, spansLines)
}

func hasOp(re *syntax.Regexp, op syntax.Op) bool {
	return re.Op == op || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return hasOp(sub, op) })
}

// hasNewlineLiteral reports a part of the tree that only a line break matches.
func hasNewlineLiteral(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		return holdsNewline(re)
	}
	return slices.ContainsFunc(re.Sub, hasNewlineLiteral)
}

func holdsNewline(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		return strings.ContainsRune(string(re.Rune), '\n')
	}
	for i := 0; i+1 < len(re.Rune); i += 2 {
		if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
			return true
		}
	}
	return false
}

// writesNewline reports a line break spelled in the pattern outside of a class:
// the parser may have made "a|\n" a class.
func writesNewline(q Query) bool {
	if q.FixedStrings {
		return strings.Contains(q.Pattern, "\n")
	}
	for i := range outside(q.Pattern) {
		if rest := q.Pattern[i:]; rest[0] == '\n' || strings.HasPrefix(rest, `\n`) {
			return true
		}
	}
	return false
}

// joinCRLF drops "\r" before "\n": the text searched has no "\r" there.
func joinCRLF(re *syntax.Regexp) {
	if re.Op == syntax.OpLiteral {
		re.Rune = []rune(strings.ReplaceAll(string(re.Rune), "\r\n", "\n"))
	}
	for _, sub := range re.Sub {
		joinCRLF(sub)
	}
}

// required is the longest text that every match holds as it is.
func required(re *syntax.Regexp) string {
	best := ""
	switch re.Op {
	case syntax.OpLiteral:
		// U+FFFD also stands for bytes that are no UTF-8.
		if re.Flags&syntax.FoldCase == 0 && !strings.ContainsRune(string(re.Rune), utf8.RuneError) {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(best) {
				best = s
			}
		}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	}
	return best
}
