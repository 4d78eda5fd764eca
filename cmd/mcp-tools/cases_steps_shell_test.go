package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const shellTimeout = 60 * time.Second

// bash is a command in the workspace with an environment that git is content with.
func (c *caseRun) bash(command string) *exec.Cmd {
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = c.real
	cmd.Env = append(os.Environ(), "HOME="+c.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
	cmd.SysProcAttr = ownSession(c.drop)
	return cmd
}

// shell runs a command of the case, not of the server, and returns what it wrote.
func (c *caseRun) shell(command string) (string, error) {
	cmd := c.bash(command)
	cmd.WaitDelay = time.Second
	bounded := time.AfterFunc(shellTimeout, func() { killGroup(cmd.Process.Pid) })
	defer bounded.Stop()
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrWaitDelay) { // it left something running, on purpose
		err = nil
	}
	return string(out), err
}

func (c *caseRun) doShell(s *stepForm, _ string) error {
	out, err := c.shell(*s.Sh)
	if err != nil && s.Must {
		return fmt.Errorf("%w: %s", err, clip(out, 200))
	}
	return nil
}

func (c *caseRun) doBackground(s *stepForm, _ string) error {
	cmd := c.bash(*s.BgSh)
	if err := cmd.Start(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.background = append(c.background, cmd)
	return nil
}

func (c *caseRun) doStopBackground(*stepForm, string) error {
	for _, b := range c.background {
		killGroup(b.Process.Pid)
	}
	return nil
}

func (c *caseRun) doWaitFile(s *stepForm, _ string) error {
	wait := 8.0
	if s.TimeoutS > 0 {
		wait = s.TimeoutS
	}
	for end := time.Now().Add(seconds(wait)); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(c.path(*s.WaitFile)); err == nil {
			break
		}
	}
	return nil
}

func (c *caseRun) doCLI(s *stepForm, label string) error {
	start := time.Now()
	cmd := exec.Command(c.bin, s.CLI...)
	cmd.Dir, cmd.Stdin = c.ws, strings.NewReader(s.Stdin)
	cmd.Env = append(os.Environ(), "HOME="+c.home, "XDG_STATE_HOME="+c.base+"/xdgstate", "XDG_CONFIG_HOME="+c.home+"/.config")
	cmd.SysProcAttr = ownSession(c.drop)
	bounded := time.AfterFunc(30*time.Second, func() { killGroup(cmd.Process.Pid) })
	defer bounded.Stop()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	code := cmd.ProcessState.ExitCode()
	res := textResult(string(out))
	res["isError"] = code != 0
	c.put(label, answer{result: res, exit: &code, seconds: time.Since(start).Seconds()}, sentBy{})
	return nil
}

// textResult is text as the result of a tool.
func textResult(text string) map[string]any {
	block := map[string]any{"type": "text", "text": text}
	return map[string]any{"content": []any{block}}
}
