package tools

import (
	"fmt"
	"strings"

	"mcp-tools/sandbox"
	"mcp-tools/tools/syntax"
)

// checkSyntax looks whether a change breaks a file whose language is known. The
// note, if any, is for the result; an error refuses the change, as for settings of
// agents and hosts, which would be lost on them.
func checkSyntax(shown string, p sandbox.Path, existed bool, before, after string) (note string, err error) {
	name := p.Rel()
	if existed && syntax.IsSettings(name) && strings.HasSuffix(name, ".json") && strings.TrimSpace(after) == "" && strings.TrimSpace(before) != "" {
		return "", fmt.Errorf("with this change %s would be empty, which is not valid JSON, and what reads these settings would lose them all. Nothing was changed", shown)
	}
	bad, known := syntax.Check(name, after)
	if !known || bad == nil {
		return "", nil
	}
	parsed := false
	if existed {
		was, knew := syntax.Check(name, before)
		if knew && was != nil {
			return "", nil // it was broken before
		}
		parsed = knew
	}
	switch {
	case syntax.IsSettings(name):
		return "", fmt.Errorf("with this change %s would not be valid %s, and what reads these settings would lose them all: %v. Nothing was changed", shown, bad.Language, bad)
	case parsed:
		return fmt.Sprintf("%s no longer parses as %s: %v", shown, bad.Language, bad), nil
	}
	return fmt.Sprintf("%s does not parse as %s: %v", shown, bad.Language, bad), nil
}
