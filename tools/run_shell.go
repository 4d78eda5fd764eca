package tools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"mcp-tools/sandbox"
)

const (
	defaultTimeout = 30_000  // milliseconds
	leastTimeout   = 100     // below it somebody meant seconds
	mostTimeout    = 600_000 // ten minutes

	// maxCommand is how long a command line may be, in bytes.
	maxCommand = 64 << 10

	// maxWatched is how many of the files read are looked at for changes by a command.
	maxWatched = 1000
	// maxChangedNamed is how many of them a result names.
	maxChangedNamed = 10
)

func runShell() Tool {
	return New(Tool{
		Name:  "run_shell",
		Title: "Run shell command",
		Description: "Runs a command line with bash in the workspace and returns its output. Use it to build, test, run programs and use git; " +
			"to read, search and edit files the other tools are better. It is NOT sandboxed: the command has all rights of the user who started the server, also outside the workspace and on the network. " +
			"There is no terminal and no input unless given. A command still running at its timeout is ended with all its children; " +
			"children left in the background (&) live until the server ends. Each call starts a new shell in the workspace.",
		Aliases:  []string{"bash", "shell"},
		Traits:   Traits{},
		External: true,
	}, runRunShell)
}

type runShellInput struct {
	Command     string `json:"command" jsonschema:"The command line."`
	Timeout     *int   `json:"timeout,omitempty" jsonschema:"Milliseconds (30000; at most 600000)."`
	Cwd         string `json:"cwd,omitempty" jsonschema:"Folder to run in (the first root)."`
	Stdin       string `json:"stdin,omitempty" jsonschema:"Text for its standard input (none)."`
	Description string `json:"description,omitempty" jsonschema:"What it is for, in a few words."`
}

func (in runShellInput) Validate(*Session) error {
	if strings.TrimSpace(in.Command) == "" {
		return errors.New("command must not be empty")
	}
	if len(in.Command) > maxCommand {
		return fmt.Errorf("command has %d bytes, at most %d are allowed; put it into a script file and run that", len(in.Command), maxCommand)
	}
	if strings.ContainsRune(in.Command, 0) {
		return errors.New("command contains a NUL character")
	}
	if in.Timeout == nil {
		return nil
	}
	switch n := *in.Timeout; {
	case n > 0 && n < leastTimeout:
		return fmt.Errorf("timeout is in milliseconds: %d is too short for any command. For %d seconds send %d", n, n, n*1000)
	case n < leastTimeout:
		return fmt.Errorf("timeout must be between %d and %d milliseconds, but %d came", leastTimeout, mostTimeout, n)
	}
	return nil
}

// Traits: a line that only reads may run beside other readers, and in plan mode.
func (in runShellInput) Traits(*Session) Traits {
	if v, _ := sandbox.Classify(in.Command); v == sandbox.ReadOnly {
		return Traits{ReadOnly: true, ConcurrencySafe: true, Idempotent: true, ClosedWorld: true}
	}
	return Traits{}
}

func (in runShellInput) Target(context.Context, *Session) (Subject, error) {
	return Subject{Command: in.Command, Stdin: in.Stdin, Runs: sandbox.AnalyseCommands(in.Command)}, nil
}

func runRunShell(ctx context.Context, s *Session, in runShellInput) (Output, error) {
	ws, dir, err := s.resolve(ctx, orDot(in.Cwd))
	if err != nil {
		return Output{}, err
	}
	switch {
	case !dir.Exists:
		return Output{}, s.notFound(ws, in.Cwd, dir)
	case !dir.Info.IsDir():
		return Output{}, fmt.Errorf("cwd %s is a file, not a folder", in.Cwd)
	case s.env.Shell == nil:
		return Output{}, errors.New("this server was started without a shell")
	}
	r := &shellRun{s: s, ws: ws, in: in, timeout: defaultTimeout}
	if in.Timeout != nil {
		r.timeout = min(*in.Timeout, mostTimeout)
		if r.timeout < *in.Timeout {
			r.notes = append(r.notes, fmt.Sprintf("timeout limited to %d ms", mostTimeout))
		}
	}
	watch := s.watchFiles(ws)
	told, stop := shellProgress(ctx)
	fin, err := s.env.Shell.Run(ctx, sandbox.Command{
		Line: in.Command, Dir: dir.Host(), Stdin: in.Stdin,
		Timeout:  time.Duration(r.timeout) * time.Millisecond,
		Progress: told,
	})
	stop()
	if errors.Is(err, sandbox.ErrShellBusy) {
		return Output{}, errors.New("the command was not started: too many commands are running on this server already; try again when one of them has ended")
	}
	if err != nil {
		return Output{}, fmt.Errorf("the command could not be started: %s", sandbox.Reason(err))
	}
	defer fin.Stdout.Discard()
	defer fin.Stderr.Discard()
	if changed := watch.changed(); changed != "" {
		r.notes = append(r.notes, changed)
	}
	return r.result(fin)
}

// heartbeat is how often a command that prints nothing is reported to be running.
const heartbeat = 5 * time.Second

// shellProgress reports the last line of a running command and how much it has
// printed, and that it still runs, if anybody asked for it. Call stop at its end.
func shellProgress(ctx context.Context) (told func(string, int64), stop func()) {
	report := ProgressOf(ctx)
	if report == nil {
		return nil, func() {}
	}
	began := time.Now()
	say := func(message string) {
		report(Progress{Progress: time.Since(began).Seconds(), Message: message})
	}
	done, quiet := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(quiet)
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				say(fmt.Sprintf("running for %d s", int(time.Since(began).Seconds())))
			case <-done:
				return
			}
		}
	}()
	told = func(line string, bytes int64) {
		message := fmt.Sprintf("%d bytes", bytes)
		if line != "" {
			message += ": " + line
		}
		say(message)
	}
	return told, func() { close(done); <-quiet }
}

// shellRun is one command on its way to a result.
type shellRun struct {
	s       *Session
	ws      *sandbox.Workspace
	in      runShellInput
	timeout int
	notes   []string
}

func (r *shellRun) result(fin sandbox.Finished) (Output, error) {
	head, failed := r.verdict(fin)
	out := r.text(head, fin)
	out.Notes = append(out.Notes, r.notes...)
	out.setMeta("exit_code", fin.ExitCode)
	if fin.Signal != "" {
		out.setMeta("signal", fin.Signal)
	}
	if fin.TimedOut {
		out.setMeta("timed_out", true)
	}
	if failed {
		return out, Fail(out)
	}
	return out, nil
}

// verdict is the first line of a result, and whether it is a failure.
func (r *shellRun) verdict(fin sandbox.Finished) (head string, failed bool) {
	switch {
	case fin.TimedOut:
		return fmt.Sprintf("Command timed out after %dms", r.timeout), true
	case fin.Cancelled:
		return "Command cancelled", true
	case fin.Signal != "":
		return "Command failed (signal " + fin.Signal + ")", true
	case fin.ExitCode == 0:
		return "", false
	}
	if meaning := exitMeaning(r.in.Command, fin.ExitCode); meaning != "" {
		r.notes = append(r.notes, fmt.Sprintf("exit code %d: %s", fin.ExitCode, meaning))
		return "", false
	}
	return fmt.Sprintf("Command failed (exit code %d)", fin.ExitCode), true
}

// text puts the parts together: in memory when small, else as a saved file.
func (r *shellRun) text(head string, fin sandbox.Finished) Output {
	if fin.Stdout.Bytes()+fin.Stderr.Bytes() > DefaultMaxResult {
		return r.large(head, fin)
	}
	stdout, _ := fin.Stdout.Text()
	stderr, _ := fin.Stderr.Text()
	stdout, stderr = strings.TrimRight(stdout, "\n"), strings.TrimRight(stderr, "\n")
	var parts []string
	if head != "" {
		parts = append(parts, head)
	}
	switch {
	case stdout != "" && head != "":
		parts = append(parts, "Stdout:\n"+stdout)
	case stdout != "":
		parts = append(parts, stdout)
	}
	if stderr != "" {
		parts = append(parts, "Stderr:\n"+stderr)
	}
	if stdout == "" && stderr == "" {
		parts = append(parts, "(no output)")
	}
	return Output{Text: strings.Join(parts, "\n")}
}

func (r *shellRun) large(head string, fin sandbox.Finished) Output {
	all := fin.Stdout
	if fin.Stderr.Bytes() > 0 {
		title := "Stderr:\n"
		if all.Bytes() > 0 && !all.EndsLine() {
			title = "\n" + title
		}
		if err := all.Append(title, fin.Stderr); err != nil {
			r.notes = append(r.notes, "a part of the output was lost: "+sandbox.Reason(err))
		}
	}
	w := &Whole{Bytes: all.Bytes(), Lines: int(all.Lines()), Label: "first 60 and last 140 lines", Preview: all.Preview}
	if w.Lines <= 200 {
		w.Label = "all lines"
	}
	if head != "" {
		w.Lead = head + "\n"
	}
	if err := all.SpoolErr(); err != nil {
		r.notes = append(r.notes, "the whole output could not be kept: "+sandbox.Reason(err))
	} else if n := all.Dropped(); n > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%d bytes of output were too many to keep", n))
	}
	if file, ok := all.TakeSpool().(*sandbox.SavedFile); ok {
		if file.Close() == nil {
			w.File = file
		}
	}
	return Output{Whole: w}
}

// exitMeaning is the usual meaning of an exit code that is no failure.
func exitMeaning(command string, code int) string {
	if code != 1 {
		return ""
	}
	program, _, _ := strings.Cut(sandbox.AnalyseCommands(command).Last, " ")
	switch path.Base(program) {
	case "grep", "egrep", "fgrep", "rg", "zgrep", "ag", "ack":
		return "nothing matched"
	case "diff", "cmp":
		return "the files differ"
	case "test", "[", "[[":
		return "the condition does not hold"
	case "pgrep":
		return "no such process"
	}
	return ""
}

// A fileWatch sees which of the files a session has read are changed meanwhile.
type fileWatch struct {
	ws     *sandbox.Workspace
	views  []view
	before []sandbox.Stamp
}

func (s *Session) watchFiles(ws *sandbox.Workspace) *fileWatch {
	w := &fileWatch{ws: ws, views: s.seen.all(maxWatched)}
	for _, v := range w.views {
		st, _ := ws.StampAt(v.path)
		w.before = append(w.before, st)
	}
	return w
}

// changed is a note that names the files whose content is no longer what was read.
func (w *fileWatch) changed() string {
	var names []string
	for i, v := range w.views {
		after, err := w.ws.StampAt(v.path)
		if err != nil || after == w.before[i] {
			continue
		}
		if now, err := w.ws.VersionAt(v.path); err == nil && now == v.version {
			continue
		}
		names = append(names, w.ws.Show(v.path))
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > maxChangedNamed {
		more = fmt.Sprintf(" and %d more", len(names)-maxChangedNamed)
		names = names[:maxChangedNamed]
	}
	return "changed during this command: " + strings.Join(names, ", ") + more + ". Read them again before editing"
}
