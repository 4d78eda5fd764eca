package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A caseServer is one process of the binary that a case talks to. Its fields up
// to err are replaced by a restart.
type caseServer struct {
	c      *caseRun
	n      int
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	done   chan struct{} // closed when the process has ended
	errLog string
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
	s.errLog = filepath.Join(s.c.base, fmt.Sprintf("stderr%d", s.n))
	errFile, err := os.OpenFile(s.errLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer errFile.Close()
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

	cmd := exec.Command(s.c.bin, s.args(la)...)
	cmd.Dir, cmd.Env = cwd, s.env(la)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errFile
	cmd.SysProcAttr = ownSession(s.c.drop)
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	s.cmd, s.stdin, s.stdout, s.done = cmd, inW, outR, done
	go func() {
		cmd.Wait()
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
	s.stdin.Close()
	if hard {
		s.cmd.Process.Kill()
	}
	if s.waitEnd(6 * time.Second) {
		return ""
	}
	s.cmd.Process.Kill()
	<-s.done
	return "server did not end 5 s after end of input"
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

// client is the connection of the named session, made when first asked for.
// Over stdio each named session has a process of its own.
func (c *caseRun) client(name string) (*rpcClient, error) {
	c.connecting.Lock()
	defer c.connecting.Unlock()
	c.mu.Lock()
	cl := c.clients[name]
	c.mu.Unlock()
	if cl != nil {
		return cl, nil
	}
	la, err := c.launchForm()
	if err != nil {
		return nil, err
	}
	form := la.SessionForms[name]
	era, protocol, opts := la.Era, la.Protocol, la.Client
	if form.Era != "" {
		era = form.Era
	}
	if form.Protocol != "" {
		protocol = form.Protocol
	}
	if form.Client != nil {
		opts = *form.Client
	}
	if protocol == "" {
		protocol = "2025-06-18"
	}
	n := max(slices.Index(c.sessions, name), 0)
	if form.Server != nil {
		n = *form.Server
	}
	s, err := c.server(n)
	if err != nil {
		return nil, err
	}
	cl, err = newRPCClient(s, opts, era == "modern", protocol)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.clients[name] = cl
	c.mu.Unlock()
	return cl, nil
}
