package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// quietEnv keeps programs from asking, paging and colouring. CI is left as it
// is: some programs change what they do for it.
var quietEnv = []string{
	"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1", "TERM=dumb",
}

// unsetEnv is not passed on: colour forced for the server's own terminal, and
// the directories of a shell that is not ours.
var unsetEnv = []string{"FORCE_COLOR", "CLICOLOR_FORCE", "PWD", "OLDPWD"}

const ownPrefix = "MCP_TOOLS_"

// environment is what every command gets, made from base, or from the
// process's own if that is nil.
func (s *Shell) environment(base []string) []string {
	inherited := base == nil
	if inherited {
		base = os.Environ()
	}
	env := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return inherited && strings.HasPrefix(name, ownPrefix) || slices.Contains(unsetEnv, name) ||
			slices.ContainsFunc(quietEnv, func(q string) bool { return strings.HasPrefix(q, name+"=") })
	})
	env = append(env, quietEnv...)
	if path := lookupEnv(env, "PATH"); inherited && bare(path) {
		env = setEnv(env, "PATH", joinPaths(s.loginPath(env), path))
	}
	return env
}

func lookupEnv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

func setEnv(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	return append(env, name+"="+value)
}

// systemDirs is what a program started from a desktop rather than from a
// shell has in its PATH.
var systemDirs = []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin"}

// bare reports whether a PATH is one that no user would work with.
func bare(path string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	for _, dir := range filepath.SplitList(path) {
		if dir != "" && !slices.Contains(systemDirs, filepath.Clean(dir)) {
			return false
		}
	}
	return true
}

// joinPaths is path a and what b has beyond it.
func joinPaths(a, b string) string {
	dirs := filepath.SplitList(a)
	for _, dir := range append(filepath.SplitList(b), systemDirs...) {
		if dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

const (
	loginWait = 3 * time.Second
	pathMark  = "<<mcp-tools-path>>"
)

// loginPath is the PATH the user's login shell sets up, or "" where that does
// not tell soon enough.
func (s *Shell) loginPath(env []string) string {
	shell := lookupEnv(env, "SHELL")
	if !filepath.IsAbs(shell) {
		return ""
	}
	home := lookupEnv(env, "HOME")
	if !filepath.IsAbs(home) {
		home = "/"
	}
	// Start files may write something too, hence the marks. The quotes make
	// one string of it in fish as well.
	line := "printf '%s%s%s' '" + pathMark + `' "$PATH" '` + pathMark + "'"
	f, err := s.run(context.Background(), Command{Timeout: loginWait},
		job{Path: shell, Args: []string{shell, "-lc", line}, Dir: home, Env: env})
	if err != nil {
		return ""
	}
	defer f.Stdout.Discard()
	defer f.Stderr.Discard()
	text, _ := f.Stdout.Text()
	_, text, _ = strings.Cut(text, pathMark)
	path, _, marked := strings.Cut(text, pathMark)
	if !marked || strings.ContainsAny(path, "\n") {
		return ""
	}
	return path
}

// findShell is bash where there is one, else sh.
func findShell(env []string) (string, error) {
	for _, name := range []string{"bash", "sh"} {
		dirs := append(filepath.SplitList(lookupEnv(env, "PATH")), "/bin", "/usr/bin", "/usr/local/bin")
		for _, dir := range dirs {
			path := filepath.Join(dir, name)
			if filepath.IsAbs(dir) && executable(path) {
				return path, nil
			}
		}
	}
	return "", errors.New("neither bash nor sh was found")
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
