package sandbox

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Verdict says what a command line may do, as far as its text tells.
type Verdict string

const (
	// ReadOnly: it writes nothing, starts nothing that could, and reads nothing but
	// what lies below the directory it runs in.
	ReadOnly Verdict = "read-only"
	// Ask: it may do anything; whether it may is for somebody else to say.
	Ask Verdict = "ask"
	// Deny: it is never run.
	Deny Verdict = "deny"
)

// Classify judges a command line; why is a phrase for Ask and Deny. What is not known
// to be harmless is [Ask]: every part must be a command that is listed here, with
// options that are, all written out, without anything the shell would fill in.
//
// The answer is about the text. A program of a listed name that is another one, a
// repository whose settings run programs, and links that lead elsewhere are not seen.
func Classify(line string) (v Verdict, why string) {
	if reason, no := Denied(line); no {
		return Deny, reason
	}
	if len(line) > maxAnalysed || bracketDepth(line) > maxBrackets {
		return Ask, "it is too long to be looked into"
	}
	file, err := parseLine(line)
	if err != nil {
		return Ask, "it is no valid bash"
	}
	r := &reader{}
	r.stmts(file.Stmts)
	if r.why == "" {
		return ReadOnly, ""
	}
	return Ask, r.why
}

// reader goes through a line until it finds what is not known to be read-only.
type reader struct {
	why   string
	vars  map[string]string // loop variables and what they hold
	depth int
	work  int
}

func (r *reader) no(format string, args ...any) {
	if r.why == "" {
		r.why = fmt.Sprintf(format, args...)
	}
}

func (r *reader) stmts(list []*syntax.Stmt) {
	if r.depth++; r.depth > maxBrackets {
		r.no("it is nested too deeply")
	}
	if r.work += 1 + len(list); r.work > maxWork {
		r.no("it is too complex to be looked into")
	}
	for _, s := range list {
		if r.why == "" {
			r.stmt(s)
		}
	}
	r.depth--
}

func (r *reader) stmt(s *syntax.Stmt) {
	if s.Background || s.Coprocess || s.Disown {
		r.no("it goes on in the background")
	}
	for _, d := range s.Redirs {
		r.redirect(d)
	}
	switch n := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		r.call(n)
	case *syntax.BinaryCmd:
		r.stmts([]*syntax.Stmt{n.X, n.Y})
	case *syntax.Block:
		r.stmts(n.Stmts)
	case *syntax.Subshell:
		r.stmts(n.Stmts)
	case *syntax.IfClause:
		for c := n; c != nil; c = c.Else {
			r.stmts(c.Cond)
			r.stmts(c.Then)
		}
	case *syntax.ForClause:
		r.loop(n)
	default:
		r.no("it is more than commands one after the other")
	}
}

// loop takes a loop over words that are written out.
func (r *reader) loop(n *syntax.ForClause) {
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok || n.Select || len(iter.Items) == 0 {
		r.no("its loop is not over words that are written out")
		return
	}
	name := iter.Name.Value
	if _, set := r.vars[name]; set || !loopName(name) {
		r.no("it sets %s", name)
		return
	}
	if r.vars == nil {
		r.vars = make(map[string]string)
	}
	for _, w := range iter.Items {
		text, pattern, ok := r.word(w)
		if !ok || pattern {
			r.no("its loop is not over words that are written out")
			return
		}
		r.vars[name] = text
		r.stmts(n.Do)
	}
	delete(r.vars, name)
}

// loopName: lower-case names mean nothing to the shell or to programs.
func loopName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && !strings.Contains(name, "proxy")
}

// redirect takes what is read from a file inside, or goes nowhere.
func (r *reader) redirect(d *syntax.Redirect) {
	if d.N != nil && d.N.Value != "0" && d.N.Value != "1" && d.N.Value != "2" {
		r.no("it opens a file of its own")
		return
	}
	text, pattern, ok := r.word(d.Word)
	ok = ok && !pattern
	switch d.Op {
	case syntax.RdrIn:
		if !ok || text != "/dev/null" && !inside(text) {
			r.no("it reads what is not known to lie inside")
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
		if !ok || text != "/dev/null" {
			r.no("it writes to a file")
		}
	case syntax.DplOut:
		if !ok || text != "1" && text != "2" {
			r.no("it writes to a file")
		}
	case syntax.Hdoc, syntax.DashHdoc:
		if !ok || !r.static(d.Hdoc) {
			r.no("its here-document has something to be filled in")
		}
	case syntax.WordHdoc:
		if !ok {
			r.no("its input has something to be filled in")
		}
	default:
		r.no("it writes to a file")
	}
}

// static tells whether a here-document is just text.
func (r *reader) static(w *syntax.Word) bool {
	if w == nil {
		return true
	}
	for _, p := range w.Parts {
		if _, ok := p.(*syntax.Lit); !ok {
			return false
		}
	}
	return true
}

// call takes a simple command.
func (r *reader) call(n *syntax.CallExpr) {
	for _, a := range n.Assigns {
		r.assign(a, len(n.Args) > 0)
	}
	args := make([]string, 0, len(n.Args))
	for _, w := range n.Args {
		text, pattern, ok := r.word(w)
		if !ok || pattern && len(args) == 0 {
			r.no("the shell would fill something in")
			return
		}
		args = append(args, text)
		if pattern { // it may stand for several
			args = append(args, text)
		}
	}
	if len(args) == 0 || r.why != "" {
		return
	}
	if len(args) > 1 && args[0] == "command" && !strings.HasPrefix(args[1], "-") {
		args = args[1:]
	}
	r.command(args[0], args[1:])
}

// assign takes a setting of the language or of colours for one command.
func (r *reader) assign(a *syntax.Assign, forCommand bool) {
	value, pattern, ok := "", false, true
	if a.Value != nil {
		value, pattern, ok = r.word(a.Value)
	}
	name := ""
	if a.Name != nil {
		name = a.Name.Value
	}
	fine := name == "LANG" || name == "LANGUAGE" || strings.HasPrefix(name, "LC_") || name == "NO_COLOR" || name == "CLICOLOR"
	if !ok || pattern || !fine || !forCommand || a.Append || a.Index != nil || a.Array != nil || a.Naked || strings.ContainsAny(value, "/ ") {
		r.no("it sets %s", shownName(name))
	}
}

func shownName(name string) string {
	if name == "" {
		return "a variable"
	}
	return name
}

// command takes a command with its arguments, as they are after the shell.
func (r *reader) command(name string, args []string) {
	for _, a := range args {
		if !argInside(a) {
			r.no("%s names something outside", name)
			return
		}
	}
	if len(args) == 1 && (args[0] == "--version" || args[0] == "--help") && tellsVersion[name] {
		return
	}
	known, ok := readers[name]
	if !ok {
		r.no("%s may do more than read", name)
		return
	}
	if bad := known(args); bad != "" {
		r.no("%s %s", name, bad)
	}
}
