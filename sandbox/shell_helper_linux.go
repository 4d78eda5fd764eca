package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The helper's descriptors beside the shell's three.
const (
	controlFD = 3
	statusFD  = 4
)

// endGently on the control pipe: SIGTERM, and soon after SIGKILL for all.
const endGently = 't'

const maxJob = 16 << 20

// Helper must be called first thing in main with os.Args, and in TestMain of
// packages whose tests run commands. It reports whether the process was
// started as a [Shell]'s helper; then its work is done, and main must return.
//
// A helper starts one shell and is the reaper of all its descendants. It tells
// the server how the shell ended, lives on while descendants do, and kills
// them all, wherever they went, when the server asks for it or is gone. What
// it cannot do is outlive a SIGKILL from the command itself; the shell dies
// with it, and the server ends what is left in the session of the two.
func Helper(args []string) (handled bool) {
	helperKnown.Store(true)
	if len(args) != 2 || args[1] != helperArg {
		return false
	}
	if err := help(); err != nil {
		fmt.Fprintln(os.Stderr, "mcp-tools:", err)
		os.Exit(1)
	}
	return true
}

func help() error {
	// The shell is killed at the end of the thread that started it.
	runtime.LockOSThread()
	if !isPipe(controlFD) || !isPipe(statusFD) {
		return errors.New(helperArg + " is for internal use")
	}
	keepDescriptors()
	// Signals meant for the shell, or for the server, must not end the helper.
	// Notify, not Ignore: what is ignored would be so in the shell, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	control, status := os.NewFile(controlFD, "control"), os.NewFile(statusFD, "status")
	j, err := readJob(control)
	if err != nil {
		return err
	}
	shell, err := startShell(j)
	tell := json.NewEncoder(status)
	if err != nil {
		return tell.Encode(failure(err))
	}
	releaseStandard()
	_ = tell.Encode(report{Started: true})
	go obey(control, shell)
	reap(shell, tell)
	return nil
}

func isPipe(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// keepDescriptors keeps all but the standard descriptors from the shell: our
// own and those that whoever started the server left open.
func keepDescriptors() {
	if unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	syscall.CloseOnExec(controlFD)
	syscall.CloseOnExec(statusFD)
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range fds {
		if fd, ok := number(e.Name()); ok && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// startShell makes this process the reaper of what it starts, and starts it.
func startShell(j job) (pid int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("become a subreaper: %w", err)
	}
	// Our descriptors and memory are not for the command to open.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	return syscall.ForkExec(j.Path, j.Args, &syscall.ProcAttr{
		Dir: j.Dir, Env: j.Env, Files: []uintptr{0, 1, 2},
		// The session is the helper's, which has no terminal: so the server
		// knows its number even if it never hears from the helper.
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
}

func failure(err error) report {
	r := report{Error: "the shell did not start"}
	if !errors.As(err, &r.Errno) {
		r.Error = err.Error()
	}
	return r
}

// releaseStandard lets go of the shell's pipes, which would not end otherwise.
func releaseStandard() {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil || unix.Dup3(null, fd, 0) != nil {
			_ = unix.Close(fd)
		}
	}
}

// reap waits for children until there are none, which for a subreaper means
// that there are no descendants.
func reap(shell int, tell *json.Encoder) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return
		case pid == shell:
			_ = tell.Encode(report{Ended: true, Status: ws})
		}
	}
}

// obey waits for the server's word, or its end. It ends the process if what is
// below it cannot be killed; otherwise reap does.
func obey(control io.Reader, shell int) {
	var word [1]byte
	if n, _ := control.Read(word[:]); n == 1 && word[0] == endGently {
		endGroup(os.Getpid(), shell)
		go func() {
			_, _ = control.Read(word[:]) // the server is gone: no more patience
			killAll()
		}()
		time.Sleep(grace)
	}
	killAll()
}

// killAll kills until reap finds nobody left and ends the process. Finding
// nobody here is not enough: the table may have been read while it changed.
func killAll() {
	for deadline := time.Now().Add(endWait); time.Now().Before(deadline); {
		if errors.Is(killBelow(os.Getpid(), deadline), errNoTable) {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	os.Exit(1)
}

// writeJob and readJob pass the job on a pipe that goes on to be used, hence
// with its length.
func writeJob(w io.Writer, j job) error {
	b, err := json.Marshal(j)
	if err != nil {
		return err
	}
	b = append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
	_, err = w.Write(b)
	return err
}

func readJob(r io.Reader) (j job, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return j, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxJob {
		return j, fmt.Errorf("a job of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return j, err
	}
	return j, json.Unmarshal(b, &j)
}
