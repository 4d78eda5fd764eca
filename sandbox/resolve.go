package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// Spellings are the ways to name the place: relative to each root that holds it,
// and absolute, with the links of the root as it was given and resolved.
func (w *Workspace) Spellings(p Path) []string {
	host := p.Host()
	out := []string{p.rel, filepath.ToSlash(host)}
	for _, r := range w.roots {
		rel, ok := below(r.real, host)
		if !ok {
			continue
		}
		out = append(out, rel, filepath.ToSlash(filepath.Join(r.given, filepath.FromSlash(rel))))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// SpellingsBelow is [Workspace.Spellings] for a slash path below the root that holds p.
func (w *Workspace) SpellingsBelow(p Path, rel string) []string {
	return w.Spellings(Path{root: p.root, rel: rel})
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
	return w.settle(p)
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
// The state directory is not part of any root, even where it lies in one; of it
// only single results are found.
func (w *Workspace) locateAbs(abs string) (*root, string, error) {
	if r, rel, ok := w.results.locate(abs); ok {
		return r, rel, nil
	}
	if w.results.holds(abs) {
		return nil, "", ErrEscapes
	}
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
	if best == nil {
		if r, rel, ok := w.library.locate(abs); ok {
			return r, rel, nil
		}
		return nil, "", ErrEscapes
	}
	return best, bestRel, nil
}

// RootOf is the root that an absolute path or pattern begins with, as it was
// given; "" if none does.
func (w *Workspace) RootOf(path string) string {
	r, _, err := w.locateAbs(filepath.Clean(path))
	if err != nil || !r.inside(w) {
		return ""
	}
	return r.given
}

// Hides tells whether a place below the root of p, given by its slash path, is
// none of a workspace's: the state directory.
func (w *Workspace) Hides(p Path, rel string) bool {
	return p.root.inside(w) && w.results.holds(filepath.Join(p.root.real, filepath.FromSlash(rel)))
}

// maxDepth is how many folders deep a path may go, as in a walk.
const maxDepth = 256

// A follower resolves a path component by component, on an open directory at a
// time. What it finds is only a name; whatever is opened later is opened without
// following any link.
type follower struct {
	w     *Workspace
	root  *root
	at    *os.Root // the directory done; nil: to be opened anew
	done  []string // resolved, without links
	todo  []string
	links int
	jumps int
}

func (w *Workspace) follow(r *root, rel string) (Path, error) {
	f := &follower{w: w, root: r, todo: split(rel)}
	defer f.leave()
	for len(f.todo) > 0 {
		if len(f.done)+len(f.todo) > maxDepth {
			return Path{}, badPath("the path goes more than %d folders deep", maxDepth)
		}
		p, found, err := f.step()
		if err != nil || found {
			return p, err
		}
	}
	return f.dirItself()
}

// step resolves the next component; found says that p is the end.
func (f *follower) step() (p Path, found bool, err error) {
	part := f.todo[0]
	f.todo = f.todo[1:]
	if part == ".." { // only from the text of a link
		return Path{}, false, f.up()
	}
	if err := f.enter(); err != nil {
		return Path{}, false, err
	}
	info, err := f.at.Lstat(part)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p, err := f.missing(part)
		return p, true, err
	case err != nil:
		return Path{}, false, escapeOr(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return Path{}, false, f.link(part)
	case len(f.todo) == 0:
		return Path{root: f.root, rel: join(append(f.done, part)), Exists: true, Info: info}, true, nil
	case !info.IsDir():
		return Path{}, false, &fs.PathError{Op: "open", Path: part, Err: errNotDir}
	}
	return Path{}, false, f.down(part)
}

// enter opens the directory the follower stands in, if it is not open.
func (f *follower) enter() error {
	if f.at != nil {
		return nil
	}
	at, err := f.root.dir.OpenRoot(".")
	if err != nil {
		return err
	}
	f.at = at
	for _, part := range f.done {
		if err := f.open(part); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) open(part string) error {
	sub, err := f.at.OpenRoot(part)
	if err != nil {
		return escapeOr(err)
	}
	f.at.Close()
	f.at = sub
	return nil
}

func (f *follower) leave() {
	if f.at != nil {
		f.at.Close()
		f.at = nil
	}
}

func (f *follower) down(part string) error {
	f.done = append(f.done, part)
	return f.open(part)
}

func (f *follower) up() error {
	f.leave()
	if len(f.done) > 0 {
		f.done = f.done[:len(f.done)-1]
		return nil
	}
	return f.jump(filepath.Dir(f.root.real))
}

func (f *follower) link(part string) error {
	if f.links++; f.links > maxLinks {
		return ErrTooManyLinks
	}
	target, err := f.at.Readlink(part)
	if err != nil {
		return escapeOr(err)
	}
	if filepath.IsAbs(target) {
		f.leave()
		f.done = nil
		return f.jump(target)
	}
	f.todo = append(split(filepath.ToSlash(target)), f.todo...)
	return nil
}

// missing is the place of a file that does not exist: nothing is there, and so
// no link, in the rest of its path. A ".." of a link's text leads nowhere then.
func (f *follower) missing(part string) (Path, error) {
	for _, rest := range f.todo {
		if rest == ".." {
			return Path{}, &fs.PathError{Op: "open", Path: part, Err: fs.ErrNotExist}
		}
	}
	return Path{root: f.root, rel: join(append(append(f.done, part), f.todo...))}, nil
}

// jump starts over at the root that holds what a link leads to: abs, which may
// lie outside, followed by as much of the rest as it takes to be inside again.
// Only words are compared; nothing outside the roots is looked at.
func (f *follower) jump(abs string) error {
	if f.jumps++; f.jumps > maxRedispatch {
		return ErrTooManyLinks
	}
	abs = filepath.Clean(abs)
	for {
		if r, rel, err := f.w.locateAbs(abs); err == nil {
			f.root, f.todo = r, append(split(rel), f.todo...)
			return nil
		}
		if len(f.todo) == 0 {
			return ErrEscapes
		}
		abs, f.todo = filepath.Join(abs, f.todo[0]), f.todo[1:]
	}
}

// dirItself is the place where a link, or a path of no components, ends.
func (f *follower) dirItself() (Path, error) {
	if err := f.enter(); err != nil {
		return Path{}, err
	}
	info, err := f.at.Stat(".")
	if err != nil {
		return Path{}, err
	}
	return Path{root: f.root, rel: join(f.done), Exists: true, Info: info}, nil
}

// settle moves a resolved place to the innermost root that holds it, so that a
// read-only root inside a writable one keeps its own rule.
func (w *Workspace) settle(p Path) (Path, error) {
	if !p.root.inside(w) {
		return p, nil // a saved result, or a folder of the library
	}
	if w.results.holds(p.Host()) {
		return Path{}, ErrEscapes
	}
	if len(w.roots) > 1 {
		if r, rel, err := w.locateAbs(p.Host()); err == nil {
			p.root, p.rel = r, rel
		}
	}
	return p, nil
}

func (r *root) inside(w *Workspace) bool {
	for _, x := range w.roots {
		if x == r {
			return true
		}
	}
	return false
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
