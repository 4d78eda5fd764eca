package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const canSeeProcesses = true

// A process that belongs to a case.
type process struct {
	pid     int
	cmdline string
}

// processesOf finds every living process of the case whose folders are in base:
// the folder's random name is in their environment (HOME, TMPDIR), or they work
// in it. So those are found too that have left their parent and their group.
func processesOf(base string) []process {
	var out []process
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	self := os.Getpid()
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil || pid == self || !belongs(d, base) {
			continue
		}
		line, _ := os.ReadFile(d + "/cmdline")
		if len(line) == 0 { // a zombie, or a kernel thread
			continue
		}
		out = append(out, process{pid, strings.TrimSpace(string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))})
	}
	return out
}

func belongs(proc, base string) bool {
	if env, err := os.ReadFile(proc + "/environ"); err == nil && bytes.Contains(env, []byte("="+base+"/")) {
		return true
	}
	cwd, err := os.Readlink(proc + "/cwd")
	return err == nil && (cwd == base || strings.HasPrefix(cwd, base+"/"))
}

// killAll ends every process of the case, one by one.
func killAll(base string) {
	for range 20 {
		left := processesOf(base)
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// peakMemory is that of the largest process of the case, in MB.
func peakMemory(base string) (top float64) {
	for _, p := range processesOf(base) {
		status, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/status")
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				top = max(top, kb/1024)
			}
		}
	}
	return top
}
