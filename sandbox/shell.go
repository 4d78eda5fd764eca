package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// ErrShellClosed: the shell was closed, nothing more is started.
var ErrShellClosed = errors.New("the shell is closed")

// ErrShellBusy: as many commands run as may; nothing was started.
var ErrShellBusy = errors.New("too many commands are running")

const (
	// maxCommands bounds the commands that run at once, whoever started them.
	maxCommands = 32
	// maxLingering bounds how many commands may have left children behind: of
	// more, those of the oldest are ended.
	maxLingering = 64
	// grace is how long a command may take to end after SIGTERM.
	grace = 300 * time.Millisecond
	// endWait is how long the end of everything is waited for after that.
	endWait = 3 * time.Second
	// progressEvery is a little more than half a second: never three in one.
	progressEvery = 510 * time.Millisecond
)

// Shell runs command lines. One is shared by all sessions; it is safe for
// concurrent use.
//
// On Linux every command runs below a process of its own that outlives it for
// as long as the command has descendants, and ends them when the server is
// gone, however it went: see [Helper]. On other Unix systems the process group
// is all there is: a child that left it survives a time-out, and so do all
// children if the server is killed. Nothing here confines what a command may
// reach.
type Shell struct {
	env     func() []string // computed when first needed
	program func() (string, error)
	spool   func() (Spool, error)

	mu        sync.Mutex
	closed    bool
	closing   chan struct{}
	running   sync.WaitGroup
	commands  int         // of them, those counted against maxCommands
	lingering []*lingerer // oldest first
	places    int         // of programs that are kept running
	served    []*Served   // those that are

	maxLingering, maxCommands int
}

// ShellOptions configure a Shell. The zero value works.
type ShellOptions struct {
	// Env is the environment of the commands; nil means the process's own
	// without what is meant for the server (MCP_TOOLS_…).
	Env []string
	// State is where large outputs are kept whole; nil means that they are kept
	// in part only.
	State *State
}

// Command is one command line and how to run it.
type Command struct {
	Line    string
	Dir     string        // directory of the host to run in
	Timeout time.Duration // 0: none
	Stdin   string        // "": nothing to read
	// Progress, if set, is told the last line and the bytes so far at most
	// twice a second, and never after Run has returned.
	Progress func(lastLine string, bytes int64)
}

// Finished is what became of a command. Its outputs are never nil; the caller
// must Discard them or take their spools.
type Finished struct {
	Stdout, Stderr *Captured
	ExitCode       int    // -1 when ended by a signal
	Signal         string // "SIGSEGV", …
	TimedOut       bool
	Cancelled      bool // by the context, or because the Shell was closed
}

// NewShell returns a Shell. Close ends it.
func NewShell(o ShellOptions) *Shell {
	s := &Shell{closing: make(chan struct{}), maxLingering: maxLingering, maxCommands: maxCommands}
	if o.State != nil {
		s.spool = func() (Spool, error) { return o.State.Create() }
	}
	s.env = sync.OnceValue(func() []string { return s.environment(o.Env) })
	s.program = sync.OnceValues(func() (string, error) { return findShell(s.env()) })
	return s
}

// Run runs a command line to its end: of the shell itself, not of the children
// it left in the background, which go on. An error means that it was not
// started; everything else is told by Finished. If the time is up or ctx is
// done, the process group gets SIGTERM and soon after every descendant SIGKILL.
func (s *Shell) Run(ctx context.Context, c Command) (Finished, error) {
	if err := ctx.Err(); err != nil {
		return Finished{}, err
	}
	if err := checkCommand(c); err != nil {
		return Finished{}, err
	}
	program, err := s.program()
	if err != nil {
		return Finished{}, err
	}
	env := append(slices.Clip(s.env()), "PWD="+c.Dir)
	return s.run(ctx, c, job{Path: program, Args: []string{program, "-c", c.Line}, Dir: c.Dir, Env: env})
}

// maxLine is what Linux takes as one argument, less its final NUL.
const maxLine = 128<<10 - 1

func checkCommand(c Command) error {
	if len(c.Line) > maxLine {
		return fmt.Errorf("the command line is too long: %d bytes, at most %d", len(c.Line), maxLine)
	}
	info, err := os.Stat(c.Dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &os.PathError{Op: "chdir", Path: c.Dir, Err: errors.New("not a directory")}
	}
	return nil
}

func (s *Shell) run(ctx context.Context, c Command, j job) (Finished, error) {
	if err := s.enter(); err != nil {
		return Finished{}, err
	}
	defer s.leave()

	p, pipes, err := s.start(j, c.Stdin)
	if err != nil {
		return Finished{}, fmt.Errorf("start the shell: %w", err)
	}
	stop := reportProgress(c.Progress, pipes)
	f := s.await(ctx, c.Timeout, p)
	pipes.settle(p)
	stop()
	f.Stdout, f.Stderr = pipes.detach()
	s.linger(p, pipes)
	return f, nil
}

// start is the one function that starts processes.
func (s *Shell) start(j job, stdin string) (process, *streams, error) {
	pipes, files, err := newStreams(stdin, s.spool)
	if err != nil {
		return nil, nil, err
	}
	p, err := startProcess(j, files)
	files.close()
	if err != nil {
		pipes.close()
		return nil, nil, err
	}
	pipes.read(stdin)
	return p, pipes, nil
}

func (s *Shell) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrShellClosed
	case s.commands >= s.maxCommands:
		return ErrShellBusy
	}
	s.commands++
	s.running.Add(1)
	return nil
}

func (s *Shell) leave() {
	s.mu.Lock()
	s.commands--
	s.mu.Unlock()
	s.running.Done()
}

// Program is the shell that runs command lines.
func (s *Shell) Program() (string, error) { return s.program() }

// Commands is how many commands run now.
func (s *Shell) Commands() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commands
}

// await waits for the shell's end, and brings it about where it must.
func (s *Shell) await(ctx context.Context, timeout time.Duration, p process) Finished {
	var f Finished
	var timer <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-p.ended():
	case <-timer:
		f.TimedOut = true
	case <-ctx.Done():
		f.Cancelled = true
	case <-s.closing:
		f.Cancelled = true
	}
	if f.TimedOut || f.Cancelled {
		p.terminate()
		waitFor(p.gone(), grace+endWait)
	}
	f.ExitCode, f.Signal = p.result()
	return f
}

// waitFor reports whether c was closed, or got something, within d.
func waitFor(c <-chan struct{}, d time.Duration) bool {
	select {
	case <-c:
		return true
	default:
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

// reportProgress calls report from time to time until stop is called, which
// waits for a call in progress.
func reportProgress(report func(string, int64), pipes *streams) (stop func()) {
	if report == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var told int64
		for !waitFor(quit, progressEvery) {
			line, n := pipes.progress()
			if n == told {
				continue
			}
			told = n
			report(line, n)
		}
	}()
	return func() { close(quit); <-done }
}

// lingerer is a command whose shell has ended and whose children may go on.
type lingerer struct {
	process
	pipes *streams
}

// linger keeps hold of what a command left behind, so that Close can end it.
func (s *Shell) linger(p process, pipes *streams) {
	select {
	case <-p.gone():
		return // what still holds a pipe, if anything, is out of reach
	default:
	}
	l := &lingerer{p, pipes}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		p.terminate()
	}
	s.lingering = append(s.lingering, l)
	for _, old := range s.lingering[:max(0, len(s.lingering)-s.maxLingering)] {
		old.terminate() // it stays in the list until it is gone
	}
	go func() {
		<-p.gone()
		s.forget(l)
	}()
}

func (s *Shell) forget(l *lingerer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range s.lingering {
		if x == l {
			s.lingering = append(s.lingering[:i], s.lingering[i+1:]...)
			return
		}
	}
}

// Close ends every process started, those in the background included, and
// waits for their end, but not for more than a few seconds. Calls of Run in
// progress return as if cancelled.
func (s *Shell) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	left := append([]*lingerer(nil), s.lingering...)
	served := slices.Clone(s.served)
	s.mu.Unlock()

	for _, v := range served {
		v.End()
	}

	for _, l := range left {
		l.terminate()
	}
	returned := make(chan struct{})
	go func() { s.running.Wait(); close(returned) }()
	waitFor(returned, grace+endWait+time.Second)
	s.mu.Lock()
	left = append(left, s.lingering...) // what calls that just returned left behind
	s.mu.Unlock()
	deadline := time.Now().Add(grace + endWait)
	for _, v := range served {
		waitFor(v.p.gone(), time.Until(deadline))
	}
	for _, l := range left {
		waitFor(l.gone(), time.Until(deadline))
		l.pipes.close()
	}
}

// job is what to run, told to the process that starts it.
type job struct {
	Path string
	Args []string
	Dir  string
	Env  []string
}

// process is a shell and what it started.
type process interface {
	// ended is closed when the shell itself is no more.
	ended() <-chan struct{}
	// gone is closed when nothing is left of it, as far as can be known.
	gone() <-chan struct{}
	// result tells how the shell ended. Before it has, that it was killed.
	result() (code int, signal string)
	// terminate ends everything, first gently, and returns at once.
	terminate()
}
