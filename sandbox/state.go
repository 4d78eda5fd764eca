package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"sync"
	"time"
)

const (
	// keepResults is how long a saved result is kept, and maxResults how many
	// bytes of them there may be; the oldest go first.
	keepResults = 7 * 24 * time.Hour
	maxResults  = 256 << 20

	// sweepEvery bounds how often old results are looked for.
	sweepEvery = time.Minute
)

var resultName = regexp.MustCompile(`^result-[A-Z2-7]{26}\.txt$`)

// State is the directory of what this program keeps between calls: results too
// large to show, and what files were before they were changed. Nothing is made
// before something is saved. Safe for concurrent use.
type State struct {
	dir    string
	names  stateNames
	before preimages

	mu      sync.Mutex
	results *os.Root
	root    *root
	plans   *root
	swept   time.Time
}

// DefaultStateDir is where state is kept unless told otherwise:
// $XDG_STATE_HOME/mcp-tools (XDG Base Directory Specification).
func DefaultStateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "mcp-tools"), nil
	}
	if runtime.GOOS == "windows" {
		dir, err := os.UserCacheDir()
		return filepath.Join(dir, "mcp-tools"), err
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "mcp-tools"), err
}

// OpenState names the directory; it is made, 0700, when first needed.
func OpenState(dir string) *State {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return &State{dir: dir}
}

// Check tells whether the directory can be used, or made, as far as that can be told
// without making it.
func (st *State) Check() error {
	for dir := st.dir; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir:
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return errors.New(dir + " is no folder")
		}
		return writable(dir)
	}
}

// A SavedFile is a result on its way into the state directory. It is not safe
// for concurrent use.
type SavedFile struct {
	f    *os.File
	path string
	size int64
}

// Create starts a new result: mode 0600, with a name that can't be guessed.
func (st *State) Create() (*SavedFile, error) {
	if st == nil {
		return nil, errors.New("there is no state directory")
	}
	s, err := st.create()
	if errors.Is(err, fs.ErrNotExist) { // taken away in this very moment
		s, err = st.create()
	}
	return s, err
}

func (st *State) create() (*SavedFile, error) {
	r, err := st.open(true)
	if err != nil {
		return nil, err
	}
	st.sweep(r)
	name := "result-" + rand.Text() + ".txt"
	f, err := r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &SavedFile{f: f, path: filepath.Join(st.resultsDir(), name)}, nil
}

// Save writes a whole result.
func (st *State) Save(text string) (*SavedFile, error) {
	s, err := st.Create()
	if err != nil {
		return nil, err
	}
	if _, err := s.f.WriteString(text); err != nil {
		_ = s.Discard()
		return nil, err
	}
	s.size = int64(len(text))
	return s, s.Close()
}

func (st *State) resultsDir() string { return filepath.Join(st.dir, "results") }

// open returns the directory of results, made if make is set.
func (st *State) open(create bool) (*os.Root, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.isOpen() {
		return st.results, nil
	}
	// Somebody may have taken the directory away. The old one is not closed: who
	// still reads in it is not disturbed, and it is collected after them.
	st.results, st.root = nil, nil
	if create {
		if err := os.MkdirAll(st.resultsDir(), 0o700); err != nil {
			return nil, err
		}
	}
	r, err := os.OpenRoot(st.resultsDir())
	if err != nil {
		return nil, err
	}
	if err := keepPrivate(r); err != nil {
		r.Close()
		return nil, fmt.Errorf("results are for their owner alone: %w", err)
	}
	real, err := filepath.EvalSymlinks(st.resultsDir())
	if err != nil {
		r.Close()
		return nil, err
	}
	st.results = r
	st.root = &root{dir: r, given: st.resultsDir(), real: real, readOnly: true}
	return r, nil
}

// isOpen tells whether the open directory is still the one that has the name.
func (st *State) isOpen() bool {
	if st.results == nil {
		return false
	}
	open, err := st.results.Stat(".")
	if err != nil {
		return false
	}
	named, err := os.Stat(st.resultsDir())
	return err == nil && os.SameFile(open, named)
}

// keepPrivate takes the rights of others off a directory that was there already.
func keepPrivate(r *os.Root) error {
	info, err := r.Stat(".")
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return r.Chmod(".", 0o700)
}

// locate finds a saved result by its absolute path. The directory itself and
// other files in it are not found: a result is known only to who was told its name.
func (st *State) locate(abs string) (*root, string, bool) {
	if st != nil && planName.MatchString(filepath.Base(abs)) {
		return st.locatePlan(abs)
	}
	if st == nil || !resultName.MatchString(filepath.Base(abs)) {
		return nil, "", false
	}
	if _, err := st.open(false); err != nil {
		return nil, "", false
	}
	dir := filepath.Dir(abs)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.root == nil || dir != st.root.given && dir != st.root.real {
		return nil, "", false
	}
	return st.root, filepath.Base(abs), true
}

// sweep removes results that are too old, and the oldest while there are too many.
func (st *State) sweep(r *os.Root) {
	now := time.Now()
	st.mu.Lock()
	due := now.Sub(st.swept) >= sweepEvery
	if due {
		st.swept = now
	}
	st.mu.Unlock()
	if due {
		sweepResults(r, now, keepResults, maxResults)
	}
}

func sweepResults(r *os.Root, now time.Time, keep time.Duration, quota int64) {
	sweepOld(r, resultName, now, keep, quota)
}

// sweepOld removes the files called as pattern says that are too old, and the
// oldest of them while there is too much.
func sweepOld(r *os.Root, pattern *regexp.Regexp, now time.Time, keep time.Duration, quota int64) {
	d, err := r.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	infos, _ := d.Readdir(-1)
	sort.Slice(infos, func(i, j int) bool { return infos[i].ModTime().After(infos[j].ModTime()) })
	var total int64
	for _, info := range infos {
		if !info.Mode().IsRegular() || !pattern.MatchString(info.Name()) {
			continue
		}
		total += info.Size()
		if total > quota || now.Sub(info.ModTime()) > keep {
			_ = r.Remove(info.Name())
		}
	}
}

// Write adds to the result.
func (s *SavedFile) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	s.size += int64(n)
	return n, err
}

// ReadAt reads back what was written, while the file is open.
func (s *SavedFile) ReadAt(p []byte, off int64) (int, error) { return s.f.ReadAt(p, off) }

// Close ends the writing; the file stays.
func (s *SavedFile) Close() error { return s.f.Close() }

// Discard takes the file away.
func (s *SavedFile) Discard() error {
	s.f.Close()
	return os.Remove(s.path)
}

// Path is where the result lies, as read_file takes it.
func (s *SavedFile) Path() string { return s.path }

// URI is the file:// URI of the result.
func (s *SavedFile) URI() string { return toURI(s.path) }

// Size is how many bytes were written.
func (s *SavedFile) Size() int64 { return s.size }
