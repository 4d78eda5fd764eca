package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	callTimeout  = 20 * time.Second
	shellTimeout = 60 * time.Second
)

type stepFunc func(*caseRun, *stepForm, string) error

// kind is what the step does; nil: nothing.
func (s *stepForm) kind() stepFunc {
	switch {
	case s.Parallel != nil:
		return (*caseRun).doParallel
	case s.Sh != nil:
		return (*caseRun).doShell
	case s.BgSh != nil:
		return (*caseRun).doBackground
	case s.StopBg:
		return (*caseRun).doStopBackground
	case s.Sleep != nil:
		return func(_ *caseRun, s *stepForm, _ string) error { time.Sleep(seconds(*s.Sleep)); return nil }
	case s.WaitFile != nil:
		return (*caseRun).doWaitFile
	case s.Restart != nil:
		return (*caseRun).doRestart
	case s.Signal != nil:
		return (*caseRun).doSignal
	case s.CLI != nil:
		return (*caseRun).doCLI
	case s.Raw != nil, s.RawB64 != nil:
		return (*caseRun).doRaw
	case s.Notify != nil:
		return (*caseRun).doNotify
	case s.Pipeline != nil:
		return (*caseRun).doPipeline
	case s.RPC != nil:
		return (*caseRun).doRPC
	case s.Call != nil:
		return (*caseRun).doCall
	}
	return nil
}

// step runs one step; what goes wrong with it is a complaint.
func (c *caseRun) step(raw any, label string) {
	vars := c.copyVars()
	if m, ok := raw.(map[string]any); ok && m["parallel"] != nil {
		vars = nil // each of them is filled in when its turn comes
	}
	var s stepForm
	err := decodeForm(expand(raw, vars), &s)
	if err == nil {
		time.Sleep(seconds(s.Delay))
		err = s.kind()(c, &s, label)
	}
	if err != nil {
		c.complain("step %s: %v", label, err)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (c *caseRun) put(label string, a answer, by sentBy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[label] = a
	c.all = append(c.all, a)
	c.who[label] = by
}

func (c *caseRun) doParallel(s *stepForm, label string) error {
	var wg sync.WaitGroup
	for i, x := range s.Parallel {
		wg.Go(func() { c.step(x, fmt.Sprintf("%s.%d", label, i)) })
		time.Sleep(4 * time.Millisecond) // so that they arrive in order
	}
	wg.Wait()
	return nil
}

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

func (c *caseRun) doRestart(s *stepForm, _ string) error {
	srv, err := c.server(s.Server)
	if err != nil {
		return err
	}
	if bad := srv.stop(s.Restart == "kill"); bad != "" {
		c.complain("%s", bad)
	}
	c.mu.Lock()
	if !s.KeepClients {
		clear(c.clients)
	}
	c.mu.Unlock()
	return srv.start()
}

func (c *caseRun) doSignal(s *stepForm, _ string) error {
	srv, err := c.server(s.Server)
	if err != nil {
		return err
	}
	return srv.signal(*s.Signal)
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
	text := map[string]any{"type": "text", "text": string(out)}
	c.put(label, answer{
		result:  map[string]any{"isError": code != 0, "content": []any{text}},
		exit:    &code,
		seconds: time.Since(start).Seconds(),
	}, sentBy{})
	return nil
}

func (c *caseRun) doRaw(s *stepForm, _ string) error {
	cl, err := c.client(s.Session)
	if err != nil {
		return err
	}
	var b []byte
	if s.RawB64 != nil {
		if b, err = base64.StdEncoding.DecodeString(*s.RawB64); err != nil {
			return err
		}
	} else {
		b = []byte(*s.Raw)
	}
	if !s.NoNewline {
		b = append(b, '\n')
	}
	cl.send(b)
	settle := .3
	if s.Settle != nil {
		settle = *s.Settle
	}
	time.Sleep(seconds(settle))
	return nil
}

func (c *caseRun) doNotify(s *stepForm, label string) error {
	cl, err := c.client(s.Session)
	if err != nil {
		return err
	}
	cl.notify(*s.Notify, optional(s.Params))
	c.put(label, answer{result: map[string]any{}}, sentBy{})
	return nil
}

// optional is nil for JSON that is not there, so that it is left out.
func optional(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return raw
}

func (c *caseRun) doPipeline(s *stepForm, label string) error {
	cl, err := c.client(s.Session)
	if err != nil {
		return err
	}
	var out strings.Builder
	var ids []string
	for _, m := range s.Pipeline {
		id := cl.nextID()
		ids = append(ids, fmt.Sprint(id))
		var params any = map[string]any{}
		if m.Params != nil {
			params = m.Params
		}
		if cl.modern {
			params = cl.withMeta(params)
		}
		out.WriteString(compact(map[string]any{"jsonrpc": "2.0", "id": id, "method": m.Method, "params": params}) + "\n")
	}
	text := out.String()
	if s.NoNewline {
		text = strings.TrimSuffix(text, "\n")
	}
	start := time.Now()
	cl.send([]byte(text))
	if s.CloseStdin {
		cl.w.Close()
	}
	end := start.Add(s.timeout())
	for i, id := range ids {
		a := cl.wait(id, max(100*time.Millisecond, time.Until(end)))
		a.seconds = time.Since(start).Seconds()
		c.put(fmt.Sprintf("%s.%d", label, i), a, sentBy{cl, id})
	}
	return nil
}

func (s *stepForm) timeout() time.Duration {
	switch {
	case s.TimeoutS > 0:
		return seconds(s.TimeoutS)
	case s.cutShort():
		return 4 * time.Second
	}
	return callTimeout
}

// cutShort: an answer may well never come.
func (s *stepForm) cutShort() bool { return s.CancelAfter != nil || s.CloseStdinAfter != nil }

// patience is the timeout, short once the server has failed to answer.
func (c *caseRun) patience(s *stepForm) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hung {
		return min(s.timeout(), 3*time.Second)
	}
	return s.timeout()
}

func (c *caseRun) doRPC(s *stepForm, label string) error {
	cl, err := c.client(s.Session)
	if err != nil {
		return err
	}
	a := cl.init
	id := ""
	if s.RPC.Method != "initialize" || s.RPC.Again {
		a = cl.request(s.RPC.Method, optional(s.RPC.Params), c.patience(s), s.afterSending(cl, &id))
	}
	c.put(label, a, sentBy{cl, id})
	return c.save(s, a)
}

func (c *caseRun) doCall(s *stepForm, label string) error {
	cl, err := c.client(s.Session)
	if err != nil {
		return err
	}
	params := map[string]any{"name": *s.Call, "arguments": map[string]any{}}
	if s.Args != nil {
		params["arguments"] = s.Args
	}
	if s.ProgressToken != nil {
		params["_meta"] = map[string]any{"progressToken": s.ProgressToken}
	}
	start := time.Now()
	var a answer
	for k := range max(s.Repeat, 1) {
		id := ""
		a = cl.request("tools/call", params, c.patience(s), s.afterSending(cl, &id))
		a.seconds = time.Since(start).Seconds()
		c.put(label, a, sentBy{cl, id})
		if a.fault != "" && !s.cutShort() {
			c.mu.Lock()
			c.hung = true
			c.mu.Unlock()
		}
		if a.fault != "" && s.Repeat > 0 {
			return fmt.Errorf("no answer to call %d", k+1)
		}
		if s.RepeatS > 0 && time.Since(start) > seconds(s.RepeatS) {
			break
		}
	}
	return c.save(s, a)
}

// afterSending notes the id of the request, and cancels it or closes the input
// when the step says so.
func (s *stepForm) afterSending(cl *rpcClient, id *string) func(int) {
	return func(n int) {
		*id = fmt.Sprint(n)
		if s.CancelAfter != nil {
			time.AfterFunc(seconds(*s.CancelAfter), func() {
				cl.notify("notifications/cancelled", map[string]any{"requestId": n, "reason": "test"})
			})
		}
		if s.CloseStdinAfter != nil {
			time.AfterFunc(seconds(*s.CloseStdinAfter), func() { cl.w.Close() })
		}
	}
}

func (c *caseRun) save(s *stepForm, a answer) error {
	var errs []error
	for name, how := range s.Save {
		value := ""
		if how.Path != nil {
			if x := dig(a.whole(), how.Path...); x != nil {
				value = fmt.Sprint(x)
			}
		} else if m := regexp.MustCompile(how.Regex).FindStringSubmatch(a.text()); m != nil {
			value = m[1]
		}
		if value == "" {
			errs = append(errs, fmt.Errorf("nothing to save as %s in %.300q", name, a.text()))
			value = how.Default
		}
		c.setVar(name, value)
	}
	return errors.Join(errs...)
}
