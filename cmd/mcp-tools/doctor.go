package main

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

// doctorCommand shows what a server started with the same flags would work with.
func doctorCommand(std streams) *cobra.Command {
	var cfg config
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Show what a server with these flags would work with, and where each setting comes from",
		Args:  argCount(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cfg.settle(os.Environ()); err != nil {
				return err
			}
			env, closeEnv, err := newEnv(&cfg, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			defer closeEnv()
			d := doctor{std.out, &cfg, env}
			d.say("version", versionString())
			d.folders()
			d.shell()
			d.others(cmd)
			d.settings()
			return nil
		},
	}
	cfg.register(cmd.Flags())
	return cmd
}

type doctor struct {
	w   io.Writer
	cfg *config
	env *tools.Env
}

// say writes a line, or several below each other.
func (d doctor) say(what string, lines ...string) {
	for i, line := range lines {
		if i > 0 {
			what = ""
		}
		fmt.Fprintf(d.w, "%-10s %s\n", what, line)
	}
}

func (d doctor) folders() {
	roots := []string{"none: the client's are used"}
	if d.env.Workspace != nil {
		roots = nil
		for _, r := range d.env.Workspace.Roots() {
			line := r.Dir
			if r.ReadOnly {
				line += " (read-only)"
			}
			roots = append(roots, line)
		}
	}
	d.say("roots", roots...)
	dir, err := d.cfg.state()
	if err != nil {
		dir = "unknown: " + err.Error()
	} else if err := sandbox.OpenState(dir).Check(); err != nil {
		dir += " cannot be used: " + sandbox.Reason(err)
	}
	d.say("state", dir)
}

func (d doctor) shell() {
	program, err := d.env.Shell.Program()
	switch {
	case err != nil:
		d.say("shell", "none: "+err.Error())
	default:
		d.say("shell", program, "not confined: this build has no sandbox")
	}
}

// others are the servers and skills that are found.
func (d doctor) others(cmd *cobra.Command) {
	if u := d.env.Tools.Upstreams(); u != nil {
		d.say("servers", strings.Join(u.Names(), ", "))
	}
	s := d.env.NewSession(tools.SessionOptions{})
	defer s.Close()
	var names []string
	for _, k := range s.Skills(cmd.Context()) {
		names = append(names, k.Name)
	}
	if len(names) > 0 {
		d.say("skills", strings.Join(names, ", "))
	}
}

// settings are all that is not as it is by itself, with where that was said.
func (d doctor) settings() {
	file := d.cfg.set.file
	if file == "" {
		file = "none (" + defaultConfigFile() + " is not there)"
	}
	d.say("config", file)
	if len(d.cfg.set.hooks.pre)+len(d.cfg.set.hooks.post) > 0 {
		d.say("hooks", fmt.Sprintf("%d before calls, %d after (%s)", len(d.cfg.set.hooks.pre), len(d.cfg.set.hooks.post), file))
	}
	if len(d.cfg.set.owners) > 0 {
		d.say("principals", strings.Join(slices.Sorted(maps.Keys(d.cfg.set.owners)), ", "))
	}
	var lines []string
	d.cfg.set.flags.VisitAll(func(f *pflag.Flag) {
		origin := d.cfg.set.origins[f.Name]
		if slices.Contains(unset, f.Name) {
			return
		}
		value := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ", ")
		}
		if origin == "" {
			origin = "default"
		}
		if value == "" {
			value = "-"
		}
		lines = append(lines, fmt.Sprintf("%s = %s (%s)", keyOf(f.Name), value, origin))
	})
	d.say("settings", lines...)
}
