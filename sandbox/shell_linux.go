package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// helperArg is what the binary is called with to be a helper.
const helperArg = "__sandbox-exec"

// startWait is how long a helper may take to start the shell.
const startWait = 20 * time.Second

// helperKnown is set when Helper was called: without it, the copy of the
// binary that is to be the helper would run as whatever it is.
var helperKnown atomic.Bool

// report is what a helper tells: first that the shell has started or why not,
// then how it ended.
type report struct {
	Started bool
	Error   string
	Errno   syscall.Errno
	Ended   bool
	Status  syscall.WaitStatus
}

// helped is a shell below a helper. The helper's life is tied to control: at
// its end it kills all its descendants.
type helped struct {
	helper  *os.Process
	control *os.File
	exited  chan struct{}
	left    chan struct{}
	ending  sync.Once
	code    int
	signal  string
	killed  bool // by somebody else; set before left is closed
}

func startProcess(j job, files childFiles) (process, error) {
	if _, err := os.Stat(selfExe); err != nil {
		return startDirect(j, files) // no /proc: the group is all that can be known
	}
	if !helperKnown.Load() {
		return nil, errors.New("sandbox.Helper must be called at the start of main")
	}
	return startHelped(j, files)
}

// selfExe is this program, even if its file was replaced or removed meanwhile.
const selfExe = "/proc/self/exe"

func startHelped(j job, files childFiles) (process, error) {
	controlR, controlW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	statusR, statusW, err := os.Pipe()
	if err != nil {
		controlR.Close()
		controlW.Close()
		return nil, err
	}
	cmd := exec.Cmd{
		Path: selfExe, Args: []string{"mcp-tools", helperArg}, Dir: "/",
		// Nothing of ours: the command may read its parent's environment.
		Env:   []string{"GOMAXPROCS=2"},
		Stdin: files.in, Stdout: files.out, Stderr: files.err,
		ExtraFiles:  []*os.File{controlR, statusW},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // away from our terminal's signals
	}
	err = cmd.Start()
	controlR.Close()
	statusW.Close() // or the helper's end would not be seen
	if err != nil {
		controlW.Close()
		statusR.Close()
		return nil, err
	}
	p := &helped{helper: cmd.Process, control: controlW, exited: make(chan struct{}), left: make(chan struct{})}
	go func() { _ = writeJob(controlW, j) }() // a helper that does not read it is found out below
	first := make(chan report, 1)
	go p.listen(statusR, first)
	go p.wait(&cmd)
	return p, p.started(first)
}

// started waits for the first report. If there is none the helper may have
// been killed by the command, which was started then.
func (p *helped) started(first <-chan report) error {
	t := time.NewTimer(startWait)
	defer t.Stop()
	select {
	case r := <-first:
		if r.Started {
			return nil
		}
		p.control.Close()
		<-p.left
		if r.Error == "" && p.killed {
			return nil
		}
		return r.err()
	case <-t.C:
		p.control.Close()
		_ = p.helper.Kill()
		return fmt.Errorf("the helper process did not start the shell within %v", startWait)
	}
}

func (r report) err() error {
	switch {
	case r.Errno != 0:
		return fmt.Errorf("%s: %w", r.Error, r.Errno)
	case r.Error != "":
		return errors.New(r.Error)
	}
	return errors.New("the helper process ended at once")
}

// listen reads the helper's reports to their end. If the shell's end is not
// among them the helper was killed, and the shell with it.
func (p *helped) listen(status *os.File, first chan<- report) {
	defer status.Close()
	defer close(p.exited)
	dec := json.NewDecoder(status)
	var r report
	if err := dec.Decode(&r); err != nil {
		r = report{}
	}
	p.code, p.signal = -1, "SIGKILL"
	first <- r
	if !r.Started {
		return
	}
	var end report
	if err := dec.Decode(&end); err == nil && end.Ended {
		p.code, p.signal = exitResult(end.Status)
	}
}

// wait waits for the helper's end. One that was killed could not end the
// shell's children: what is still in the session is ended from here.
func (p *helped) wait(cmd *exec.Cmd) {
	defer close(p.left)
	err := cmd.Wait()
	<-p.exited
	p.control.Close()
	if err != nil {
		p.killed = cmd.ProcessState != nil && cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
		killSession(p.helper.Pid) // nobody else has this number while one of them lives
	}
}

func (p *helped) ended() <-chan struct{} { return p.exited }
func (p *helped) gone() <-chan struct{}  { return p.left }

func (p *helped) result() (int, string) {
	select {
	case <-p.exited:
		return p.code, p.signal
	default:
		return -1, "SIGKILL"
	}
}

func (p *helped) terminate() {
	p.ending.Do(func() { go p.end() })
}

// end asks the helper to end everything. One that does not, because it was
// stopped, is ended with all below it from here.
func (p *helped) end() {
	_, _ = p.control.Write([]byte{endGently})
	if waitFor(p.left, grace+endWait/3) {
		return
	}
	_ = killBelow(p.helper.Pid, time.Now().Add(endWait/3))
	_ = p.helper.Kill()
}
