package main

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A caseRun is a case while it runs, in folders of its own.
type caseRun struct {
	tc  *testCase
	bin string

	base, ws, real, out, home string
	drop                      bool // run as an ordinary user, though we are root
	sessions                  []string
	trees                     map[string]map[string]string

	connecting sync.Mutex // one handshake at a time

	mu         sync.Mutex
	vars       map[string]string
	servers    []*caseServer
	clients    map[string]*rpcClient
	answers    map[string]answer
	all        []answer
	who        map[string]sentBy
	background []*exec.Cmd
	complaints []string
	hung       bool // the server has once not answered
}

type sentBy struct {
	client *rpcClient
	id     string
}

// runCase runs tc and returns what was wrong.
func runCase(tc *testCase, bin string) (bad []string) {
	c := &caseRun{
		tc: tc, bin: bin,
		drop:     slices.Contains(tc.Requires, "nonroot") && os.Getuid() == 0,
		sessions: sessionNames(tc.Steps),
		trees:    map[string]map[string]string{},
		clients:  map[string]*rpcClient{},
		answers:  map[string]answer{},
		who:      map[string]sentBy{},
	}
	defer c.remove()
	if err := c.folders(); err != nil {
		return []string{"setup: " + err.Error()}
	}
	bounded := time.AfterFunc(tc.bound(), c.abort)
	defer bounded.Stop()
	func() {
		defer func() { bad = append(bad, c.end()...) }()
		if err := c.prepare(); err != nil {
			bad = []string{"setup: " + err.Error()}
			return
		}
		if err := c.connectFirst(); err != nil {
			bad = []string{err.Error() + ": " + clip(c.firstLog(), 300)}
			return
		}
		for i, s := range tc.Steps {
			c.step(s, fmt.Sprint(i))
		}
		if tc.Control {
			bad = c.control()
		}
		bad = append(bad, c.checkAll()...)
		bad = append(bad, c.complaints...)
	}()
	return append(bad, c.checkLogs()...)
}

// bound is how long the case may take.
func (tc *testCase) bound() time.Duration {
	if tc.Timeout > 0 {
		return seconds(tc.Timeout)
	}
	return 75 * time.Second
}

// abort ends a case that takes too long: with its servers gone, nothing waits.
func (c *caseRun) abort() {
	c.complain("the case did not end within %v", c.tc.bound())
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		if s.cmd != nil && !s.ended() {
			s.cmd.Process.Kill()
		}
	}
	for _, b := range c.background {
		killGroup(b.Process.Pid)
	}
}

func (c *caseRun) complain(format string, a ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complaints = append(c.complaints, fmt.Sprintf(format, a...))
}

func sessionNames(steps []any) []string {
	var names []string
	for _, s := range steps {
		m, _ := s.(map[string]any)
		if n, ok := m["session"].(string); ok {
			names = append(names, n)
		}
		if p, ok := m["parallel"].([]any); ok {
			names = append(names, sessionNames(p)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// folders makes the folders of the case, and the values of the place holders.
func (c *caseRun) folders() error {
	// Not t.TempDir: its parent is closed to the ordinary user some cases need.
	base, err := os.MkdirTemp("", "mcpt_")
	if err != nil {
		return err
	}
	c.base = base
	if c.base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	la, err := c.launchForm()
	if err != nil {
		return err
	}
	name := la.Name
	if name == "" {
		name = "ws"
	}
	c.real, c.out, c.home = filepath.Join(c.base, name), filepath.Join(c.base, "out"), filepath.Join(c.base, "home")
	c.ws = c.real
	if err := os.Chmod(c.base, 0o755); err != nil {
		return err
	}
	for _, d := range []string{c.real, c.home, c.base + "/tmp", c.base + "/state"} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	if la.ViaSymlink {
		c.ws = filepath.Join(c.base, "wslink")
		if err := os.Symlink(c.real, c.ws); err != nil {
			return err
		}
	}
	port, err := freePort()
	c.vars = map[string]string{
		"WS": c.ws, "WSREAL": c.real, "WSNAME": filepath.Base(c.ws), "WS2": c.base + "/ws2", "OUT": c.out, "HOME": c.home,
		"STATE": c.base + "/state", "BASE": c.base, "PORT2": port, "WS_ENCODED": (&url.URL{Path: c.ws}).EscapedPath(),
	}
	return err
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// prepare makes the files of the case and runs its commands.
func (c *caseRun) prepare() error {
	var setup setupForm
	if err := decodeForm(expand(c.tc.Setup, c.copyVars()), &setup); err != nil {
		return err
	}
	if setup.Canary {
		if err := c.canary(); err != nil {
			return err
		}
	}
	for _, f := range setup.Files {
		data := []byte(f.Text)
		if f.B64 != nil {
			var err error
			if data, err = base64.StdEncoding.DecodeString(*f.B64); err != nil {
				return err
			}
		}
		if err := putFile(c.path(f.Path), string(data), 0o644); err != nil {
			return err
		}
	}
	if c.tc.Control {
		if err := putFile(c.path("zz_control.txt"), "control 7319\n", 0o644); err != nil {
			return err
		}
	}
	if c.drop {
		if err := giveAway(c.base); err != nil {
			return err
		}
	}
	for _, cmd := range setup.Commands {
		if out, err := c.shell(cmd); err != nil {
			return fmt.Errorf("%s: %w: %s", clip(cmd, 80), err, clip(out, 200))
		}
	}
	return c.photograph()
}

// photograph keeps how the folders look that must not change.
func (c *caseRun) photograph() error {
	k, err := c.checkForm()
	for _, dir := range k.TreeUnchanged {
		c.trees[dir] = tree(dir)
	}
	return err
}

// connectFirst starts the server, and shakes hands unless the sessions are named.
func (c *caseRun) connectFirst() error {
	la, err := c.launchForm()
	if err != nil || la.NoServer {
		return err
	}
	s, err := c.server(0)
	if err != nil {
		return err
	}
	if la.StartFails {
		if !s.waitEnd(5 * time.Second) {
			c.complain("the server started")
		}
		return nil
	}
	if len(c.sessions) > 0 || la.NoClient {
		return nil
	}
	_, err = c.client("")
	return err
}

func (c *caseRun) firstLog() string {
	if len(c.servers) == 0 {
		return ""
	}
	return c.servers[0].log()
}

// control makes ordinary calls: a server that does nothing must not pass.
func (c *caseRun) control() (bad []string) {
	calls := []struct{ tool, args, want string }{{"read_file", `{"file_path":"zz_control.txt"}`, "control 7319"}}
	switch c.tc.Tool {
	case "grep_search":
		calls = append(calls, struct{ tool, args, want string }{"grep_search", `{"pattern":"control 73"}`, "zz_control.txt"})
	case "list_files":
		calls = append(calls, struct{ tool, args, want string }{"list_files", `{"pattern":"zz_*.txt"}`, "zz_control.txt"})
	}
	cl, err := c.client("")
	if err != nil {
		return []string{"control: " + err.Error()}
	}
	for _, k := range calls {
		var args any
		unmarshal([]byte(k.args), &args)
		a := cl.request("tools/call", map[string]any{"name": k.tool, "arguments": args}, callTimeout, nil)
		if a.isError() || !strings.Contains(a.text(), k.want) {
			bad = append(bad, fmt.Sprintf("control: an ordinary %s fails afterwards: %.160q", k.tool, a.text()))
		}
	}
	return bad
}

// end stops everything and returns what went wrong with that.
func (c *caseRun) end() (bad []string) {
	for _, b := range c.background {
		killGroup(b.Process.Pid)
	}
	for _, s := range c.servers {
		if x := s.stop(false); x != "" {
			bad = append(bad, x)
		}
	}
	for _, b := range c.background {
		b.Wait()
	}
	left := processesOf(c.base)
	for deadline := time.Now().Add(1500 * time.Millisecond); len(left) > 0 && time.Now().Before(deadline); left = processesOf(c.base) {
		time.Sleep(50 * time.Millisecond)
	}
	for _, p := range left {
		if !c.tc.AllowLeftover {
			bad = append(bad, "left over after exit: "+clip(p.cmdline, 100))
		}
	}
	killAll(c.base)
	return bad
}

func (c *caseRun) remove() {
	if c.base == "" {
		return
	}
	filepath.WalkDir(c.base, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(p, 0o755)
		}
		return nil
	})
	os.RemoveAll(c.base)
}

func (c *caseRun) copyVars() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]string, len(c.vars))
	for k, v := range c.vars {
		out[k] = v
	}
	return out
}

func (c *caseRun) setVar(k, v string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vars[k] = v
}

// path is where p is: relative paths are in the workspace.
func (c *caseRun) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.ws, p)
}

func putFile(path, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// canary lays out what must stay secret and unchanged, a folder outside and keys
// in the home folder, and a few files inside.
func (c *caseRun) canary() error {
	const outside, key = "CANARY-OUT-5f1d\n", "CANARY-KEY-77ab\n"
	if err := os.MkdirAll(c.out+"/sub", 0o755); err != nil {
		return err
	}
	for _, f := range []struct {
		path, text string
		mode       fs.FileMode
	}{
		{c.out + "/secret", outside, 0o644}, {c.out + "/b.txt", "a " + outside, 0o644}, {c.out + "/f", outside, 0o644},
		{c.home + "/.ssh/id_ed25519", key, 0o600}, {c.home + "/.bashrc", "# mine\n", 0o644},
		{c.home + "/.netrc", "machine x login y password " + key, 0o600}, {c.home + "/.aws/credentials", key, 0o600},
		{c.real + "/a.txt", "first line a\n", 0o644}, {c.real + "/sub/b.txt", "inside b\n", 0o644},
		{c.real + "/run.sh", "#!/bin/sh\necho run\n", 0o644},
	} {
		if err := putFile(f.path, f.text, f.mode); err != nil {
			return err
		}
	}
	return nil
}
