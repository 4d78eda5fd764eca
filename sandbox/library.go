package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

const (
	// maxShelf is how many folders of one directory are looked at.
	maxShelf = 1000
	// maxOpenFolders bounds the folders kept open.
	maxOpenFolders = 64
)

// A Library is made of directories of the user's whose folders hold something for a
// model to read: skills. They need not be in any root. A folder may be a link to
// somewhere else, for its owner has put it there; links inside of it that leave it are
// not followed. Nothing is written, and nothing is opened before it is asked for.
// Safe for concurrent use.
type Library struct {
	dirs []string // absolute
	mark string   // the file that makes a folder one of the library

	mu   sync.Mutex
	open map[string]*root
}

// NewLibrary names the directories, those first that count first. They need not exist.
// Only folders that hold the file mark count.
func NewLibrary(mark string, dirs []string) *Library {
	l := &Library{mark: mark, open: make(map[string]*root)}
	for _, d := range dirs {
		if abs, err := filepath.Abs(d); err == nil && !slices.Contains(l.dirs, abs) {
			l.dirs = append(l.dirs, abs)
		}
	}
	return l
}

// Folders are the paths of all folders, in the order of the directories and by name.
func (l *Library) Folders() []string {
	if l == nil {
		return nil
	}
	var all []string
	for _, dir := range l.dirs {
		d, err := os.Open(dir)
		if err != nil {
			continue
		}
		names, _ := d.Readdirnames(maxShelf)
		d.Close()
		slices.Sort(names)
		for _, name := range names {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				all = append(all, path)
			}
		}
	}
	return all
}

// Open opens a regular file of a folder, by its slash path there.
func (l *Library) Open(folder, file string) (*os.File, fs.FileInfo, error) {
	r, err := l.folder(folder)
	if err != nil {
		return nil, nil, err
	}
	dir, name := dirName(file), baseName(file)
	if dir == "." {
		return openRegular(r.dir, name)
	}
	sub, err := r.dir.OpenRoot(dir)
	if err != nil {
		return nil, nil, escapeOr(err)
	}
	defer sub.Close()
	return openRegular(sub, name)
}

// Walk starts a walk of a folder. The caller closes it.
func (l *Library) Walk(folder string) (*Dir, error) {
	r, err := l.folder(folder)
	if err != nil {
		return nil, err
	}
	h, err := openDirHandle(r.dir)
	if err != nil {
		return nil, err
	}
	return &Dir{h}, nil
}

// folder opens a folder anew unless it is still the one that is open.
func (l *Library) folder(path string) (*root, error) {
	if l == nil || !slices.Contains(l.dirs, filepath.Dir(path)) {
		return nil, fs.ErrNotExist
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.open[path]; r != nil {
		open, errA := r.dir.Stat(".")
		named, errB := os.Stat(real)
		if errA == nil && errB == nil && os.SameFile(open, named) {
			return r, nil
		}
	}
	dir, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	if len(l.open) >= maxOpenFolders {
		clear(l.open) // who still reads in one is not disturbed; they are collected after them
	}
	r := &root{dir: dir, given: path, real: real, readOnly: true}
	l.open[path] = r
	return r, nil
}

// locate finds the folder that holds a clean absolute path.
func (l *Library) locate(abs string) (*root, string, bool) {
	if l == nil {
		return nil, "", false
	}
	for _, dir := range l.dirs {
		rel, ok := below(dir, abs)
		if !ok || rel == "." {
			continue
		}
		parts := split(rel)
		if r, err := l.folder(filepath.Join(dir, parts[0])); err == nil && l.marked(r) {
			return r, join(parts[1:]), true
		}
	}
	return nil, "", false
}

// marked tells whether a folder is one of the library.
func (l *Library) marked(r *root) bool {
	info, err := r.dir.Lstat(l.mark)
	return err == nil && info.Mode().IsRegular()
}

// ErrTooLong: a file is longer than what was wanted of it.
var ErrTooLong = errors.New("it is too long")

// ReadText reads an open file that may have at most limit bytes, and closes it.
func ReadText(f *os.File, limit int64) ([]byte, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, ErrTooLong
	}
	return data, err
}
