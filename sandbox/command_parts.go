package sandbox

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// SimpleCommands lists the simple commands of a command line as they are
// written, in the order of the text, those of substitutions and nested blocks
// too; a condition in brackets counts as one that begins with "[[". A line that
// is no valid bash has none.
//
// It reads words only: what an alias, a variable or a nested shell makes of them
// is not looked into.
func SimpleCommands(line string) []string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil
	}
	printer := syntax.NewPrinter(syntax.SingleLine(true))
	var out []string
	print := func(node syntax.Node) {
		var b strings.Builder
		if printer.Print(&b, node) == nil {
			out = append(out, strings.TrimSpace(b.String()))
		}
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				print(&syntax.CallExpr{Args: n.Args})
			}
		case *syntax.TestClause:
			out = append(out, "[[")
		}
		return true
	})
	return out
}
