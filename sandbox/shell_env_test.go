//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBare(t *testing.T) {
	for path, want := range map[string]bool{
		"":                               true,
		"/usr/bin:/bin:/usr/sbin:/sbin":  true,
		"/usr/bin/:/bin":                 true,
		"/usr/local/bin:/usr/bin:/bin":   false,
		"/home/u/go/bin:/usr/bin":        false,
		"relative:/usr/bin":              false,
		"/opt/homebrew/bin:/usr/bin:bin": false,
	} {
		assert.Equal(t, want, bare(path), path)
	}
}

func TestShellEnvironment(t *testing.T) {
	t.Setenv("MCP_TOOLS_TOKEN", "secret")
	t.Setenv("FORCE_COLOR", "1")
	t.Setenv("PAGER", "less")
	t.Setenv("CI", "yes")
	t.Setenv("PATH", "/x/bin:/usr/bin:/bin")
	env := NewShell(ShellOptions{}).env()
	for _, absent := range []string{"MCP_TOOLS_TOKEN=secret", "FORCE_COLOR=1", "PAGER=less"} {
		assert.NotContains(t, env, absent)
	}
	for _, present := range append(slices.Clone(quietEnv), "CI=yes", "PATH=/x/bin:/usr/bin:/bin") {
		assert.Contains(t, env, present)
	}

	env = NewShell(ShellOptions{Env: []string{"A=1", "TERM=xterm"}}).env()
	assert.Equal(t, append([]string{"A=1"}, quietEnv...), env)
}

func loginShell(t *testing.T, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "login-shell")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700))
	t.Setenv("SHELL", path)
	t.Setenv("PATH", "/usr/bin:/bin")
}

func TestLoginPath(t *testing.T) {
	// The script stands for a shell that reads its start files first.
	loginShell(t, `echo noise "$1"; PATH=/opt/tools/bin:/usr/bin; export PATH; exec /bin/sh -c "$2"`)
	s := testShell(t)
	f := runCommand(t, s, Command{Line: "echo $PATH"})
	assert.Equal(t, "/opt/tools/bin:/usr/bin:/bin:/usr/sbin:/sbin\n", text(t, f.Stdout))
}

func TestLoginPathThatDoesNotTell(t *testing.T) {
	for name, script := range map[string]string{"fails": "exit 1", "hangs": "trap '' TERM; sleep 6020", "talks": "echo /x/bin"} {
		t.Run(name, func(t *testing.T) {
			loginShell(t, script)
			s := testShell(t)
			f := runCommand(t, s, Command{Line: "echo $PATH"})
			assert.Equal(t, "/usr/bin:/bin:/usr/sbin:/sbin\n", text(t, f.Stdout))
		})
	}
}

func TestFindShell(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "bash")
	require.NoError(t, os.WriteFile(own, nil, 0o600))
	got, err := findShell([]string{"PATH=" + dir})
	require.NoError(t, err)
	assert.NotEqual(t, own, got, "not executable")
	require.NoError(t, os.Chmod(own, 0o700))
	got, err = findShell([]string{"PATH=bin:" + dir})
	require.NoError(t, err)
	assert.Equal(t, own, got)
}
