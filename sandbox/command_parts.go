package sandbox

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Commands is what a command line runs, for rules that name commands.
//
// What a program does that the line starts is not in it: a script, make, an
// interpreter, git's aliases and hooks.
type Commands struct {
	// Parts are the simple commands the line may run, each once: the words with
	// one blank between them, without quotes; what is only known when the line
	// runs as it is written. A program that is named by a path is there by its
	// bare name too, and the command that a wrapper or a nested shell runs
	// stands after it. A condition in brackets is "[[".
	Parts []string
	// Last is the simple command whose failure is that of the line, "" if that
	// is not known. Wrappers that pass the status on are left out of it.
	Last string
	// Plain: the line is one simple command of literal words and nothing else: no
	// redirect, assignment, substitution, variable, declaration, function,
	// background or second command. Patterns for names of files, and "~", may
	// stand in its arguments, as they become no more than arguments.
	Plain bool
	// Unclear: not all that the line runs is known. A rule that denies some
	// command must take it for one that may run it.
	Unclear bool

	words []string // of a plain line
	match []string // Parts with marks for what is only known when the line runs
}

// AnalyseCommands finds the commands of a line. It is bounded in time and space:
// a line that is too long, too deep or has too many commands is Unclear, as are
// one that is no valid bash, and one that computes the names of programs.
func AnalyseCommands(line string) Commands {
	if len(line) > maxAnalysed || hidden(line) != "" {
		return Commands{Unclear: true}
	}
	l := &listing{seen: map[string]bool{}}
	f := &floor{list: l}
	f.line(line)
	c := Commands{
		Parts: l.parts, match: l.match,
		Unclear: l.unclear || f.reason != "" || l.code && l.evaluates,
	}
	if bracketDepth(line) > maxBrackets {
		return c
	}
	file, err := parseLine(line)
	if err != nil {
		return c
	}
	f = &floor{list: &listing{}, src: line} // words only
	if !f.mayEndEarly(file) {
		c.Last = f.last(file.Stmts)
	}
	if len(c.Last) > maxValue {
		c.Last = strings.ToValidUTF8(c.Last[:maxValue], "")
	}
	if args, ok := literalCall(file); ok && !c.Unclear {
		c.words = f.fields(args)
		for i, w := range c.words {
			c.words[i] = unmarked.Replace(w)
		}
		c.Plain = true
	}
	return c
}

// MayRun reports whether the line may run a command: these words, or, if open,
// any that begin with them. It errs on the side of true; it is for denying.
func (c Commands) MayRun(words string, open bool) bool {
	if c.Unclear {
		return true
	}
	words = strings.Join(patternWords(words), " ")
	if len(words) > maxValue {
		return true
	}
	for _, m := range c.match {
		if mayBe(m, words, open) {
			return true
		}
	}
	return false
}

// RunsOnly reports whether the line is one command and nothing else: these
// words, or, if open, any that begin with them. It errs on the side of false; it
// is for allowing.
func (c Commands) RunsOnly(words string, open bool) bool {
	want := patternWords(words)
	if !c.Plain || len(want) == 0 || len(want) > len(c.words) || !open && len(want) != len(c.words) {
		return false
	}
	for i, w := range want {
		if c.words[i] != w {
			return false
		}
	}
	return true
}

// patternWords are the words of a rule, which may have quotes.
func patternWords(words string) []string {
	if len(words) <= maxValue && bracketDepth(words) <= maxBrackets && strings.ContainsAny(words, `'"\`) && hidden(words) == "" {
		if file, err := parseLine(words); err == nil {
			if args, ok := literalCall(file); ok {
				f := &floor{list: &listing{}, src: words}
				got := f.fields(args)
				for i := range got {
					got[i] = unmarked.Replace(got[i])
				}
				return got
			}
		}
	}
	return strings.Fields(words)
}

// mayBe compares a marked command with words. It keeps which beginnings of the
// words the command may have made up so far, by their length.
func mayBe(marked, words string, open bool) bool {
	at := make([]bool, len(words)+1)
	at[0] = true
	for i := 0; i < len(marked); {
		from, c := slices.Index(at, true), marked[i]
		switch end, may := optionalWord(marked, i); {
		case from < 0:
			return false
		case open && at[len(words)] && c == ' ':
			return true
		case may:
			from = -1
			for j := range len(words) {
				if at[j] && words[j] == ' ' {
					from = j + 1
					break
				}
			}
			if from >= 0 && open {
				return true
			}
			fill(at, from)
			i = end
		case c <= marks:
			if open {
				return true
			}
			fill(at, from)
			i += markEnd(marked[i:])
		default:
			for j := len(words); j > 0; j-- {
				at[j] = at[j-1] && words[j-1] == c
			}
			at[0] = false
			i++
		}
	}
	return at[len(words)]
}

func fill(at []bool, from int) {
	for j := from; from >= 0 && j < len(at); j++ {
		at[j] = true
	}
}

// optionalWord finds a blank and a word that may be none, and where they end.
func optionalWord(marked string, i int) (end int, ok bool) {
	if marked[i] != ' ' || i+1 == len(marked) || marked[i+1] != unknown[0] {
		return 0, false
	}
	end = i + 1 + markEnd(marked[i+1:])
	return end, end == len(marked) || marked[end] == ' '
}

// markEnd is the length of a marked part.
func markEnd(s string) int {
	if end := strings.IndexByte(s, closed[0]); end >= 0 {
		return end + 1
	}
	return len(s)
}

// literalCall returns the words of a line that is one simple command of literal words.
func literalCall(file *syntax.File) ([]*syntax.Word, bool) {
	if len(file.Stmts) != 1 {
		return nil, false
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil, false
	}
	for _, w := range call.Args {
		for _, p := range w.Parts {
			if !literalPart(p) {
				return nil, false
			}
		}
		if syntax.SplitBraces(&syntax.Word{Parts: slices.Clone(w.Parts)}) {
			return nil, false
		}
	}
	return call.Args, true
}

func literalPart(p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
		return true
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			if _, ok := q.(*syntax.Lit); !ok {
				return false
			}
		}
		return true
	}
	return false
}
