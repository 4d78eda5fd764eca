package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// serverMode makes the test binary a server that runs one command, and prints
// the lines of its output as they come in a file.
const serverMode = "SANDBOX_TEST_SERVER"

func serveForTest() {
	s := NewShell(ShellOptions{})
	_, err := s.Run(context.Background(), Command{Line: os.Getenv(serverMode), Dir: "/"})
	fmt.Fprintln(os.Stderr, "the command ended:", err)
}

const markName = "SANDBOX_TEST_MARK"

// markedShell returns a shell whose processes can be told from all others, and
// checks that none of them is left at the end.
func markedShell(t *testing.T) (s *Shell, marked func() []string) {
	t.Helper()
	mark := fmt.Sprintf("%s=%s-%d", markName, t.Name(), time.Now().UnixNano())
	s = NewShell(ShellOptions{Env: append(os.Environ(), mark), State: OpenState(t.TempDir())})
	marked = func() []string { return withMark(t, mark) }
	t.Cleanup(func() {
		s.Close()
		assert.Empty(t, marked(), "left over")
	})
	return s, marked
}

func withMark(t *testing.T, mark string) []string {
	t.Helper()
	list, err := processes()
	require.NoError(t, err)
	var found []string
	for _, p := range list {
		dir := fmt.Sprintf("/proc/%d/", p.pid)
		env, err := os.ReadFile(dir + "environ")
		if err != nil || p.dead() || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00")) {
			continue
		}
		cmd, _ := os.ReadFile(dir + "cmdline")
		found = append(found, fmt.Sprintf("%d %q", p.pid, cmd))
	}
	return found
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	p, ok := parseStat(pid, stat)
	return ok && !p.dead()
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, 10*time.Second, 10*time.Millisecond, what)
}

func numbers(t *testing.T, text string) []int {
	t.Helper()
	var ns []int
	for _, f := range strings.Fields(text) {
		n, err := strconv.Atoi(f)
		require.NoError(t, err)
		ns = append(ns, n)
	}
	return ns
}

// Daemons that left the group, ignore SIGTERM, or were made while the killing
// went on: none is left when the call returns.
func TestShellTimeoutLeavesNothing(t *testing.T) {
	for name, line := range map[string]string{
		"daemons":     "setsid sleep 6100 & setsid bash -c 'trap \"\" TERM; sleep 6101; sleep 6102' & (setsid sleep 6103 &) ; sleep 6104",
		"no pipes":    "(setsid sleep 6105 </dev/null >/dev/null 2>&1 &); sleep 6106",
		"forks":       "trap '' TERM; while :; do sleep 6107 & (sleep 6108 &) ; sleep .01; done",
		"respawns":    "f() { trap '' TERM; while :; do sleep .02; done; }; export -f f; for i in 1 2 3; do setsid bash -c 'f & f' & done; f",
		"stopped":     "bash -c 'kill -STOP $$' & setsid bash -c 'kill -STOP $$' & sleep 6109",
		"double fork": "bash -c 'setsid bash -c \"sleep 6110 & disown\" & disown'; sleep 6111",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, marked := markedShell(t)
			f := runCommand(t, s, Command{Line: line, Timeout: 500 * time.Millisecond})
			assert.True(t, f.TimedOut)
			assert.Empty(t, marked())
		})
	}
}

func TestShellCloseEndsWhatLingers(t *testing.T) {
	t.Parallel()
	s, marked := markedShell(t)
	f := runCommand(t, s, Command{Line: "setsid sleep 6120 >/dev/null 2>&1 & echo $!; sleep 6121 >/dev/null 2>&1 & echo $!"})
	pids := numbers(t, text(t, f.Stdout))
	require.Len(t, pids, 2)
	for _, pid := range pids {
		assert.True(t, alive(pid), "children in the background survive the call")
	}
	s.Close()
	assert.Empty(t, marked())
}

// A helper ends with the last of its descendants.
func TestShellHelperEnds(t *testing.T) {
	t.Parallel()
	s, _ := markedShell(t)
	f := runCommand(t, s, Command{Line: "echo $PPID; sleep 6122 >/dev/null 2>&1 & echo $!"})
	pids := numbers(t, text(t, f.Stdout))
	assert.True(t, alive(pids[0]))
	require.NoError(t, syscall.Kill(pids[1], syscall.SIGKILL))
	eventually(t, "the helper ends", func() bool { return !alive(pids[0]) })
	eventually(t, "it is forgotten", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.lingering) == 0
	})
}

func TestShellLingeringIsBounded(t *testing.T) {
	t.Parallel()
	s, _ := markedShell(t)
	s.maxLingering = 3
	var pids []int
	for range s.maxLingering + 3 {
		f := runCommand(t, s, Command{Line: "sleep 6123 >/dev/null 2>&1 & echo $!"})
		pids = append(pids, numbers(t, text(t, f.Stdout))...)
	}
	eventually(t, "the oldest are ended", func() bool { return !alive(pids[0]) && !alive(pids[1]) && !alive(pids[2]) })
	for _, pid := range pids[3:] {
		assert.True(t, alive(pid))
	}
}

// The orphans of a command are reaped while it goes on.
func TestShellReapsZombies(t *testing.T) {
	t.Parallel()
	s, _ := markedShell(t)
	f := runCommand(t, s, Command{Line: "for i in $(seq 1 30); do (setsid true &) ; done; echo $PPID; sleep 6124 >/dev/null 2>&1 &"})
	helper := numbers(t, text(t, f.Stdout))[0]
	eventually(t, "no zombies", func() bool {
		list, err := processes()
		require.NoError(t, err)
		for _, p := range list {
			if p.parent == helper && p.dead() {
				return false
			}
		}
		return true
	})
}

// The command kills its helper, or stops it: the call ends all the same, and
// the shell with it.
func TestShellHelperAttacked(t *testing.T) {
	for name, tt := range map[string]struct {
		line    string
		timeout time.Duration
	}{
		"killed":                {"echo before; sleep 6130 & kill -9 $PPID; sleep 6131; echo after", 0},
		"killed with the group": {"echo before; trap '' TERM; sleep 6132 & kill -9 $PPID; wait", 0},
		"asked to end":          {"echo before; kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; kill -9 $$", 0},
		"stopped":               {"echo before; (setsid sleep 6133 &) ; kill -STOP $PPID; sleep 6134", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, marked := markedShell(t)
			began := time.Now()
			f := runCommand(t, s, Command{Line: tt.line, Timeout: tt.timeout})
			assert.Less(t, time.Since(began), time.Minute)
			assert.Equal(t, "before\n", text(t, f.Stdout))
			assert.Equal(t, "SIGKILL", f.Signal)
			assert.Equal(t, -1, f.ExitCode)
			eventually(t, "all of the session ends", func() bool { return len(marked()) == 0 })
		})
	}
}

func TestShellServerKilled(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"kill": syscall.SIGKILL, "term": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "pids")
			require.NoError(t, mkfifo(path))
			mark := fmt.Sprintf("%s=%s-%d", markName, t.Name(), time.Now().UnixNano())
			line := "exec 3>" + path + "; echo $$ >&3; setsid sleep 6140 & echo $! >&3; " +
				"(setsid bash -c 'trap \"\" TERM HUP INT; echo $$ >&3; sleep 6141; sleep 6142' &) ; sleep 6143 & echo $! >&3; wait"
			cmd := exec.Command(selfExe)
			cmd.Env = append(os.Environ(), serverMode+"="+line, mark)
			cmd.Stderr = os.Stderr
			require.NoError(t, cmd.Start())
			defer cmd.Wait()
			defer cmd.Process.Kill()

			fifo, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			defer fifo.Close()
			require.NoError(t, fifo.SetReadDeadline(time.Now().Add(10*time.Second)))
			in := bufio.NewScanner(fifo)
			for range 4 {
				require.True(t, in.Scan(), "pids of the command: %v", in.Err())
				assert.True(t, alive(numbers(t, in.Text())[0]))
			}
			require.NoError(t, cmd.Process.Signal(sig))
			eventually(t, "everything ends with the server", func() bool { return len(withMark(t, mark)) == 0 })
		})
	}
}

// The command has its three descriptors and no other, and they block as usual.
func TestShellDescriptors(t *testing.T) {
	t.Parallel()
	s, _ := markedShell(t)
	// Somebody left a descriptor open for us and all our children.
	fd, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0) // not O_CLOEXEC
	require.NoError(t, err)
	defer syscall.Close(fd)
	for _, stdin := range []string{"", "x"} {
		f := runCommand(t, s, Command{Stdin: stdin, Line: "ls /proc/$$/fd; cat /proc/$$/fdinfo/[012] >&2"})
		assert.Equal(t, "0\n1\n2\n", strings.ReplaceAll(text(t, f.Stdout), "255\n", ""))
		for _, line := range strings.Split(text(t, f.Stderr), "\n") {
			if flags, ok := strings.CutPrefix(line, "flags:"); ok {
				n, err := strconv.ParseUint(strings.TrimSpace(flags), 8, 64)
				require.NoError(t, err)
				assert.Zero(t, n&syscall.O_NONBLOCK, "%o", n)
			}
		}
	}
}

// Nothing of the server's is to be read from the helper.
func TestShellHelperKeepsNoSecrets(t *testing.T) {
	t.Setenv("MCP_TOOLS_TOKEN", "secret-of-the-server")
	s := testShell(t)
	f := runCommand(t, s, Command{Line: "echo ENV; cat /proc/self/environ /proc/$PPID/environ /proc/$PPID/cmdline; env"})
	assert.Contains(t, text(t, f.Stdout), "ENV")
	assert.NotContains(t, text(t, f.Stdout), "secret-of-the-server")
}

func TestHelperByHand(t *testing.T) {
	out, err := exec.Command(selfExe, helperArg).CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "internal use")
}

func TestShellHugeOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("200 MB")
	}
	var before, after runtime.MemStats
	s, _ := markedShell(t)
	runCommand(t, s, Command{Line: "true"})
	runtime.ReadMemStats(&before)
	began := time.Now()
	f := runCommand(t, s, Command{Line: `head -c 200000000 /dev/zero | tr '\0' x; echo; echo LASTLINE`, Timeout: time.Minute})
	runtime.ReadMemStats(&after)
	t.Logf("%v, %d MB more", time.Since(began), (after.Sys-before.Sys)>>20)
	assert.Less(t, after.Sys-before.Sys, uint64(64<<20), "Sys never shrinks: this is the peak")
	assert.EqualValues(t, 200000010, f.Stdout.Bytes())
	assert.EqualValues(t, 200000010-MaxSpool, f.Stdout.Dropped())
	assert.Contains(t, f.Stdout.Preview(""), "LASTLINE")
	assert.Contains(t, f.Stdout.Preview(""), "[... truncated 199950070 chars ...]")
}

func TestParseStat(t *testing.T) {
	p, ok := parseStat(7, []byte("7 (a) b\n(c) S 1 2 3 0 -1"))
	assert.True(t, ok)
	assert.Equal(t, proc{pid: 7, parent: 1, group: 2, session: 3, state: 'S'}, p)
	for _, bad := range []string{"", "7 (a", "7 (a) S 1 2", "7 (a) S x 2 3"} {
		_, ok := parseStat(7, []byte(bad))
		assert.False(t, ok, bad)
	}
}

func BenchmarkShellTrue(b *testing.B) {
	s := NewShell(ShellOptions{})
	defer s.Close()
	for b.Loop() {
		if _, err := s.Run(context.Background(), Command{Line: "true", Dir: "/"}); err != nil {
			b.Fatal(err)
		}
	}
}
