package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/pflag"

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

	if err := cfg.settle(os.Environ()); err != nil {
		return err
	}
	log := cfg.logger(std.err)
	env, closeEnv, err := newEnv(cfg, log)
	if err != nil {
		return err
	}
	defer closeEnv()
	srv := server.New(env, server.Options{Version: version(), Log: log})
	if cfg.http.addr != "" {
		onHangup(func() { cfg.reload(env, log) })
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
	shell := sandbox.NewShell(sandbox.ShellOptions{State: state})
	rules, err := cfg.rules(reg, shell)
	if err != nil {
		return nil, nil, err
	}
	servers, files, err := cfg.upstreams()
	if err != nil {
		return nil, nil, err
	}
	library := sandbox.NewLibrary(skills.File, cfg.skillDirs())
	opts := sandbox.Options{AllowWide: cfg.allowWide, Results: state, Library: library, Guarded: append(ownConfig(cfg.set.file), files...)}
	ws, err := openRoots(cfg, opts)
	if err != nil {
		return nil, nil, err
	}
	web := fetch.New(fetch.Options{Allow: cfg.fetchAllow(), UserAgent: "mcp-tools/" + version()})
	owners, closeOwners, err := cfg.ownersOf(rules, opts)
	if err != nil {
		return nil, nil, err
	}
	closeBridge := bridgeTo(servers, reg, shell, state, ws, log)
	env := &tools.Env{Tools: reg, Workspace: ws, Library: library, State: state, Shell: shell, Fetch: web, Policy: rules.Policy, Before: rules.Before, After: rules.After, HideDeferred: cfg.deferred.value == "search", Log: log}
	env.Owners = owners
	closeAudit := func() {}
	if cfg.audit != "" {
		a, err := newAudit(cfg.audit, log)
		if err != nil {
			return nil, nil, usagef("--audit %s: %v", cfg.audit, err)
		}
		env.Audit, closeAudit = a.write, a.close
	}
	if ws == nil {
		env.OpenRoots = func(uris []string) (*sandbox.Workspace, error) {
			return sandbox.OpenRootURIs(uris, opts)
		}
	}
	return env, func() {
		closeBridge()
		shell.Close()
		closeAudit()
		closeOwners()
		if ws != nil {
			ws.Close()
		}
	}, nil
}

// ownConfig is where this program's configuration belongs: what stands there
// must not be written by a tool.
func ownConfig(file string) []string {
	var places []string
	if own := defaultConfigFile(); own != "" {
		places = append(places, filepath.Dir(own))
	}
	if file != "" {
		places = append(places, file)
		if real, err := filepath.EvalSymlinks(file); err == nil {
			places = append(places, real)
		}
	}
	return places
}

// reload makes the rules of the file and the environment hold as they are now. What is
// wrong with them leaves those that hold.
func (c *config) reload(env *tools.Env, log *slog.Logger) {
	var now config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	now.http.register(flags)
	now.register(flags)
	err := flags.Parse(c.set.given)
	if err == nil {
		err = now.settle(os.Environ())
	}
	var rules tools.Rules
	if err == nil {
		rules, err = now.rules(env.Tools, env.Shell)
	}
	if err != nil {
		log.Error("the configuration is not reloaded, the rules stay as they were", "err", err)
		return
	}
	env.SetRules(rules)
	log.Warn("the rules, the mode and the hooks of the configuration are reloaded; the rest needs a restart", "file", now.set.file)
}

// rules are what the configuration says may happen.
func (c *config) rules(reg *tools.Registry, shell *sandbox.Shell) (tools.Rules, error) {
	var r tools.Rules
	var err error
	if r.Policy, err = tools.NewPolicy(c.policyOptions(), reg); err != nil {
		return r, &usageError{err.Error()}
	}
	r.Owners = make(map[string]tools.Policy)
	for name, own := range c.set.owners {
		if r.Owners[name], err = c.ownerPolicy(own, reg); err != nil {
			return r, usagef("%s: principals: %s: %v", c.set.file, name, err)
		}
	}
	for _, h := range c.set.hooks.pre {
		hook, err := tools.PreTool(shell, h)
		if err != nil {
			return r, usagef("%s: hooks: %v", c.set.file, err)
		}
		r.Before = append(r.Before, hook)
	}
	for _, h := range c.set.hooks.post {
		hook, err := tools.PostTool(shell, h)
		if err != nil {
			return r, usagef("%s: hooks: %v", c.set.file, err)
		}
		r.After = append(r.After, hook)
	}
	return r, nil
}

// ownersOf are the principals with folders or rules of their own.
func (c *config) ownersOf(rules tools.Rules, opts sandbox.Options) (map[string]tools.Owner, func(), error) {
	owners := make(map[string]tools.Owner)
	closeAll := func() {
		for _, o := range owners {
			if o.Workspace != nil {
				o.Workspace.Close()
			}
		}
	}
	for name, r := range c.set.owners {
		o := tools.Owner{Policy: rules.Owners[name]}
		var specs []sandbox.RootSpec
		for _, dir := range r.Root {
			spec, err := sandbox.ParseRoot(dir)
			if err == nil && !filepath.IsAbs(spec.Dir) {
				err = errors.New("a root here must be absolute")
			}
			if err != nil {
				closeAll()
				return nil, nil, usagef("%s: principals: %s: root %s: %v", c.set.file, name, dir, err)
			}
			specs = append(specs, spec)
		}
		if len(specs) > 0 {
			var err error
			if o.Workspace, err = sandbox.Open(specs, opts); err != nil {
				closeAll()
				return nil, nil, usagef("%s: principals: %s: %v", c.set.file, name, err)
			}
		}
		owners[name] = o
	}
	return owners, closeAll, nil
}

// ownerPolicy: what holds for all holds for a principal too.
func (c *config) ownerPolicy(r ownerRules, reg *tools.Registry) (tools.Policy, error) {
	o := c.policyOptions()
	o.ReadOnly = o.ReadOnly || r.ReadOnly
	if r.Mode != "" {
		o.Mode = tools.Mode(r.Mode)
	}
	o.Allow, o.Deny, o.Ask = slices.Concat(o.Allow, r.Allow), slices.Concat(o.Deny, r.Deny), slices.Concat(o.Ask, r.Ask)
	return tools.NewPolicy(o, reg)
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
