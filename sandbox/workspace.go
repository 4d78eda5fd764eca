package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A RootSpec is one directory tools may work in.
type RootSpec struct {
	Dir      string
	ReadOnly bool
}

// ParseRoot reads DIR[:ro] or DIR[:rw].
func ParseRoot(s string) (RootSpec, error) {
	spec := RootSpec{Dir: s}
	if dir, ok := strings.CutSuffix(s, ":ro"); ok {
		spec = RootSpec{Dir: dir, ReadOnly: true}
	} else if dir, ok := strings.CutSuffix(s, ":rw"); ok {
		spec = RootSpec{Dir: dir}
	}
	if spec.Dir == "" {
		return spec, errors.New("a root needs a directory: DIR or DIR:ro")
	}
	return spec, nil
}

// Options of a workspace; the zero value is the cautious one.
type Options struct {
	// AllowWide lets the file system's root or the home directory be a root.
	AllowWide bool
	// Results, if not nil, lets saved results be read by their full path.
	Results *State
	// Library, if not nil, lets its folders be read by their full paths.
	Library *Library
	// Guarded are further host files or folders whose writing must be granted,
	// such as this program's own configuration.
	Guarded []string
}

// A Workspace confines every path to its roots. What is opened through it lies
// below one of them, whatever links say and however names are exchanged
// meanwhile; links that stay inside are followed, across roots too.
//
// It does not stop hard links made outside of it, bind mounts, or what a shell
// command does. Safe for concurrent use.
type Workspace struct {
	roots   []*root
	results *State
	library *Library
	guarded []string
	tidied  tidied
}

// root is one open root. names are the spellings by which absolute paths find
// it: as given, and with links resolved.
type root struct {
	dir      *os.Root
	given    string
	real     string
	readOnly bool
}

// RootInfo describes a root for people and models.
type RootInfo struct {
	Dir      string // as it was given, absolute
	ReadOnly bool
}

// Open opens the roots of a workspace. Each must be an existing directory.
func Open(specs []RootSpec, o Options) (*Workspace, error) {
	if len(specs) == 0 {
		return nil, errors.New("a workspace needs at least one root")
	}
	w := &Workspace{results: o.Results, library: o.Library, guarded: o.Guarded}
	for _, spec := range specs {
		r, err := openRoot(spec, o.AllowWide)
		if err != nil {
			w.Close()
			return nil, err
		}
		if err := w.addRoot(r); err != nil {
			w.Close()
			return nil, err
		}
	}
	return w, nil
}

// addRoot takes a root, unless it is there already.
func (w *Workspace) addRoot(r *root) error {
	for _, old := range w.roots {
		if !sameDir(old.dir, r.dir) {
			continue
		}
		r.dir.Close()
		if old.readOnly != r.readOnly {
			return fmt.Errorf("root %s is given twice, once read-only and once not; leave one out", r.given)
		}
		return nil
	}
	w.roots = append(w.roots, r)
	return nil
}

func sameDir(a, b *os.Root) bool {
	x, errA := a.Stat(".")
	y, errB := b.Stat(".")
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// OpenRootURIs opens the roots a client names as file:// URIs, all writable.
func OpenRootURIs(uris []string, o Options) (*Workspace, error) {
	var specs []RootSpec
	for _, uri := range uris {
		if len(uri) < 5 || !strings.EqualFold(uri[:5], "file:") {
			continue // other schemes are for other servers
		}
		dir, err := fromURI(uri)
		if err != nil {
			return nil, fmt.Errorf("root %s of the client: %w", uri, err)
		}
		specs = append(specs, RootSpec{Dir: filepath.FromSlash(dir)})
	}
	if len(specs) == 0 {
		return nil, errors.New("the client named no file:// root")
	}
	return openUsable(specs, o)
}

// openUsable opens those of the roots that can be: a client may remember a folder
// that is gone. If none can, it says why of the first.
func openUsable(specs []RootSpec, o Options) (*Workspace, error) {
	var usable []RootSpec
	var first error
	for _, spec := range specs {
		r, err := openRoot(spec, o.AllowWide)
		if err != nil {
			first = errors.Join(first, err)
			continue
		}
		r.dir.Close()
		usable = append(usable, spec)
	}
	if len(usable) == 0 {
		return nil, first
	}
	return Open(usable, o)
}

func openRoot(spec RootSpec, allowWide bool) (*root, error) {
	given, err := filepath.Abs(spec.Dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(given)
	if err != nil {
		return nil, fmt.Errorf("root %s: %w", spec.Dir, plain(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("root %s is not a directory", spec.Dir)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("root %s: %w", spec.Dir, plain(err))
	}
	if !allowWide {
		if err := refuseWide(spec.Dir, real); err != nil {
			return nil, err
		}
	}
	dir, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("root %s: %w", spec.Dir, plain(err))
	}
	return &root{dir: dir, given: given, real: real, readOnly: spec.ReadOnly}, nil
}

// IsWide tells whether dir is the file system's root or the home directory, or
// holds the latter: too much to hand to a model without being told to.
func IsWide(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	if filepath.Dir(real) == real {
		return true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	if h, err := filepath.EvalSymlinks(home); err == nil {
		home = h
	}
	_, holds := below(real, filepath.Clean(home))
	return holds
}

func refuseWide(given, real string) error {
	if !IsWide(real) {
		return nil
	}
	return fmt.Errorf("root %s is the whole disk or the home directory; choose a project folder, or say --allow-wide-root", given)
}

// Roots lists the roots in their order; relative paths start at the first.
func (w *Workspace) Roots() []RootInfo {
	out := make([]RootInfo, len(w.roots))
	for i, r := range w.roots {
		out[i] = RootInfo{Dir: r.given, ReadOnly: r.readOnly}
	}
	return out
}

// Close releases the roots. Files still open stay so.
func (w *Workspace) Close() error {
	var errs []error
	for _, r := range w.roots {
		errs = append(errs, r.dir.Close())
	}
	return errors.Join(errs...)
}

// plain drops the operation and the host path from a file error, which are of
// no use to a model and must not be shown.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

// Reason is what went wrong with a file in words, without host paths.
func Reason(err error) string { return plain(err).Error() }
