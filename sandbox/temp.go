package sandbox

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"sync"
)

// A temporary file of a write in progress lies beside the file it becomes. Its
// name can't be foretold, and it is locked while its writer lives: what is left
// by one that was killed is seen to have no owner and taken away.
const (
	tempPrefix = ".mcp-tools-"
	tempSuffix = ".tmp"
)

var tempName = regexp.MustCompile(`^\.mcp-tools-[A-Z2-7]{26}\.tmp$`)

func isTempName(name string) bool {
	return len(name) > len(tempPrefix) && name[:len(tempPrefix)] == tempPrefix && tempName.MatchString(name)
}

type tempFile struct {
	dir  *os.Root
	f    *os.File
	name string
	gone bool // renamed or removed
}

// newTemp makes an empty temporary file in dir, mode 0600, locked.
func newTemp(dir *os.Root) (*tempFile, error) {
	for range 10 {
		name := tempPrefix + rand.Text() + tempSuffix
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, escapeOr(err)
		}
		t := &tempFile{dir: dir, f: f, name: name}
		if lockFile(f) && t.isLinked() {
			return t, nil
		}
		t.discard() // another process tidied up in the moment before the lock
	}
	return nil, errors.New("no temporary file could be made")
}

func (t *tempFile) isLinked() bool {
	info, err := t.f.Stat()
	if err != nil {
		return false
	}
	named, err := t.dir.Lstat(t.name)
	return err == nil && os.SameFile(info, named)
}

// fill writes content, gives the file what is kept of cur, and flushes it.
func (t *tempFile) fill(content []byte, cur Current) error {
	if _, err := t.f.Write(content); err != nil {
		return err
	}
	mode := 0o666 &^ umask
	if cur.Exists {
		keepOwner(t.f, cur.Info)
		mode = cur.Info.Mode().Perm()
	}
	if err := t.f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if cur.Exists {
		keepAttributes(t.dir, t.f, cur.Info)
	}
	return t.f.Sync()
}

// discard removes the file unless it has got its name.
func (t *tempFile) discard() {
	if !t.gone {
		_ = t.dir.Remove(t.name)
		t.gone = true
	}
	t.f.Close()
}

// tidied remembers which directories this process has already freed of what
// killed processes left.
type tidied struct {
	mu   sync.Mutex
	done map[string]bool
}

// maxTidied bounds the memory of tidied; beyond it directories are tidied again.
const maxTidied = 4096

func (t *tidied) once(p Path, dir *os.Root) {
	key := p.root.real + "\x00" + dirName(p.rel)
	t.mu.Lock()
	seen := t.done[key]
	if !seen {
		if t.done == nil || len(t.done) >= maxTidied {
			t.done = make(map[string]bool)
		}
		t.done[key] = true
	}
	t.mu.Unlock()
	if !seen {
		removeOrphans(dir)
	}
}

// removeOrphans removes temporary files whose writer is dead.
func removeOrphans(dir *os.Root) {
	d, err := dir.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if isTempName(name) {
			removeOrphan(dir, name)
		}
	}
}

func removeOrphan(dir *os.Root, name string) {
	f, _, err := openRegular(dir, name)
	if err != nil {
		return
	}
	defer f.Close()
	if lockFile(f) {
		_ = dir.Remove(name)
	}
}
