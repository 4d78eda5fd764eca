package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A caseServer is one process of the binary that a case talks to. What follows c
// and n is replaced by a restart.
type caseServer struct {
	c *caseRun
	n int

	cmd    *exec.Cmd
	done   chan struct{} // closed when the process has ended
	errLog string

	stdin  io.WriteCloser // nil for HTTP, as stdout is
	stdout io.Reader
	port   atomic.Int32 // of HTTP
}

func (c *caseRun) launchForm() (launchForm, error) {
	var setup setupForm
	err := decodeForm(expand(c.tc.Setup, c.copyVars()), &setup)
	return setup.Launch, err
}

// args is the command line of the server.
func (s *caseServer) args(la launchForm) []string {
	if la.Args != nil {
		return la.Args
	}
	a := []string{"--stdio"}
	if la.transport() == "http" {
		a = []string{"--http", cmp.Or(la.HTTPAddr, "127.0.0.1:0")}
	}
	if la.Roots == nil && la.From != "roots" {
		la.Roots = []string{s.c.ws}
	}
	for _, r := range la.Roots {
		a = append(a, "--root", r)
	}
	a = append(a, "--state-dir", s.c.vars["STATE"])
	for _, f := range la.FetchAllow {
		a = append(a, "--fetch-allow", f)
	}
	if la.Sandbox != "" {
		a = append(a, "--sandbox", la.Sandbox)
	}
	if len(la.Tokens) > 0 {
		a = append(a, "--token-file", s.c.tokenFile())
	}
	return append(a, la.Flags...)
}

// env is all that the server gets to know: little of the caller's environment,
// and folders of the case.
func (s *caseServer) env(la launchForm) []string {
	env := map[string]string{}
	for _, k := range []string{"PATH", "LANG", "LC_ALL", "TERM", "TZ", "GOCOVERDIR", "GORACE"} {
		if v, ok := os.LookupEnv(k); ok {
			env[k] = v
		}
	}
	c := s.c
	env["HOME"], env["USER"], env["TMPDIR"] = c.home, "user", c.base+"/tmp"
	env["XDG_STATE_HOME"], env["XDG_CONFIG_HOME"], env["XDG_CACHE_HOME"] = c.base+"/xdgstate", c.home+"/.config", c.home+"/.cache"
	for k, v := range la.Env {
		env[k] = v
	}
	for _, k := range la.Unset {
		delete(env, k)
	}
	out := []string{}
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

func (s *caseServer) start() error {
	la, err := s.c.launchForm()
	if err != nil {
		return err
	}
	cwd := la.Cwd
	if cwd == "" {
		cwd = s.c.ws
		if la.From == "roots" {
			cwd = "/"
		}
	}
	if err := s.c.writeTokens(la.Tokens); err != nil {
		return err
	}
	s.errLog = filepath.Join(s.c.base, fmt.Sprintf("stderr%d", s.n))
	log, err := os.OpenFile(s.errLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(s.c.bin, s.args(la)...)
	cmd.Dir, cmd.Env = cwd, s.env(la)
	cmd.SysProcAttr = ownSession(s.c.drop)
	if la.transport() == "http" {
		return s.startHTTP(cmd, log, la)
	}
	return s.startStdio(cmd, log)
}

func (s *caseServer) startStdio(cmd *exec.Cmd, log *os.File) error {
	inR, inW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer inR.Close()
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outW.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, log
	s.stdin, s.stdout = inW, outR
	return s.run(cmd, log)
}

// run starts the process. log is closed when it has ended.
func (s *caseServer) run(cmd *exec.Cmd, log *os.File) error {
	if err := cmd.Start(); err != nil {
		log.Close()
		return err
	}
	done := make(chan struct{})
	s.cmd, s.done = cmd, done
	go func() {
		cmd.Wait()
		log.Close()
		close(done)
	}()
	if s.n == 0 {
		s.c.setVar("SPID", fmt.Sprint(cmd.Process.Pid))
	}
	return nil
}

func (s *caseServer) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// waitEnd tells whether the process ends within d.
func (s *caseServer) waitEnd(d time.Duration) bool {
	select {
	case <-s.done:
		return true
	case <-time.After(d):
		return false
	}
}

// stop ends the server the way its host would, or by SIGKILL when hard. It
// returns what went wrong, if anything.
func (s *caseServer) stop(hard bool) string {
	if s.cmd == nil || s.ended() {
		return ""
	}
	wait, late := 6*time.Second, "server did not end 5 s after end of input"
	if s.stdin != nil {
		s.stdin.Close()
	} else {
		wait, late = 11*time.Second, "server did not end 10 s after SIGTERM"
		s.signal("TERM")
	}
	if hard {
		s.cmd.Process.Kill()
	}
	if s.waitEnd(wait) {
		return ""
	}
	s.cmd.Process.Kill()
	<-s.done
	return late
}

func (s *caseServer) signal(name string) error {
	sig, ok := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP}[name]
	if !ok {
		return fmt.Errorf("no signal %q", name)
	}
	return s.cmd.Process.Signal(sig)
}

func (s *caseServer) log() string {
	b, _ := os.ReadFile(s.errLog)
	return strings.ToValidUTF8(string(b), "�")
}

// server is the nth process of the case, started when first asked for.
func (c *caseRun) server(n int) (*caseServer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.servers) <= n {
		s := &caseServer{c: c, n: len(c.servers)}
		c.servers = append(c.servers, s)
		c.mu.Unlock()
		err := s.start()
		c.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	return c.servers[n], nil
}
