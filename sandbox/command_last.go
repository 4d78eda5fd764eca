package sandbox

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// endings are commands after which the last one of a line may not be reached,
// or not be the one whose status counts.
var endings = map[string]bool{
	"exit": true, "return": true, "exec": true, "set": true, "shopt": true, "trap": true,
	"source": true, ".": true, "eval": true, "break": true, "continue": true, "kill": true, "logout": true, "builtin": true,
}

// mayEndEarly tells whether a line can end before its last command, or whose
// status counts is another one's: the status is then nobody's in particular.
func (f *floor) mayEndEarly(file *syntax.File) (may bool) {
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			may = true
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				name := n.Args[0].Lit()
				may = may || name == "" || endings[name]
			}
		case *syntax.ParamExp:
			may = may || n.Exp != nil && (n.Exp.Op == syntax.ErrorUnset || n.Exp.Op == syntax.ErrorUnsetOrNull)
		}
		return !may
	})
	return may
}

// last is the simple command whose failure is that of some statements.
func (f *floor) last(stmts []*syntax.Stmt) string {
	for len(stmts) > 0 {
		s := stmts[len(stmts)-1]
		if s.Negated || s.Background || s.Coprocess || s.Disown {
			return ""
		}
		switch c := s.Cmd.(type) {
		case *syntax.CallExpr:
			return f.passed(f.fields(c.Args))
		case *syntax.TestClause:
			return "[["
		case *syntax.DeclClause:
			return c.Variant.Value
		case *syntax.BinaryCmd:
			if c.Op == syntax.AndStmt && !f.succeeds(c.X) {
				return "" // either of them may have failed
			}
			stmts = []*syntax.Stmt{c.Y}
		case *syntax.Block:
			stmts = c.Stmts
		case *syntax.Subshell:
			stmts = c.Stmts
		case *syntax.TimeClause:
			stmts = nil
			if c.Stmt != nil {
				stmts = []*syntax.Stmt{c.Stmt}
			}
		case *syntax.ForClause:
			stmts = c.Do
		case *syntax.WhileClause:
			stmts = c.Do
		default:
			return ""
		}
	}
	return ""
}

// succeeds reports whether nobody expects a statement to fail: what stands
// before && in most lines.
func (f *floor) succeeds(s *syntax.Stmt) bool {
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		if b.Op != syntax.AndStmt || !f.succeeds(b.Y) {
			return false
		}
		s = b.X
	}
	switch c := s.Cmd.(type) {
	case *syntax.DeclClause:
		return true
	case *syntax.CallExpr:
		args := f.fields(c.Args)
		return len(args) == 0 || slices.Contains(strings.Fields("cd pushd popd set echo printf true : mkdir umask unset shopt sleep export"), args[0])
	}
	return false
}

// passed goes through wrappers that end with the status of what they run.
func (f *floor) passed(args []string) string {
	for len(args) > 0 {
		name := commandName(args[0])
		switch name {
		case "env", "timeout", "nice", "nohup", "stdbuf", "command", "exec", "time", "ionice", "setsid", "builtin":
		default:
			return shown(args)
		}
		inner := wrappers[name].inner(name, args[1:])
		for name == "env" && len(inner) > 0 && strings.Contains(inner[0], "=") {
			inner = inner[1:]
		}
		if name == "command" && len(args) > 1 && letter(args[1], "vV") || len(inner) == 0 {
			return shown(args)
		}
		args = inner
	}
	return ""
}
