package syntax

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLanguageOf(t *testing.T) {
	tests := []struct {
		names string
		want  *language
	}{
		{"a.json dir/A.JSON package.json a.webmanifest a.ipynb a.geojson composer.lock .mcp.json .claude/settings.json .cursor/mcp.json", langJSON},
		{"a.jsonl a.NDJSON", langJSONLines},
		{"a.jsonc tsconfig.json a/tsconfig.build.json TSConfig.json jsconfig.json .vscode/tasks.json .eslintrc .eslintrc.json .babelrc " +
			`.devcontainer/devcontainer.json .zed/settings.json .gemini/settings.json opencode.json a\.vscode\launch.json a.code-workspace`, langJSONC},
		{"a.yaml a.YML docker-compose.yml .clang-format", langYAML},
		{"a.toml Cargo.lock Pipfile .codex/config.toml", langTOML},
		{"a.xml a.xsd a.xsl a.svg a.plist a.csproj a.vcxproj a.pom pom.xml", langXML},
		{"a.xhtml", langXHTML},
		{"a.go", langGo},
		{"a.sh a.bash .bashrc .envrc", langBash},
		{".profile", langPOSIX},
		{"a.ksh", langKorn},
		{"a.bats", langBats},
		{"a.json5 a.zsh .zshrc go.mod a.html a.md LICENSE json yaml .json", nil},
	}
	for _, tt := range tests {
		for name := range strings.FieldsSeq(tt.names) {
			assert.Same(t, tt.want, languageOf(name, "x"), name)
		}
	}
}

func TestFirstLine(t *testing.T) {
	for line, want := range map[string]*language{
		"#!/bin/sh":                    langPOSIX,
		"#! /bin/dash -e":              langPOSIX,
		"#!/usr/bin/env bash\r":        langBash,
		"#!/usr/bin/env -S A=b bash":   langBash,
		"\ufeff#!/usr/local/bin/bash ": langBash,
		"#!/bin/ksh":                   langKorn,
		"#!/usr/bin/env bats":          langBats,
		"#!/bin/zsh":                   nil,
		"#!/usr/bin/perl":              nil,
		"#!":                           nil,
		"# !/bin/sh":                   nil,
		"":                             nil,
	} {
		assert.Same(t, want, languageOf("run", line+"\nx"), line)
	}
	assert.Same(t, langPOSIX, languageOf("run.sh", "#!/bin/sh\n"))
	assert.Same(t, langBash, languageOf("run.sh", "# none"))
}

func TestIsSettings(t *testing.T) {
	for path := range strings.FieldsSeq(`.mcp.json .MCP.JSON a/b/.mcp.json .claude/settings.json .Claude/Settings.Local.json
		.cursor/mcp.json .vscode/mcp.json .vscode/settings.json .gemini/settings.json .codex/config.toml .zed/settings.json
		x/opencode.json claude_desktop_config.json a\.vscode\settings.json .continue/mcpServers/x.yaml .claude.json ./.mcp.json
		.claude/ſettings.json`) {
		assert.True(t, IsSettings(path), path)
		_, known := Check(path, "{")
		assert.True(t, known, path)
	}
	for path := range strings.FieldsSeq(`settings.json a.mcp.json .vscode/tasks.json config.toml codex/config.toml
		.claude/settings.json/x .claude/x/settings.json .claude package.json`) {
		assert.False(t, IsSettings(path), path)
	}
	assert.False(t, IsSettings(""))
}
