package search

import (
	"errors"
	"regexp/syntax"
	"strings"
)

// explain turns an error of the parser into words, with the place of the fault
// and, for what other engines know and this one does not, a way around it.
func explain(pattern string, err error) error {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return &PatternError{Reason: err.Error(), Offset: -1}
	}
	out := &PatternError{Reason: bad.Code.String(), Offset: -1}
	if at, foreign := findForeign(pattern); foreign != nil && blamed(bad, foreign) {
		out.Reason, out.Offset, out.Hint = foreign.reason, at, foreign.hint
		return out
	}
	switch bad.Code {
	case syntax.ErrMissingParen:
		out.Reason, out.Offset = "a ( without its )", unclosed(pattern)
		out.Hint = `To search for the character itself, write \( or set fixed_strings.`
	case syntax.ErrUnexpectedParen:
		out.Reason, out.Offset = "a ) without its (", unopened(pattern)
		out.Hint = `To search for the character itself, write \) or set fixed_strings.`
	case syntax.ErrMissingBracket:
		out.Reason, out.Offset = "a [ without its ]", strings.Index(pattern, bad.Expr)
		out.Hint = `To search for the character itself, write \[ or set fixed_strings.`
	case syntax.ErrTrailingBackslash:
		out.Offset = len(pattern) - 1
		out.Hint = `To search for a backslash, write \\ or set fixed_strings.`
	case syntax.ErrInvalidRepeatSize:
		out.Hint = "A count is at most 1000."
		fallthrough
	default:
		if bad.Expr != "" && bad.Expr != pattern {
			out.Reason += " " + clip(bad.Expr)
		}
		if i := strings.Index(pattern, bad.Expr); bad.Expr != "" && i >= 0 {
			out.Offset = i
		}
	}
	if bad.Code == syntax.ErrMissingRepeatArgument && out.Hint == "" {
		out.Hint = "To search for the characters as they are, set fixed_strings."
	}
	return out
}

// foreign is syntax of other engines that RE2 leaves out.
type foreign struct{ text, reason, hint string }

var foreigners = []foreign{
	{"(?=", "look-ahead (?=…) is not supported", "Match the text that follows as part of the pattern, or search for the first part and filter the lines."},
	{"(?!", "negative look-ahead (?!…) is not supported", "Search without it and leave out the lines that do not fit, or spell out what may follow, as in foo([^b]|$)."},
	{"(?<=", "look-behind (?<=…) is not supported", "Match the text in front as part of the pattern."},
	{"(?<!", "negative look-behind (?<!…) is not supported", "Spell out what may stand in front, as in (^|[^a])foo; for whole words use word or \\b."},
	{"(?>", "atomic group (?>…) is not supported", "Use (?:…); matching takes linear time without it."},
	{"(?P=", "back-reference (?P=…) is not supported", "Spell out the alternatives, as in (aa|bb), or search for the first part and filter the lines."},
	{`\k`, `back-reference \k is not supported`, "Spell out the alternatives, as in (aa|bb), or search for the first part and filter the lines."},
	{`\u`, `\u is not supported`, `Write \x{00e9}, or the character itself.`},
	{`\Z`, `\Z is not supported`, `Use $ for the end of a line.`},
	{`\h`, `\h is not supported`, `Use [ \t] for blanks, [0-9a-fA-F] for hexadecimal digits.`},
	{`\R`, `\R is not supported`, `Set multiline and use \n.`},
	{`\K`, `\K is not supported`, `Match the text in front as part of the pattern.`},
	{`\G`, `\G is not supported`, ``},
	{"++", "possessive ++ is not supported", "Use +; matching takes linear time without it."},
	{"*+", "possessive *+ is not supported", "Use *; matching takes linear time without it."},
	{"?+", "possessive ?+ is not supported", "Use ?; matching takes linear time without it."},
}

var backReference = foreign{`\`, "back-reference is not supported",
	"Spell out the alternatives, as in (aa|bb), or search for the first part and filter the lines."}

// findForeign finds the first foreign construct outside of classes and escapes.
func findForeign(p string) (int, *foreign) {
	for i := range outside(p) {
		rest := p[i:]
		if len(rest) > 1 && rest[0] == '\\' && rest[1] >= '1' && rest[1] <= '9' {
			f := backReference
			f.text, f.reason = rest[:2], `back-reference `+rest[:2]+` is not supported`
			return i, &f
		}
		for n := range foreigners {
			if strings.HasPrefix(rest, foreigners[n].text) {
				return i, &foreigners[n]
			}
		}
	}
	return -1, nil
}

// blamed reports whether the parser stopped at the construct.
func blamed(bad *syntax.Error, f *foreign) bool {
	return strings.HasPrefix(bad.Expr, f.text) || strings.HasPrefix(f.text, bad.Expr) && bad.Expr != ""
}

// outside yields the index of every character or escape that is not in a class.
func outside(p string) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < len(p); i++ {
			if !yield(i) {
				return
			}
			switch p[i] {
			case '\\':
				i++
			case '[':
				if end := closing(p, i); end > 0 {
					i = end
				}
			}
		}
	}
}

// closing is the index of the "]" of the class at p[i], or -1.
func closing(p string, i int) int {
	i++
	if i < len(p) && p[i] == '^' {
		i++
	}
	if i < len(p) && p[i] == ']' {
		i++
	}
	for ; i < len(p); i++ {
		switch {
		case p[i] == '\\':
			i++
		case strings.HasPrefix(p[i:], "[:") && strings.Contains(p[i:], ":]"):
			i += strings.Index(p[i:], ":]") + 1
		case p[i] == ']':
			return i
		}
	}
	return -1
}

// unclosed is the index of the last "(" without ")", unopened of the first ")" without "(".
func unclosed(p string) int {
	open, _ := parens(p)
	return open
}

func unopened(p string) int {
	_, shut := parens(p)
	return shut
}

func parens(p string) (open, shut int) {
	var stack []int
	for i := range outside(p) {
		switch p[i] {
		case '(':
			stack = append(stack, i)
		case ')':
			if len(stack) == 0 {
				return -1, i
			}
			stack = stack[:len(stack)-1]
		}
	}
	if len(stack) == 0 {
		return -1, -1
	}
	return stack[len(stack)-1], -1
}
