// Command mcp-tools gives any Model Context Protocol host a coding agent's file
// and shell tools.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"mcp-tools/sandbox"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // a call failed, or the server did
	exitUsage  = 2 // the command line is wrong
)

// streams are what a command reads from and writes to.
type streams struct {
	in       *os.File
	out, err io.Writer
}

// A usageError is a mistake on the command line: the user can correct it there.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, a ...any) error {
	return &usageError{fmt.Sprintf(format, a...)}
}

// errReported is a failure whose words have already been printed.
var errReported = errors.New("failed")

func main() {
	if sandbox.Helper(os.Args) {
		return
	}
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// run parses args, runs what they ask for and returns the exit code.
func run(args []string, std streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, hungUp := context.WithCancel(ctx)
	defer hungUp()
	if !signal.Ignored(syscall.SIGHUP) { // as nohup makes it
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGHUP)
		go awaitHangup(ctx, signals, hungUp)
	}
	// A second signal ends the process at once, should the graceful way take too long.
	context.AfterFunc(ctx, stop)

	root := newRoot(std)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitFailed
	case errors.As(err, &usage):
		fmt.Fprintf(std.err, "mcp-tools: %v\nRun 'mcp-tools help' for usage.\n", err)
		return exitUsage
	}
	fmt.Fprintf(std.err, "mcp-tools: %v\n", err)
	return exitFailed
}

// hangup is what SIGHUP does; nil: it ends the program.
var hangup atomic.Pointer[func()]

func onHangup(do func()) { hangup.Store(&do) }

func awaitHangup(ctx context.Context, signals <-chan os.Signal, end func()) {
	for {
		select {
		case <-signals:
		case <-ctx.Done():
			return
		}
		do := hangup.Load()
		if do == nil {
			end()
			return
		}
		(*do)()
	}
}

// newRoot is the command line: serving itself, and one subcommand a file.
func newRoot(std streams) *cobra.Command {
	var cfg config
	root := &cobra.Command{
		Use:   "mcp-tools [--stdio | --http ADDRESS:PORT] [flags]",
		Short: "File and shell tools of a coding agent for any Model Context Protocol host",
		Long: `mcp-tools gives any Model Context Protocol (MCP) host a coding agent's tools:
reading, writing and editing files, listing, searching, and running commands.

Without a subcommand it serves MCP on stdin and stdout; that is how a host starts it.
With --http it serves many clients at once.`,
		Example: `  mcp-tools --stdio --root ~/project
  mcp-tools --http 127.0.0.1:8811 --root ~/project
  mcp-tools call read_file '{"file_path":"README.md"}' --root ~/project
  mcp-tools tools`,
		Args:          noCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cfg.stdio && cfg.http.addr == "" && isTerminal(std.in) {
				return shortHelp(cmd, std)
			}
			return serve(cmd.Context(), &cfg, std)
		},
	}
	root.Flags().BoolVar(&cfg.stdio, "stdio", false, "serve on stdin and stdout (the default when stdin is no terminal)")
	cfg.http.register(root.Flags())
	cfg.register(root.Flags())

	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand(std))
	root.Version = versionString()
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(callCommand(std), toolsCommand(std), doctorCommand(std), versionCommand(), completionCommand(std), classifyCommand(std))
	return root
}

// shortHelp is for someone who typed the bare name to see what this is.
func shortHelp(cmd *cobra.Command, std streams) error {
	fmt.Fprintf(std.err, "%s\n\nA host starts it and talks to it over stdin and stdout; nothing to type here.\n\n"+
		"Try:\n%s\n\nmcp-tools help shows all commands and flags; --stdio serves on this terminal.\n", cmd.Short, cmd.Example)
	return nil
}
