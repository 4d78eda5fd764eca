package syntax

import "strings"

// settings are the files from which agents and the hosts of MCP servers read
// their settings, in whatever folder they lie. "*" is any one name.
var settings = patterns(`
	.mcp.json
	mcp.json
	mcp_config.json
	mcp_settings.json
	cline_mcp_settings.json
	claude_desktop_config.json
	.claude.json
	.claude/settings.json
	.claude/settings.local.json
	.claude-plugin/plugin.json
	.claude-plugin/marketplace.json
	managed-settings.json
	.cursor/hooks.json
	.cursor/environment.json
	.vscode/settings.json
	.gemini/settings.json
	gemini-extension.json
	.qwen/settings.json
	.codex/config.toml
	.codex/hooks.json
	.copilot/mcp-config.json
	.copilot/config.json
	.zed/settings.json
	zed/settings.json
	opencode.json
	opencode.jsonc
	crush.json
	.crush.json
	.amp/settings.json
	amp/settings.json
	.augment/settings.json
	.factory/settings.json
	.continue/config.yaml
	.continue/config.json
	.continue/mcpServers/*
	.kiro/agents/*
	.amazonq/agents/*
	.aider.conf.yml
	goose/config.yaml
`)

// patterns splits a list of paths into their names.
func patterns(list string) [][]string {
	var out [][]string
	for p := range strings.FieldsSeq(list) {
		out = append(out, strings.Split(p, "/"))
	}
	return out
}

// IsSettings reports whether the slash path, relative to a workspace root, is
// that of a settings file of an agent or of a host of MCP servers. With such a
// file broken the agent starts without its tools, or without the rules that
// hold it, so an edit must leave it valid. Case does not count, as it does not
// on many disks.
func IsSettings(path string) bool {
	names := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	for _, p := range settings {
		if endsWith(names, p) {
			return true
		}
	}
	return false
}

// endsWith reports whether the last names match pattern, one by one.
func endsWith(names, pattern []string) bool {
	skip := len(names) - len(pattern)
	if skip < 0 {
		return false
	}
	for i, p := range pattern {
		if p != "*" && !strings.EqualFold(p, names[skip+i]) {
			return false
		}
	}
	return true
}
