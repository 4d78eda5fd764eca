package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
	"mcp-tools/tools/fetch"
)

// config is what the serving flags say.
type config struct {
	set        settings
	configFile string
	stdio      bool
	http       httpConfig
	roots      []string
	allowWide  bool
	readOnly   bool
	allow      []string
	deny       []string
	ask        []string
	mode       oneOf
	stateDir   string
	fetch      []string
	deferred   oneOf
	servers    []string // files
	skills     []string
	sandbox    oneOf
	audit      string
	logLevel   oneOf
	logFormat  oneOf
}

// register adds the flags of serving to fs: the server's own command has them,
// and those that start a server of their own pass them on.
func (c *config) register(fs *pflag.FlagSet) {
	c.deferred = oneOf{"search", []string{"search", "list"}}
	c.mode = oneOf{string(tools.ModeDefault), tools.Modes}
	c.sandbox = oneOf{"auto", []string{"auto", "full", "off"}}
	c.logLevel = oneOf{"warn", []string{"debug", "info", "warn", "error"}}
	c.logFormat = oneOf{"text", []string{"text", "json"}}

	c.set.flags = fs
	fs.SortFlags = false
	fs.StringArrayVar(&c.roots, "root", nil, "work in `DIR[:ro]`, repeatable (default: the current directory, unless that\nis / or $HOME: then the client's roots)")
	fs.BoolVar(&c.allowWide, "allow-wide-root", false, "let / or $HOME be a root")
	fs.BoolVar(&c.readOnly, "read-only", false, "offer no tool that writes")
	fs.StringArrayVar(&c.allow, "allow", nil, "let what `RULE` matches run without asking, repeatable:\ntool or tool(pattern)")
	fs.StringArrayVar(&c.deny, "deny", nil, "refuse what `RULE` matches, repeatable; beats --allow")
	fs.StringArrayVar(&c.ask, "ask", nil, "ask the user before what `RULE` matches, repeatable")
	fs.Var(&c.mode, "mode", "what holds where no rule does")
	fs.StringVar(&c.stateDir, "state-dir", "", "keep saved results and pre-images for undo in `DIR` (default: $XDG_STATE_HOME/mcp-tools)")
	fs.StringArrayVar(&c.fetch, "fetch-allow", nil, "let web_fetch reach `HOST|CIDR[:PORT]` beyond the public internet,\nrepeatable")
	fs.Var(&c.deferred, "deferred", "rarely used tools: found by tool_search, or all in the list")
	fs.StringArrayVar(&c.servers, "mcp-config", nil, "offer the tools of the MCP servers named in `FILE` too, as mcp__server__tool\n(the mcpServers format of the hosts), repeatable")
	fs.StringArrayVar(&c.skills, "skills", nil, "find skills in `DIR` too, repeatable (besides .claude/skills, .agents/skills and\nskills of the project and of the home directory)")
	fs.Var(&c.sandbox, "sandbox", "shell confinement; this build has none: auto and off run commands\nunconfined, full refuses to start")
	fs.Var(&c.logLevel, "log-level", "what is logged to stderr")
	fs.Var(&c.logFormat, "log-format", "how it is logged")
	fs.StringVar(&c.audit, "audit", "", "write a line of JSON for each call to `FILE`: what, who, how it ended; never contents")
	fs.StringVar(&c.configFile, "config", "", "read settings from `FILE` (default: $XDG_CONFIG_HOME/mcp-tools/config.json);\nkeys are the flags' names with _ for -")
}

// args spells the flags out again, for a server started with the same ones. It reads
// the environment and the file itself.
func (c *config) args() []string {
	var out []string
	c.set.flags.Visit(func(f *pflag.Flag) {
		if slices.Contains(unset, f.Name) && f.Name != "config" {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				out = append(out, "--"+f.Name+"="+v)
			}
			return
		}
		out = append(out, "--"+f.Name+"="+f.Value.String())
	})
	return out
}

// check refuses what can be refused without touching anything.
func (c *config) check() error {
	if c.sandbox.value == "full" {
		return usagef("--sandbox full: this build cannot confine the shell; use --sandbox off to run commands unconfined")
	}
	if err := c.http.check(c.stdio, c.fromFlag); err != nil {
		return err
	}
	if c.http.addr == "" && os.Getenv(tokenVariable) != "" {
		return usagef("$%s is set, and only --http takes it; unset it", tokenVariable)
	}
	if _, err := fetch.ParseAllow(c.fetch...); err != nil {
		return usagef("--fetch-allow %v", err)
	}
	return nil
}

// fetchAllow are the addresses that web_fetch may reach beyond the public ones.
func (c *config) fetchAllow() fetch.Allow {
	allow, _ := fetch.ParseAllow(c.fetch...) // checked
	return allow
}

// rootSpecs are the roots to open; none: the roots of the client.
func (c *config) rootSpecs(cwd string) ([]sandbox.RootSpec, error) {
	if len(c.roots) == 0 {
		if cwd == "" || !c.allowWide && sandbox.IsWide(cwd) {
			return nil, nil
		}
		return []sandbox.RootSpec{{Dir: cwd}}, nil
	}
	var specs []sandbox.RootSpec
	for _, r := range c.roots {
		spec, err := sandbox.ParseRoot(r)
		if err != nil {
			return nil, usagef("--root %s: %v", r, err)
		}
		specs = append(specs, spec)
	}
	return specs, nil
}

// state is where saved results go. Nothing is made there yet.
func (c *config) state() (string, error) {
	if c.stateDir != "" {
		return filepath.Abs(c.stateDir)
	}
	return sandbox.DefaultStateDir()
}

func (c *config) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.logLevel.value)); err != nil {
		level = slog.LevelWarn
	}
	o := &slog.HandlerOptions{Level: level}
	if c.logFormat.value == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
