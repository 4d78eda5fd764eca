package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
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
	info fs.FileInfo // once it is filled
	name string
	gone bool // renamed or removed
}

// newTemp makes an empty temporary file in dir, locked. A private one is for
// its owner alone, whatever the directory hands down; another one has the
// permissions of any program's new file, umask and default ACL as the system
// applies them.
func newTemp(dir *os.Root, private bool) (*tempFile, error) {
	perm := fs.FileMode(0o666)
	if private {
		perm = 0o600
	}
	for range 10 {
		name := tempPrefix + rand.Text() + tempSuffix
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, escapeOr(err)
		}
		t := &tempFile{dir: dir, f: f, name: name}
		if private {
			// Inherited entries have no effect yet, but would with the group's bits.
			if err := removeACL(f); err != nil {
				t.discard()
				return nil, err
			}
		}
		if lockFile(f) != lockedByOther && t.isLinked() {
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

// fill writes content, gives the file what is kept of old, and flushes it. The
// notes say what could not be kept.
func (t *tempFile) fill(ctx context.Context, content Parts, old *original) (notes []string, err error) {
	for _, part := range content {
		if err := t.write(ctx, part); err != nil {
			return nil, err
		}
	}
	if old.Exists {
		if notes, err = t.keep(old); err != nil {
			return nil, err
		}
	}
	if err := t.f.Sync(); err != nil {
		return nil, err
	}
	t.info, err = t.f.Stat()
	return notes, err
}

func (t *tempFile) write(ctx context.Context, part []byte) error {
	for len(part) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := t.f.Write(part[:min(chunk, len(part))])
		if err != nil {
			return err
		}
		part = part[n:]
	}
	return nil
}

// keep gives the file the attributes and permissions of old. The owner comes
// before the permissions, so that at no moment they are another's.
func (t *tempFile) keep(old *original) (notes []string, err error) {
	copyAttributes(old.f, t.f)
	sameOwner, sameGroup, err := keepOwner(t.f, old.Info)
	if err != nil {
		return nil, err
	}
	mode, acl := old.Info.Mode().Perm(), old.acl
	if !sameOwner {
		notes = append(notes, "the owner could not be kept")
	}
	if !sameGroup {
		note := "the group could not be kept"
		less, lessACL := forAnotherGroup(mode, acl)
		if less != mode || !bytes.Equal(lessACL, acl) {
			note += "; group permissions were dropped to those of others"
		}
		notes, mode, acl = append(notes, note), less, lessACL
	}
	if acl != nil {
		return notes, writeACL(t.f, acl) // which has the mode in it
	}
	if err := t.f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	return notes, nil
}

// forAnotherGroup takes from permissions what they may not mean when the file
// gets another group: the new one may do no more than others could, and the old
// one, whose members are others now, no more than it could.
func forAnotherGroup(mode fs.FileMode, acl []byte) (fs.FileMode, []byte) {
	if acl != nil {
		return aclForAnotherGroup(mode, acl)
	}
	both := mode >> 3 & mode & 0o7
	return mode&0o700 | both<<3 | both, nil
}

// infoAs describes the file after it was given the name base: by that name, for
// then a later look finds the same, or, where somebody has moved it since, as it
// was written.
func (t *tempFile) infoAs(base string) fs.FileInfo {
	if named, err := t.dir.Lstat(base); err == nil && os.SameFile(named, t.info) {
		return named
	}
	info := t.info
	if now, err := t.f.Stat(); err == nil { // closed on Windows
		info = now
	}
	return namedInfo{info, base}
}

type namedInfo struct {
	fs.FileInfo
	name string
}

func (i namedInfo) Name() string { return i.name }

// discard removes the file unless it has got its name.
func (t *tempFile) discard() {
	if !t.gone {
		_ = t.dir.Remove(t.name)
		t.gone = true
	}
	t.f.Close()
}

// tidied remembers when directories were last freed of what killed processes left.
type tidied struct {
	mu   sync.Mutex
	last map[string]time.Time
}

const (
	// tidyEvery bounds how often a directory is looked through.
	tidyEvery = 10 * time.Minute
	// maxTidied bounds the memory of tidied; beyond it directories are tidied again.
	maxTidied = 4096
	// orphanAge is longer than any write takes.
	orphanAge = time.Hour
)

// tidy frees the directory of p of what killed processes left, now and then.
func (t *tidied) tidy(p Path, dir *os.Root) {
	now := time.Now()
	if t.due(filepath.Dir(p.Host()), now) {
		removeOrphans(dir, now)
	}
}

func (t *tidied) due(key string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, seen := t.last[key]; seen && now.Sub(last) < tidyEvery {
		return false
	}
	if t.last == nil || len(t.last) >= maxTidied {
		t.last = make(map[string]time.Time)
	}
	t.last[key] = now
	return true
}

// removeOrphans removes temporary files whose writer is dead.
func removeOrphans(dir *os.Root, now time.Time) {
	d, err := dir.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if isTempName(name) {
			removeOrphan(dir, name, now)
		}
	}
}

func removeOrphan(dir *os.Root, name string, now time.Time) {
	f, info, err := openRegular(dir, name)
	if err != nil {
		return
	}
	defer f.Close()
	if isOrphan(lockFile(f), now.Sub(info.ModTime())) {
		_ = dir.Remove(name)
	}
}

// isOrphan tells whether a temporary file has no writer any more. Where files
// are not locked, only its age says so.
func isOrphan(l lockResult, age time.Duration) bool {
	return l == locked || l == noLocks && age >= orphanAge
}

// lockResult is what came of an attempt to lock a file.
type lockResult int

const (
	locked        lockResult = iota
	lockedByOther            // its writer lives
	noLocks                  // the file system or the system has none
)
