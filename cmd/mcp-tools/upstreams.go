package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcp-tools/sandbox"
	"mcp-tools/server/bridge"
	"mcp-tools/tools"
)

const (
	// maxServerFile is the largest file of --mcp-config in bytes.
	maxServerFile = 4 << 20
	// depthVariable counts the servers above this one that were started by another of
	// this program, and maxDepth is how many there may be: a configuration may name
	// the program that reads it.
	depthVariable = "MCP_TOOLS_DEPTH"
	maxDepth      = 4
)

// upstreams are the servers of --mcp-config, and where the files lie: what stands
// there is run, so no tool may write it.
func (c *config) upstreams() (list []bridge.Entry, files []string, err error) {
	for _, file := range c.servers {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, nil, usagef("--mcp-config %s: %v", file, err)
		}
		data, err := readServerFile(path)
		if err != nil {
			return nil, nil, usagef("--mcp-config %s: %v", file, err)
		}
		entries, err := bridge.Parse(data, os.LookupEnv)
		if err != nil {
			return nil, nil, usagef("--mcp-config %s: %v", file, err)
		}
		files = append(files, path)
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			files = append(files, real)
		}
		if list, err = bridge.Join(list, slices.DeleteFunc(entries, isSelf)); err != nil {
			return nil, nil, usagef("--mcp-config %s: %v", file, err)
		}
	}
	return list, files, nil
}

func readServerFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err) // the path is said already
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxServerFile+1))
	if err == nil && len(data) > maxServerFile {
		err = fmt.Errorf("it is longer than %d MiB", maxServerFile>>20)
	}
	return data, err
}

// isSelf: a host's own file names this server too, and with the same --mcp-config it
// would start itself again and again.
func isSelf(e bridge.Entry) bool {
	if e.Command == "" || !slices.ContainsFunc(e.Args, func(a string) bool { return strings.HasPrefix(a, "--mcp-config") }) {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		return false
	}
	path, err := exec.LookPath(e.Command)
	if err != nil {
		return false
	}
	a, errA := os.Stat(self)
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// bridgeTo offers the tools of the servers. The function it returns lets go of them.
func bridgeTo(servers []bridge.Entry, reg *tools.Registry, shell *sandbox.Shell, state *sandbox.State, ws *sandbox.Workspace, log *slog.Logger) func() {
	depth, _ := strconv.Atoi(os.Getenv(depthVariable))
	if len(servers) == 0 {
		return func() {}
	}
	if depth >= maxDepth {
		log.Warn("no other servers are started: this one was started by another, and that by another", "depth", depth)
		return func() {}
	}
	dir := ""
	if ws != nil {
		dir = ws.Roots()[0].Dir
	}
	b := bridge.New(bridge.Options{
		Servers: servers, Registry: reg, Shell: shell, State: state, Dir: dir,
		Env: []string{depthVariable + "=" + strconv.Itoa(depth+1)}, Version: version(), Log: log,
	})
	return b.Close
}
