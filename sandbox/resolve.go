package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxLinks      = 40 // as the Linux kernel
	maxRedispatch = 8  // links that start over at a root
)

// A Path is a place in a workspace, with every link on the way resolved; the
// file itself need not exist. It is only a name: what lies there is judged again
// whenever it is opened.
type Path struct {
	root *root
	rel  string // slash path below the root, "." for the root itself
	// Exists tells whether something was there when the path was resolved.
	Exists bool
	// Info describes it then (never a link).
	Info fs.FileInfo
}

// Key identifies the place in this workspace, for maps.
func (p Path) Key() string { return p.root.real + "\x00" + p.rel }

// Rel is the place relative to its root, with "/".
func (p Path) Rel() string { return p.rel }

// Base is the last component.
func (p Path) Base() string { return baseName(p.rel) }

// ReadOnly tells whether the root may only be read.
func (p Path) ReadOnly() bool { return p.root.readOnly }

// Host is the real path on this machine. For starting processes, not for messages.
func (p Path) Host() string { return filepath.Join(p.root.real, filepath.FromSlash(p.rel)) }

// Show is the path as results name it: relative to the root, or absolute when
// there are several roots and it is not in the first.
func (w *Workspace) Show(p Path) string {
	if len(w.roots) > 0 && p.root == w.roots[0] {
		return p.rel
	}
	return filepath.ToSlash(filepath.Join(p.root.given, filepath.FromSlash(p.rel)))
}

// ShowBelow is [Workspace.Show] for a slash path below the root that holds p.
func (w *Workspace) ShowBelow(p Path, rel string) string {
	return w.Show(Path{root: p.root, rel: rel})
}

// URI is the file:// URI of the place.
func (p Path) URI() string {
	return toURI(filepath.Join(p.root.given, filepath.FromSlash(p.rel)))
}

// Resolve finds the place that name means: absolute, relative to the first
// root, or a file:// URI. Errors: [BadPathError], [ErrEscapes] (and nothing
// about what is there), [ErrTooManyLinks], or what the file system says.
// A place that does not exist is no error as long as its parents are no files.
func (w *Workspace) Resolve(name string) (Path, error) {
	path, err := fromURI(name)
	if err != nil {
		return Path{}, err
	}
	if err := checkPath(path); err != nil {
		return Path{}, err
	}
	r, rel, err := w.locate(filepath.FromSlash(path))
	if err != nil {
		return Path{}, err
	}
	p, err := w.follow(r, rel)
	if err != nil {
		return Path{}, err
	}
	return w.settle(p), nil
}

// locate finds the root of a path by its words alone.
func (w *Workspace) locate(path string) (*root, string, error) {
	if !filepath.IsAbs(path) {
		r := w.roots[0]
		rel := filepath.ToSlash(filepath.Clean(path))
		if rel != ".." && !strings.HasPrefix(rel, "../") && !strings.HasPrefix(rel, "/") {
			return r, rel, nil
		}
		path = filepath.Join(r.given, path) // may still lie in another root
	}
	return w.locateAbs(filepath.Clean(path))
}

// locateAbs finds the root that holds a clean absolute path: the longest wins.
func (w *Workspace) locateAbs(abs string) (*root, string, error) {
	var best *root
	var bestRel string
	bestLen := -1
	for _, r := range w.roots {
		for _, dir := range [2]string{r.given, r.real} {
			if rel, ok := below(dir, abs); ok && len(dir) > bestLen {
				best, bestRel, bestLen = r, rel, len(dir)
			}
		}
	}
	if best != nil {
		return best, bestRel, nil
	}
	if r, rel, ok := w.results.locate(abs); ok {
		return r, rel, nil
	}
	return nil, "", ErrEscapes
}

// follow resolves the links on the way to rel, component by component. What it
// finds is only a name; opening goes through os.Root, which holds the wall even
// if the names are exchanged meanwhile.
func (w *Workspace) follow(r *root, rel string) (Path, error) {
	var done []string // resolved, without links
	todo := split(rel)
	links, jumps := 0, 0
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		if part == ".." { // only from the text of a link
			if len(done) > 0 {
				done = done[:len(done)-1]
				continue
			}
			var err error
			if r, todo, err = w.jump(filepath.Dir(r.real), todo, &jumps); err != nil {
				return Path{}, err
			}
			continue
		}
		here := join(append(done, part))
		info, err := r.dir.Lstat(here)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return w.missing(r, append(done, part), todo)
		case err != nil:
			return Path{}, escapeOr(err)
		case info.Mode()&fs.ModeSymlink == 0:
			if len(todo) == 0 {
				return Path{root: r, rel: here, Exists: true, Info: info}, nil
			}
			if !info.IsDir() {
				return Path{}, &fs.PathError{Op: "open", Path: here, Err: errNotDir}
			}
			done = append(done, part)
			continue
		}
		if links++; links > maxLinks {
			return Path{}, ErrTooManyLinks
		}
		target, err := r.dir.Readlink(here)
		if err != nil {
			return Path{}, escapeOr(err)
		}
		if filepath.IsAbs(target) {
			if r, todo, err = w.jump(target, todo, &jumps); err != nil {
				return Path{}, err
			}
			done = nil
			continue
		}
		todo = append(split(filepath.ToSlash(target)), todo...)
	}
	return w.atDir(r, join(done))
}

// jump starts over at the root that holds what a link leads to: abs, which may
// lie outside, followed by as much of rest as it takes to be inside again. Only
// words are compared; nothing outside the roots is looked at.
func (w *Workspace) jump(abs string, rest []string, jumps *int) (*root, []string, error) {
	if *jumps++; *jumps > maxRedispatch {
		return nil, nil, ErrTooManyLinks
	}
	abs = filepath.Clean(abs)
	for {
		if r, rel, err := w.locateAbs(abs); err == nil {
			return r, append(split(rel), rest...), nil
		}
		if len(rest) == 0 {
			return nil, nil, ErrEscapes
		}
		abs, rest = filepath.Join(abs, rest[0]), rest[1:]
	}
}

// settle moves a resolved place to the innermost root that holds it, so that a
// read-only root inside a writable one keeps its own rule.
func (w *Workspace) settle(p Path) Path {
	if len(w.roots) < 2 || !p.root.inside(w) {
		return p
	}
	if r, rel, err := w.locateAbs(p.Host()); err == nil {
		p.root, p.rel = r, rel
	}
	return p
}

func (r *root) inside(w *Workspace) bool {
	for _, x := range w.roots {
		if x == r {
			return true
		}
	}
	return false
}

func (w *Workspace) atDir(r *root, rel string) (Path, error) {
	info, err := r.dir.Lstat(rel)
	if err != nil {
		return Path{}, escapeOr(err)
	}
	return Path{root: r, rel: rel, Exists: true, Info: info}, nil
}

// missing is the place of a file that does not exist: the rest of its path has
// no links, for there is nothing there.
func (w *Workspace) missing(r *root, done, todo []string) (Path, error) {
	for _, part := range todo {
		if part == ".." {
			if len(done) == 0 {
				return Path{}, ErrEscapes
			}
			done = done[:len(done)-1]
			continue
		}
		done = append(done, part)
	}
	return Path{root: r, rel: join(done)}, nil
}

// escapeOr turns os.Root's refusal into ErrEscapes.
func escapeOr(err error) error {
	if isEscape(err) {
		return ErrEscapes
	}
	return err
}

// isEscape recognises os.Root's errPathEscapes, which the os package does not export.
func isEscape(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) && pe.Err.Error() == "path escapes from parent"
}

func split(rel string) []string {
	parts := strings.Split(rel, "/")
	out := parts[:0]
	for _, p := range parts {
		if p != "" && p != "." {
			out = append(out, p)
		}
	}
	return out
}

func join(parts []string) string {
	if len(parts) == 0 {
		return "."
	}
	return strings.Join(parts, "/")
}

func baseName(rel string) string {
	return rel[strings.LastIndexByte(rel, '/')+1:]
}

func dirName(rel string) string {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i]
	}
	return "."
}

// subRoot opens the directory called name below r and makes sure that no link
// was followed: what was opened must be what the name is.
func subRoot(r *os.Root, name string) (*os.Root, error) {
	sub, err := r.OpenRoot(name)
	if err != nil {
		return nil, escapeOr(err)
	}
	open, err := sub.Stat(".")
	if err == nil {
		var named fs.FileInfo
		if named, err = r.Lstat(name); err == nil && os.SameFile(open, named) {
			return sub, nil
		}
	}
	sub.Close()
	if err == nil {
		err = ErrChanged
	}
	return nil, err
}
