package main

import (
	"encoding/base64"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mcp-tools/sandbox"
)

// TestMain lets the test binary stand for the command: run under its name it is
// the command, and the shell helper when that runs itself once more.
func TestMain(m *testing.M) {
	if sandbox.Helper(os.Args) {
		return
	}
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") != "mcp-tools" {
		fourAtOnce()
	}
	testscript.Main(m, map[string]func(){"mcp-tools": main})
}

// fourAtOnce: cases and scripts wait more than they work, so that four of them
// fit on two processors. -parallel still decides when given.
func fourAtOnce() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		flag.Set("test.parallel", "4")
	}
}

// TestScript runs testdata/script/*.txtar, each in a folder of its own.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exitcode": exitCode, "frombase64": fromBase64, "webserver": webServer},
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			env.Setenv("COLUMNS", "80")
			return os.MkdirAll(home, 0o755)
		},
	})
}

// fromBase64 is the script command "frombase64 from to": a file that is no text.
func fromBase64(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: frombase64 from to")
	}
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o644))
}

// webServer is the script command "webserver dir": its files are served at $URL, and
// what is not there is told in a page.
func webServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: webserver dir")
	}
	s := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL)
}

// exitCode is the script command "exitcode N program args...": it runs the
// program and wants it to end with N, where "! exec" takes any failure.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
