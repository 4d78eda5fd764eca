//go:build unix

package sandbox

import (
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// direct is a process started without a helper, as the leader of a session and
// group of its own. It knows of its group only: children that made a session
// for themselves are not ended, and nothing is if the server is killed.
type direct struct {
	pid       int
	exited    chan struct{}
	left      chan struct{}
	ending    sync.Once
	code      int
	signal    string
	groupLost chan struct{} // closed: do not wait for the group any longer
}

// groupPoll is how often a group is looked at whose leader has ended.
const groupPoll = 100 * time.Millisecond

func startDirect(j job, files childFiles) (process, error) {
	cmd := exec.Cmd{
		Path: j.Path, Args: j.Args, Dir: j.Dir, Env: j.Env,
		Stdin: files.in, Stdout: files.out, Stderr: files.err,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &direct{
		pid: cmd.Process.Pid, exited: make(chan struct{}), left: make(chan struct{}), groupLost: make(chan struct{}),
	}
	go p.wait(&cmd)
	return p, nil
}

func (p *direct) wait(cmd *exec.Cmd) {
	_ = cmd.Wait()
	p.code, p.signal = -1, "SIGKILL"
	if cmd.ProcessState != nil {
		ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
		p.code, p.signal = exitResult(ws)
	}
	close(p.exited)
	defer close(p.left)
	for p.groupLives() {
		if waitFor(p.groupLost, groupPoll) {
			return
		}
	}
}

// exitResult is a wait status in the terms of [Finished].
func exitResult(ws syscall.WaitStatus) (code int, signal string) {
	if !ws.Signaled() {
		return ws.ExitStatus(), ""
	}
	return -1, signalName(ws.Signal())
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}

func (p *direct) groupLives() bool {
	return !errors.Is(syscall.Kill(-p.pid, 0), syscall.ESRCH)
}

func (p *direct) ended() <-chan struct{} { return p.exited }
func (p *direct) gone() <-chan struct{}  { return p.left }

func (p *direct) result() (int, string) {
	select {
	case <-p.exited:
		return p.code, p.signal
	default:
		return -1, "SIGKILL"
	}
}

func (p *direct) terminate() {
	p.ending.Do(func() { go p.end() })
}

func (p *direct) end() {
	_ = syscall.Kill(-p.pid, syscall.SIGTERM)
	if waitFor(p.left, grace) {
		return
	}
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	if !waitFor(p.left, endWait) {
		close(p.groupLost)
	}
}
