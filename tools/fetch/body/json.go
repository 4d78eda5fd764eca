package body

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mcp-tools/tools/fetch/page"
)

// Indent writes JSON with two blanks a level, its names in their order and its numbers
// as they are spelled. JSON lines stay lines. What is no JSON comes back as it was,
// with a note that says where the fault is.
func Indent(text string) (string, []string) {
	var notes []string
	raw := strings.TrimSpace(text)
	for _, guard := range []string{")]}',", ")]}'", "while(1);", "for(;;);", "while (1);"} {
		if rest, ok := strings.CutPrefix(raw, guard); ok {
			raw = strings.TrimSpace(rest)
			notes = append(notes, "left out "+guard+", which keeps scripts from running it")
			break
		}
	}
	out, fits, err := page.IndentJSON([]byte(raw), "  ")
	if !fits {
		return text, append(notes, "it is shown as it came: indented it would be many times as long")
	}
	if err == nil {
		return string(out), notes
	}
	if lines, ok := jsonLines(raw); ok {
		return lines, notes
	}
	if raw == "" {
		return text, notes
	}
	return text, append(notes, "it is not valid JSON: "+faultIn(raw, err))
}

// jsonLines tells whether text is a JSON value a line (RFC 8259 texts, one each).
func jsonLines(text string) (string, bool) {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !json.Valid([]byte(line)) || line[0] != '{' && line[0] != '[' {
			return "", false
		}
		n++
	}
	return text, n > 1
}

func faultIn(text string, err error) string {
	var bad *json.SyntaxError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	at := min(int(bad.Offset), len(text))
	before := text[:max(0, at-1)]
	line := strings.Count(before, "\n") + 1
	column := len(before) - strings.LastIndexByte(before, '\n')
	return fmt.Sprintf("%v (line %d, column %d)", bad, line, column)
}
