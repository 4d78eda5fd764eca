package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"mcp-tools/sandbox"
	"mcp-tools/server"
	"mcp-tools/tools"
	"mcp-tools/tools/fetch"
	"mcp-tools/tools/skills"
)

// serve answers one host on stdin and stdout until its input ends or ctx does, or
// many by HTTP until ctx is done.
func serve(ctx context.Context, cfg *config, std streams) error {
	// A host that has gone must not kill us by SIGPIPE: running commands are to be
	// ended first. Caught, not ignored, since children inherit what is ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	log := cfg.logger(std.err)
	env, closeEnv, err := newEnv(cfg, log)
	if err != nil {
		return err
	}
	defer closeEnv()
	srv := server.New(env, server.Options{Version: version(), Log: log})
	if cfg.http.addr != "" {
		var roots []sandbox.RootInfo
		if env.Workspace != nil {
			roots = env.Workspace.Roots()
		}
		return serveHTTP(ctx, srv, cfg, roots, std, log)
	}
	if err := srv.ServeStdio(ctx, std.in, std.out); err != nil && ctx.Err() == nil {
		return err
	}
	return nil // also when told to stop
}

// newEnv opens what the tools work with, and changes nothing on the disk. The
// function it returns closes it all.
func newEnv(cfg *config, log *slog.Logger) (*tools.Env, func(), error) {
	if err := cfg.check(); err != nil {
		return nil, nil, err
	}
	dir, err := cfg.state()
	if err != nil {
		return nil, nil, err
	}
	state := sandbox.OpenState(dir)
	reg := tools.NewRegistry(tools.Builtin()...)
	policy, err := tools.NewPolicy(tools.PolicyOptions{ReadOnly: cfg.readOnly, Mode: tools.Mode(cfg.mode.value), Allow: cfg.allow, Deny: cfg.deny, Ask: cfg.ask}, reg)
	if err != nil {
		return nil, nil, &usageError{err.Error()}
	}
	servers, files, err := cfg.upstreams()
	if err != nil {
		return nil, nil, err
	}
	library := sandbox.NewLibrary(cfg.skillDirs())
	opts := sandbox.Options{AllowWide: cfg.allowWide, Results: state, Library: library, Guarded: append(ownConfig(), files...)}
	ws, err := openRoots(cfg, opts)
	if err != nil {
		return nil, nil, err
	}
	shell := sandbox.NewShell(sandbox.ShellOptions{State: state})
	web := fetch.New(fetch.Options{Allow: cfg.fetchAllow(), UserAgent: "mcp-tools/" + version()})
	closeBridge := bridgeTo(servers, reg, shell, state, ws, log)
	env := &tools.Env{Tools: reg, Workspace: ws, Library: library, State: state, Shell: shell, Fetch: web, Policy: policy, HideDeferred: cfg.deferred.value == "search", Log: log}
	if ws == nil {
		env.OpenRoots = func(uris []string) (*sandbox.Workspace, error) {
			return sandbox.OpenRootURIs(uris, opts)
		}
	}
	return env, func() {
		closeBridge()
		shell.Close()
		if ws != nil {
			ws.Close()
		}
	}, nil
}

// ownConfig is where this program's configuration belongs: what stands there
// must not be written by a tool.
func ownConfig() []string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(dir, "mcp-tools")}
}

// skillDirs are the directories of skills outside of any project.
func (c *config) skillDirs() []string {
	var dirs []string
	if home, err := os.UserHomeDir(); err == nil {
		for _, dir := range skills.Dirs {
			dirs = append(dirs, filepath.Join(home, filepath.FromSlash(dir)))
		}
	}
	return append(dirs, c.skills...)
}

// openRoots opens the roots of the command line; nil when there are none and the
// current directory is no place to work in.
func openRoots(cfg *config, opts sandbox.Options) (*sandbox.Workspace, error) {
	cwd, err := os.Getwd()
	if err != nil {
		cwd = ""
	}
	specs, err := cfg.rootSpecs(cwd)
	if err != nil || len(specs) == 0 {
		return nil, err
	}
	ws, err := sandbox.Open(specs, opts)
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	return ws, nil
}
