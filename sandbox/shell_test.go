//go:build unix

package sandbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testShell(t *testing.T) *Shell {
	t.Helper()
	s := NewShell(ShellOptions{State: OpenState(t.TempDir())})
	t.Cleanup(s.Close)
	return s
}

func runCommand(t *testing.T, s *Shell, c Command) Finished {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	if c.Timeout == 0 {
		c.Timeout = 20 * time.Second
	}
	f, err := s.Run(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = f.Stdout.Discard(), f.Stderr.Discard() })
	return f
}

func text(t *testing.T, c *Captured) string {
	t.Helper()
	s, ok := c.Text()
	require.True(t, ok, "memory has not all of it")
	return s
}

func TestShellRun(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name, line, stdin string
		out, err          string
		code              int
		signal            string
	}{
		{name: "true", line: "true"},
		{name: "false", line: "false", code: 1},
		{name: "output", line: "echo a; echo b >&2", out: "a\n", err: "b\n"},
		{name: "nul", line: `printf 'a\0b\n'`, out: "ab\n"},
		{name: "bad utf8", line: `printf 'a\xff\x00b'`, out: "a\ufffdb"},
		{name: "colour and progress", line: `printf '\033[31m10%%\r20%%\033[0m\n'`, out: "20%\n"},
		{name: "here-document in a substitution", line: "V=\"$(cat <<'Z'\ndon't\nZ\n)\"; echo \"n=${#V}\"", out: "n=5\n"},
		{name: "bash", line: "a=(x y); [[ ${a[1]} == y ]] && echo arr-ok", out: "arr-ok\n"},
		{name: "exit code", line: "exit 42", code: 42},
		{name: "segv", line: "kill -SEGV $$", code: -1, signal: "SIGSEGV"},
		{name: "kill", line: "kill -KILL $$", code: -1, signal: "SIGKILL"},
		{name: "no stdin", line: "cat; read x; echo $?", out: "1\n"},
		{name: "stdin", line: "cat", stdin: "given\n", out: "given\n"},
		{name: "stdin not read", line: "echo x", stdin: strings.Repeat("y", 300000), out: "x\n"},
		{name: "directory", line: "pwd", out: dir + "\n"},
		{name: "quiet environment", line: "echo $PAGER $GIT_PAGER $MANPAGER $GIT_TERMINAL_PROMPT $NO_COLOR $TERM", out: "cat cat cat 0 1 dumb\n"},
		{name: "own group", line: `test "$(ps -o pgid= -p $$ | tr -d ' ')" = $$ && echo yes`, out: "yes\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := runCommand(t, testShell(t), Command{Line: tt.line, Stdin: tt.stdin, Dir: dir})
			assert.Equal(t, tt.out, text(t, f.Stdout))
			assert.Equal(t, tt.err, text(t, f.Stderr))
			assert.Equal(t, tt.code, f.ExitCode)
			assert.Equal(t, tt.signal, f.Signal)
			assert.False(t, f.TimedOut)
			assert.False(t, f.Cancelled)
		})
	}
}

func TestShellProgramMissing(t *testing.T) {
	f := runCommand(t, testShell(t), Command{Line: "no_such_prog_x1"})
	assert.Equal(t, 127, f.ExitCode)
	assert.Contains(t, text(t, f.Stderr), "no_such_prog_x1")
}

func TestShellDoesNotStart(t *testing.T) {
	s := testShell(t)
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, try := range map[string]func() error{
		"no directory": func() error { _, err := s.Run(t.Context(), Command{Line: "true", Dir: file + "x"}); return err },
		"a file":       func() error { _, err := s.Run(t.Context(), Command{Line: "true", Dir: file}); return err },
		"too long": func() error {
			_, err := s.Run(t.Context(), Command{Line: strings.Repeat("x", 1<<18), Dir: "/"})
			return err
		},
		"cancelled": func() error { _, err := s.Run(cancelled, Command{Line: "true", Dir: "/"}); return err },
		"not a program": func() error {
			_, err := s.run(t.Context(), Command{}, job{Path: file, Args: []string{"f"}, Dir: "/"})
			return err
		},
	} {
		assert.Error(t, try(), name)
	}
	_, err := s.Run(t.Context(), Command{Line: "true", Dir: file + "x"})
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = s.run(t.Context(), Command{}, job{Path: file, Args: []string{"f"}, Dir: "/"})
	assert.ErrorIs(t, err, os.ErrPermission)
	s.Close()
	_, err = s.Run(t.Context(), Command{Line: "true", Dir: "/"})
	assert.ErrorIs(t, err, ErrShellClosed)
}

// Both outputs are there, whole and in order, however long.
func TestShellLongOutput(t *testing.T) {
	t.Parallel()
	f := runCommand(t, testShell(t), Command{Line: "seq 1 200000; seq 1 20000 >&2; echo end"})
	assert.EqualValues(t, 200001, f.Stdout.Lines())
	assert.EqualValues(t, 20000, f.Stderr.Lines())
	assert.Equal(t, wantPreview("", seq(200000)+"end\n"), f.Stdout.Preview(""))
	var b strings.Builder
	_, err := f.Stderr.WriteTo(&b)
	require.NoError(t, err)
	assert.True(t, b.String() == seq(20000))
}

func TestShellTimeout(t *testing.T) {
	for name, line := range map[string]string{
		"plain":        "echo before; echo err >&2; sleep 6001",
		"ignores TERM": "trap '' TERM; echo before; echo err >&2; sleep 6002; sleep 6003",
		"stopped":      "echo before; echo err >&2; kill -STOP $$",
		"busy":         "echo before; echo err >&2; while :; do :; done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			f := runCommand(t, testShell(t), Command{Line: line, Timeout: time.Second})
			assert.True(t, f.TimedOut)
			assert.Equal(t, -1, f.ExitCode)
			assert.NotEmpty(t, f.Signal)
			assert.Equal(t, "before\n", text(t, f.Stdout))
			assert.Equal(t, "err\n", text(t, f.Stderr))
			assert.Less(t, time.Since(began), time.Minute)
		})
	}
}

// A command that handles SIGTERM has the time to say something.
func TestShellTimeoutIsGentle(t *testing.T) {
	t.Parallel()
	f := runCommand(t, testShell(t), Command{
		Line: "trap 'echo saved; exit 3' TERM; sleep 6004 & wait", Timeout: 500 * time.Millisecond})
	assert.True(t, f.TimedOut)
	assert.Equal(t, "saved\n", text(t, f.Stdout))
	assert.Equal(t, 3, f.ExitCode)
}

// startedFile is a pipe that a command writes to when it has come so far.
func startedFile(t *testing.T, dir string) (line string, wait func()) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	path := filepath.Join(dir, "started")
	require.NoError(t, mkfifo(path))
	// Held open both ways so that neither end waits for the other to open it.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, _ = r.Close(), w.Close()
	t.Cleanup(func() { f.Close() })
	return "echo > started; ", func() {
		require.NoError(t, f.SetReadDeadline(time.Now().Add(10*time.Second)))
		_, err := io.ReadFull(f, make([]byte, 1))
		require.NoError(t, err)
	}
}

func TestShellCancel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	line, started := startedFile(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { started(); cancel() }()
	f, err := testShell(t).Run(ctx, Command{Line: "echo before; " + line + "sleep 6005", Dir: dir})
	require.NoError(t, err)
	assert.True(t, f.Cancelled)
	assert.Equal(t, "before\n", text(t, f.Stdout))
}

func TestShellCloseEndsRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	line, started := startedFile(t, dir)
	s := testShell(t)
	done := make(chan Finished, 1)
	go func() {
		f, err := s.Run(context.Background(), Command{Line: line + "sleep 6006", Dir: dir})
		assert.NoError(t, err)
		done <- f
	}()
	started()
	s.Close()
	// Run is over when Close returns; its caller may need a moment to say so.
	assert.True(t, (<-done).Cancelled)
}

func TestShellChildrenDoNotHoldTheCall(t *testing.T) {
	for name, line := range map[string]string{
		"in its own session": "setsid sleep 6007 & echo hi",
		"stderr only":        "sleep 6008 </dev/null >/dev/null & echo hi",
		"writing":            "(while :; do echo noise >&2; sleep .01; done) & echo hi",
		"nothing held":       "sleep 6009 </dev/null >/dev/null 2>&1 & echo hi",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			f := runCommand(t, testShell(t), Command{Line: line})
			assert.Less(t, time.Since(began), time.Minute)
			assert.Equal(t, "hi\n", text(t, f.Stdout))
			assert.Zero(t, f.ExitCode)
		})
	}
}

// What a child writes soon after the shell's end belongs to the result.
func TestShellReadsOnForAMoment(t *testing.T) {
	t.Parallel()
	f := runCommand(t, testShell(t), Command{Line: "(sleep .05; echo late; sleep 6010) & echo hi"})
	assert.Equal(t, "hi\nlate\n", text(t, f.Stdout))
}

// A server in the background serves later calls, and is not stopped by writing
// to the ended call's pipe.
func TestShellBackgroundServer(t *testing.T) {
	t.Parallel()
	s, dir := testShell(t), t.TempDir()
	runCommand(t, s, Command{Dir: dir, Line: `mkfifo in out
		(while read -r l <in; do seq 1 50000; seq 1 50000 >&2; echo "got $l" >out; done) & echo up`})
	for i := range 3 {
		f := runCommand(t, s, Command{Dir: dir, Line: fmt.Sprintf("echo %d >in; cat out", i)})
		assert.Equal(t, fmt.Sprintf("got %d\n", i), text(t, f.Stdout))
	}
	s.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lingering {
		assert.True(t, waitFor(l.gone(), 0), "still there after Close")
	}
}

func TestShellProgress(t *testing.T) {
	t.Parallel()
	type told struct {
		line  string
		bytes int64
		at    time.Time
	}
	var got []told
	var returned atomic.Bool
	f := runCommand(t, testShell(t), Command{
		Line: "for i in $(seq 1 40); do echo line$i; sleep .05; done",
		Progress: func(line string, bytes int64) {
			assert.False(t, returned.Load(), "told after Run had returned")
			got = append(got, told{line, bytes, time.Now()})
		},
	})
	returned.Store(true)
	assert.Contains(t, text(t, f.Stdout), "line40\n")
	require.GreaterOrEqual(t, len(got), 2)
	for i, p := range got {
		assert.Regexp(t, `^line\d+$`, p.line)
		if i > 0 {
			assert.Greater(t, p.bytes, got[i-1].bytes)
			assert.GreaterOrEqual(t, p.at.Sub(got[i-1].at), 500*time.Millisecond)
		}
	}
}

func TestShellProgressThatBlocksDelaysNoKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release := make(chan struct{})
	s := testShell(t)
	go func() {
		// The shell's end shows in its pid file's lock going away: poll for it.
		for range 200 {
			if b, err := os.ReadFile(filepath.Join(dir, "ended")); err == nil && len(b) > 0 {
				break
			}
			time.Sleep(25 * time.Millisecond)
		}
		close(release)
	}()
	f := runCommand(t, s, Command{
		Dir: dir, Line: "trap 'echo x >ended; exit' TERM; echo line; sleep 6011 & wait", Timeout: 700 * time.Millisecond,
		Progress: func(string, int64) { <-release },
	})
	assert.True(t, f.TimedOut)
	assert.FileExists(t, filepath.Join(dir, "ended"))
}

func TestShellIsConcurrent(t *testing.T) {
	t.Parallel()
	s := testShell(t)
	dir := t.TempDir()
	errs := make(chan error, 30)
	for i := range cap(errs) {
		go func() {
			f, err := s.Run(t.Context(), Command{Line: fmt.Sprintf("echo %d", i), Dir: dir})
			if err == nil {
				if out, _ := f.Stdout.Text(); out != fmt.Sprintf("%d\n", i) || f.ExitCode != 0 {
					err = fmt.Errorf("command %d: %q, %+v", i, out, f)
				}
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		assert.NoError(t, <-errs)
	}
}

// Without a helper the group is all that is known.
func TestShellDirect(t *testing.T) {
	t.Parallel()
	start := func(line string) (process, *streams) {
		pipes, files, err := newStreams("", nil)
		require.NoError(t, err)
		p, err := startDirect(job{Path: "/bin/sh", Args: []string{"sh", "-c", line}, Dir: "/", Env: os.Environ()}, files)
		files.close()
		require.NoError(t, err)
		pipes.read("")
		return p, pipes
	}
	p, pipes := start("echo hi; exit 3")
	<-p.ended()
	pipes.settle(p)
	out, _ := pipes.detach()
	assert.Equal(t, "hi\n", text(t, out))
	code, _ := p.result()
	assert.Equal(t, 3, code)
	assert.True(t, waitFor(p.gone(), 5*time.Second))

	p, pipes = start("trap '' TERM; echo hi; sleep 6012 & sleep 6013")
	waitFor(pipes.activity, 5*time.Second)
	_, signal := p.result()
	assert.Equal(t, "SIGKILL", signal, "what it will be if it is given up")
	p.terminate()
	require.True(t, waitFor(p.gone(), 5*time.Second))
	_, signal = p.result()
	assert.Equal(t, "SIGKILL", signal)

	p, pipes = start("sleep 6014 & echo hi")
	<-p.ended()
	pipes.settle(p)
	assert.False(t, waitFor(p.gone(), 0))
	p.terminate()
	assert.True(t, waitFor(p.gone(), 5*time.Second))
}
