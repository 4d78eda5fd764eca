package sandbox

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// proc is a line of the process table.
type proc struct {
	pid, parent, group, session int
	state                       byte
}

func (p proc) dead() bool { return p.state == 'Z' || p.state == 'X' }

var (
	errNoTable = errors.New("the process table cannot be read")
	errLeft    = errors.New("some processes cannot be killed")
)

// processes reads the process table.
func processes() ([]proc, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, errNoTable
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, errNoTable
	}
	var list []proc
	for _, name := range names {
		pid, ok := number(name)
		if !ok {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended
		}
		if p, ok := parseStat(pid, stat); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0
}

// parseStat reads "pid (name) state parent group session …"; the name may hold
// anything, parentheses and line breaks included.
func parseStat(pid int, stat []byte) (proc, bool) {
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return proc{}, false
	}
	f := strings.Fields(string(stat[i+1:]))
	if len(f) < 4 {
		return proc{}, false
	}
	p := proc{pid: pid, state: f[0][0]}
	for i, n := range []*int{&p.parent, &p.group, &p.session} {
		v, err := strconv.Atoi(f[i+1])
		if err != nil {
			return proc{}, false
		}
		*n = v
	}
	return p, true
}

// descendants returns the living descendants of root.
func descendants(root int) ([]proc, error) {
	list, err := processes()
	if err != nil {
		return nil, err
	}
	children := map[int][]proc{}
	for _, p := range list {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []proc
	todo := []int{root}
	for len(todo) > 0 {
		next := children[todo[0]]
		delete(children, todo[0]) // a table read while it changed may have a circle
		todo = todo[1:]
		for _, p := range next {
			todo = append(todo, p.pid)
			if !p.dead() {
				found = append(found, p)
			}
		}
	}
	return found, nil
}

// killBelow kills all descendants of root, a subreaper. They are stopped first,
// until no new ones appear, so that none forks away from under the blow.
func killBelow(root int, deadline time.Time) error {
	for {
		list, err := freeze(root)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, p := range list {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
		if time.Now().After(deadline) {
			return errLeft
		}
		time.Sleep(2 * time.Millisecond) // dying takes a moment
	}
}

// freeze stops all descendants and returns them.
func freeze(root int) ([]proc, error) {
	const rounds = 10 // who forks faster is caught by the caller's next try
	stopped := map[int]bool{}
	for range rounds {
		list, err := descendants(root)
		if err != nil {
			return nil, err
		}
		fresh := false
		for _, p := range list {
			if !stopped[p.pid] {
				stopped[p.pid], fresh = true, true
				_ = syscall.Kill(p.pid, syscall.SIGSTOP)
			}
		}
		if !fresh {
			return list, nil
		}
	}
	return descendants(root)
}

// endGroup asks a process group below root to end, if there is such a one: a
// number without a group may be somebody else's soon.
func endGroup(root, group int) {
	list, err := descendants(root)
	if err != nil {
		return
	}
	for _, p := range list {
		if p.group == group {
			_ = syscall.Kill(-group, syscall.SIGTERM)
			return
		}
	}
}

// killSession kills what is in a session whose reaper is gone.
func killSession(session int) {
	for range 10 {
		list, err := processes()
		if err != nil {
			return
		}
		alive := false
		for _, p := range list {
			if p.session == session && !p.dead() {
				alive = true
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
		if !alive {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}
