package sandbox

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxAnalysed is the length in bytes of a command line that is still looked into.
	maxAnalysed = 64 << 10
	// maxBrackets bounds how deep brackets may be nested: the parser recurses.
	maxBrackets = 1000
	// maxNested bounds how deep one command line may stand within another.
	maxNested = 8
	// maxValue bounds what is kept of a variable: x=$x$x doubles it.
	maxValue = 4 << 10
	// maxWork bounds the commands looked at: loops are followed.
	maxWork = 20000
	// maxWordParts and maxMade bound the parts of words looked at, and the text made
	// of them, in bytes: a loop looks at its words again each time.
	maxWordParts = 200_000
	maxMade      = 8 << 20
)

// Denied reports whether a command line is one that is never run, whatever the
// user's rules say, and why: a phrase to stand after a colon.
//
// It looks through quotes, wrappers (env, xargs, find -exec, …), nested shells,
// and variables as far as they are set in the line itself. It is a floor, not
// a wall: a program the line starts, or a text made when it runs, is not seen.
func Denied(line string) (reason string, denied bool) { return DeniedReading(line, "") }

// DeniedReading is [Denied] for a line that is given a text on its standard
// input, which a shell in it would run.
func DeniedReading(line, stdin string) (reason string, denied bool) {
	if len(line) > maxAnalysed {
		return fmt.Sprintf("the command line is too long (%d bytes, at most %d); put it into a script file", len(line), maxAnalysed), true
	}
	if reason := hidden(line); reason != "" {
		return reason, true
	}
	f := &floor{vars: map[string]string{}, given: stdin}
	f.line(line)
	return f.reason, f.reason != ""
}

// floor goes through a command line until it finds a reason to deny it.
type floor struct {
	reason    string
	vars      map[string]string       // set in the line, as far as it is known
	params    []string                // $0, $1, …; nil if not known
	stdin     map[*syntax.Stmt]string // what is known to come through a pipe
	given     string                  // what the whole line reads
	dir       string                  // where a cd of the line went, if that is vital
	depth     int
	work      int
	wordParts int
	made      int      // bytes of text made of words
	src       string   // the line looked at
	list      *listing // nil: only a reason to deny is sought
}

func (f *floor) deny(format string, args ...any) {
	if f.list == nil {
		f.giveUp(format, args...)
	}
}

// giveUp ends the work: it would go too far, or the verdict is known.
func (f *floor) giveUp(format string, args ...any) {
	if f.reason == "" {
		f.reason = fmt.Sprintf(format, args...)
	}
}

// line looks into a command line, the whole one or one within another.
func (f *floor) line(line string) {
	if f.reason != "" || strings.TrimSpace(line) == "" {
		return
	}
	if f.depth == maxNested || bracketDepth(line) > maxBrackets {
		f.giveUp("it is nested too deeply to be looked into")
		return
	}
	if f.work += len(line) / 1024; !f.goOn() {
		return
	}
	outer := f.src
	f.src = f.list.enter(line)
	f.depth++
	defer func() { f.depth, f.src = f.depth-1, outer }()
	line = f.src
	file, err := parseLine(line)
	if err != nil {
		f.list.unsure()
		f.scan(line)
		return
	}
	f.walk(file)
}

// goOn counts a step, and reports whether there may be more.
func (f *floor) goOn() bool {
	if f.work++; f.work > maxWork {
		f.giveUp("it is too complex to be looked into")
	}
	return f.reason == ""
}

// spend counts a part of a word and the text made of it, as goOn counts commands.
func (f *floor) spend(bytes int) bool {
	f.wordParts++
	f.made += bytes
	if f.wordParts > maxWordParts || f.made > maxMade {
		f.giveUp("it is too complex to be looked into")
	}
	return f.reason == ""
}

// nested looks into a command line that has parameters of its own.
func (f *floor) nested(line string, params []string) {
	outer := f.params
	f.params = params
	f.line(line)
	f.params = outer
}

func parseLine(line string) (file *syntax.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("parser: %v", r)
		}
	}()
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
}

// bracketDepth is about how deep the brackets of a line are nested.
func bracketDepth(line string) int {
	depth, most := 0, 0
	for _, b := range []byte(line) {
		switch b {
		case '(', '{', '[':
			depth++
			most = max(most, depth)
		case ')', '}', ']':
			depth = max(0, depth-1)
		case '`':
			most = max(most, depth)
		}
	}
	return most
}

// walk visits every command below node.
func (f *floor) walk(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if f.reason != "" {
			return false
		}
		if f.list != nil {
			f.list.node(f, n)
		}
		switch n := n.(type) {
		case *syntax.Stmt:
			f.stmt(n)
		case *syntax.BinaryCmd:
			f.pipe(n)
		case *syntax.FuncDecl:
			f.function(n)
		case *syntax.DeclClause:
			f.assign(n.Args)
		case *syntax.ForClause:
			return f.loop(n)
		}
		return f.reason == ""
	})
}

func (f *floor) stmt(s *syntax.Stmt) {
	if !f.goOn() {
		return
	}
	for _, r := range s.Redirs {
		f.redirect(r)
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	if len(call.Args) == 0 {
		f.assign(call.Assigns)
		return
	}
	f.command(f.fields(call.Args), f.input(s))
}

func (f *floor) assign(assigns []*syntax.Assign) {
	if f.list != nil {
		return // what a variable holds depends on what was run before
	}
	for _, a := range assigns {
		if a.Name == nil {
			continue
		}
		name := a.Name.Value
		if a.Value == nil || a.Append || a.Index != nil {
			delete(f.vars, name)
			continue
		}
		f.vars[name] = bounded(f.value(a.Value))
	}
}

func bounded(value string) string {
	if len(value) > maxValue {
		return unknown
	}
	return value
}

// loop goes through the body of a loop once for each known word.
func (f *floor) loop(n *syntax.ForClause) (walkInto bool) {
	const most = 20
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok || n.Select || f.list != nil {
		return true
	}
	items := f.fields(iter.Items)
	if len(items) == 0 || len(items) > most {
		delete(f.vars, iter.Name.Value)
		return true
	}
	for _, w := range iter.Items {
		f.walk(w)
	}
	for _, item := range items {
		f.vars[iter.Name.Value] = item
		for _, s := range n.Do {
			f.walk(s)
		}
	}
	delete(f.vars, iter.Name.Value)
	return false
}

// function finds functions that call themselves twice over: fork bombs.
func (f *floor) function(n *syntax.FuncDecl) {
	if n.Name == nil || n.Body == nil || f.list != nil {
		return
	}
	name := n.Name.Value
	syntax.Walk(n.Body, func(node syntax.Node) bool {
		switch x := node.(type) {
		case *syntax.Stmt:
			if x.Background && f.calls(x, name) {
				f.deny("%s", forkBomb)
			}
		case *syntax.BinaryCmd:
			if piped(x.Op) && f.calls(x.X, name) && f.calls(x.Y, name) {
				f.deny("%s", forkBomb)
			}
		}
		return f.spend(0)
	})
}

const forkBomb = "a function that starts itself over and over (a fork bomb) takes the machine down"

func (f *floor) calls(node syntax.Node, name string) (found bool) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
			found = true
		}
		return !found && f.spend(0)
	})
	return found
}

func piped(op syntax.BinCmdOperator) bool { return op == syntax.Pipe || op == syntax.PipeAll }

// pipe notes what a command is known to write to the next.
func (f *floor) pipe(n *syntax.BinaryCmd) {
	if !piped(n.Op) {
		return
	}
	text, known := f.output(n.X)
	if !known {
		return
	}
	if f.stdin == nil {
		f.stdin = map[*syntax.Stmt]string{}
	}
	f.stdin[n.Y] = text
}

// output is what a command writes, where that stands in the line.
func (f *floor) output(s *syntax.Stmt) (string, bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", false
	}
	args := f.fields(call.Args)
	if len(args) == 0 {
		return "", false
	}
	switch args[0] {
	case "echo":
		return echoed(args[1:])
	case "printf":
		return printed(args[1:])
	case "cat", "tee":
		in := f.input(s)
		return in, in != "" && len(args) == 1
	}
	return "", false
}

// input is what a command is known to read.
func (f *floor) input(s *syntax.Stmt) string {
	text, piped := f.stdin[s]
	if !piped {
		text = f.given
	}
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			text = ""
			if r.Hdoc != nil {
				text = f.value(r.Hdoc)
			}
		case syntax.WordHdoc:
			text = f.value(r.Word)
		}
	}
	return text
}

func (f *floor) redirect(r *syntax.Redirect) {
	if f.list != nil {
		return
	}
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
	default:
		return
	}
	if target := f.value(r.Word); isDevice(target) {
		f.deny("writing to %s destroys what is on it", target)
	}
}
