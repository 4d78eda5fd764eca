package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// allSettings are the flags that can be set in the file too.
func allSettings() *pflag.FlagSet {
	var c config
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.http.register(fs)
	c.register(fs)
	return fs
}

// helpConfig says what the configuration file may hold.
func helpConfig(w io.Writer, width int) {
	fmt.Fprintln(w, strings.Join(wrap("Settings stand in "+defaultConfigFile()+" (or --config FILE, or $"+configVariable+"), a JSON object; comments are fine. "+
		"Each flag has a key with _ for -, and a variable $"+variablePrefix+"… in capitals. A flag counts before the environment, and that before the file; "+
		"rules (allow, deny, ask) of all three add up. No file of a workspace is ever read. mcp-tools help config --schema prints a JSON Schema for editors.", width), "\n"))
	fmt.Fprintln(w)
	allSettings().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(unset, f.Name) {
			return
		}
		fmt.Fprintf(w, "%s (%s)\n", keyOf(f.Name), kindOf(f))
		for _, line := range wrap(usageOf(f), width-2) {
			fmt.Fprintln(w, "  "+line)
		}
	})
	fmt.Fprintln(w, "hooks (object)")
	for _, line := range wrap(hooksWords, width-2) {
		fmt.Fprintln(w, "  "+line)
	}
	fmt.Fprintln(w, "principals (object)")
	for _, line := range wrap(ownersWords, width-2) {
		fmt.Fprintln(w, "  "+line)
	}
}

const (
	hooksWords = `commands before and after calls: {"pre_tool": [{"matcher": "run_shell|edit_file", "command": "check.sh", "timeout": 5000}], "post_tool": […]}. They get JSON on stdin and answer as Claude Code's hooks do (exit code 2 or permissionDecision "deny" refuses); the form of its settings (PreToolUse) is understood too. One that fails or takes too long refuses.`

	ownersWords = `what holds for the owner of a token beside what holds for all: {"alice": {"root": ["/srv/alice"], "deny": ["run_shell"], "allow": [], "ask": [], "mode": "default", "read_only": false}}`
)

func usageOf(f *pflag.Flag) string {
	return strings.ReplaceAll(strings.ReplaceAll(f.Usage, "\n", " "), "`", "")
}

func kindOf(f *pflag.Flag) string {
	if _, list := f.Value.(pflag.SliceValue); list {
		return "list of texts"
	}
	switch t := f.Value.Type(); t {
	case "bool":
		return "true or false"
	case "string":
		return "text"
	default:
		return strings.ReplaceAll(t, "|", ", ")
	}
}

// configSchema is the JSON Schema of the file.
func configSchema() ([]byte, error) {
	text := map[string]any{"type": "string"}
	texts := map[string]any{"type": "array", "items": text}
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	}
	properties := map[string]any{}
	allSettings().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(unset, f.Name) {
			return
		}
		p := map[string]any{"type": "string", "description": usageOf(f)}
		_, list := f.Value.(pflag.SliceValue)
		one, words := f.Value.(*oneOf)
		switch {
		case list:
			p = map[string]any{"anyOf": []any{texts, text}, "description": usageOf(f)}
		case words:
			p["enum"] = one.words
		case f.Value.Type() == "bool":
			p["type"] = "boolean"
		}
		properties[keyOf(f.Name)] = p
	})
	hook := object(map[string]any{"matcher": text, "command": text, "timeout": map[string]any{"type": "number", "description": "milliseconds"}, "hooks": map[string]any{"type": "array"}})
	hooks := map[string]any{"type": "array", "items": hook}
	all := object(map[string]any{"pre_tool": hooks, "post_tool": hooks, "PreToolUse": hooks, "PostToolUse": hooks})
	all["description"] = hooksWords
	properties["hooks"] = all
	owner := object(map[string]any{"root": texts, "allow": texts, "deny": texts, "ask": texts, "mode": map[string]any{"type": "string"}, "read_only": map[string]any{"type": "boolean"}})
	properties["principals"] = map[string]any{"type": "object", "additionalProperties": owner, "description": ownersWords}
	properties["$schema"] = text
	top := object(properties)
	top["$schema"] = "http://json-schema.org/draft-07/schema#"
	top["title"] = "Configuration of mcp-tools"
	return json.MarshalIndent(top, "", "  ")
}
