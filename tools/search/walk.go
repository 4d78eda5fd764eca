package search

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"mcp-tools/sandbox"
)

// maxDepth bounds how far a walk goes down: one open folder per level.
const maxDepth = 256

// Walk calls visit for every file in scope, in the order of their paths compared
// component by component. Files come as they are: links are shown, not followed;
// FIFOs, sockets and devices are passed over. What cannot be read is counted.
//
// It ends with the first error of visit, with ctx's, or with one about Base or
// the globs.
func Walk(ctx context.Context, s Scope, visit func(File) error) (Skipped, error) {
	include, exclude, err := s.filters()
	if err != nil {
		return Skipped{}, err
	}
	return walk(ctx, s, include, exclude, visit)
}

func walk(ctx context.Context, s Scope, include, exclude *globs, visit func(File) error) (Skipped, error) {
	parts, err := s.components()
	if err != nil {
		return Skipped{}, err
	}
	w := &walker{ctx: ctx, scope: s, include: include, exclude: exclude, visit: visit}
	top := folder{dir: s.Root, rules: w.globalRules(), exc: exclude.start(), depth: len(parts)}
	if include != nil {
		top.inc = include.start()
	}
	err = w.descend(top, parts)
	return w.skipped, err
}

type walker struct {
	ctx              context.Context
	scope            Scope
	include, exclude *globs // include nil: all
	visit            func(File) error
	skipped          Skipped
}

// A folder is one level of a walk.
type folder struct {
	dir    *sandbox.Dir
	path   string // below the root, with "/" at the end; "" for the root
	rules  *ignores
	inc    []globState
	exc    []globState
	forced bool // left out by a rule: only patterns without wildcards lead on
	depth  int
}

func (w *walker) globalRules() *ignores {
	if w.scope.IncludeIgnored {
		return nil
	}
	if global := parseIgnore(w.scope.GlobalIgnore); global != nil {
		return &ignores{global: global, size: global.size}
	}
	return nil
}

// descend goes from the root to Base, reading the ignore files on the way, and
// walks what it finds there.
func (w *walker) descend(at folder, parts []string) error {
	for i, name := range parts {
		at.rules = w.rulesOf(at, nil)
		info, err := at.dir.Stat(name)
		if err != nil {
			return err
		}
		path := at.path + name
		switch {
		case w.denied(path):
			return nil
		case info.Mode.IsDir():
		case info.Mode.IsRegular() && i == len(parts)-1:
			return w.visit(File{Path: path, dir: at.dir, name: name})
		case info.Mode.IsRegular():
			return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		default:
			return &fs.PathError{Op: "search", Path: path, Err: ErrNotSearchable}
		}
		at.rules.allowBase(path, true)
		sub, err := at.dir.Sub(name)
		if err != nil {
			return err
		}
		defer sub.Close()
		at.dir, at.path = sub, path+"/"
	}
	return w.folder(at)
}

// rulesOf returns the rules in force in a folder. Without its entries, the files
// are simply tried.
func (w *walker) rulesOf(at folder, entries []sandbox.Entry) *ignores {
	if w.scope.IncludeIgnored {
		return nil
	}
	return at.rules.enter(at.dir, at.path, func(name string) bool {
		if entries == nil {
			_, err := at.dir.Stat(name)
			return err == nil
		}
		_, ok := slices.BinarySearchFunc(entries, name, func(e sandbox.Entry, name string) int {
			return strings.Compare(e.Name, name)
		})
		return ok
	})
}

// folder walks one folder and what is below it.
func (w *walker) folder(at folder) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	var entries []sandbox.Entry
	if names, ok := w.onlyNames(at); ok {
		at.rules = w.rulesOf(at, nil)
		entries = w.statAll(at, names)
	} else {
		var err error
		if entries, err = at.dir.Entries(); err != nil {
			w.skipped.Unreadable++
		}
		slices.SortFunc(entries, func(a, b sandbox.Entry) int { return strings.Compare(a.Name, b.Name) })
		if len(entries) > 0 {
			at.rules = w.rulesOf(at, entries)
		}
	}
	for i, e := range entries {
		if i&63 == 63 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		if err := w.entry(at, e); err != nil {
			return err
		}
	}
	return nil
}

// onlyNames lists the names that can lead to a match, when the patterns spell
// them out: then the folder need not be read.
func (w *walker) onlyNames(at folder) ([]string, bool) {
	if w.include == nil {
		return nil, false
	}
	names, ok := w.include.nextNames(at.inc)
	slices.Sort(names)
	return slices.Compact(names), ok
}

func (w *walker) statAll(at folder, names []string) []sandbox.Entry {
	var out []sandbox.Entry
	for _, name := range names {
		if info, err := at.dir.Stat(name); err == nil {
			out = append(out, sandbox.Entry{Name: name, Mode: info.Mode})
		}
	}
	return out
}

// entry decides about one name and goes on with it.
func (w *walker) entry(at folder, e sandbox.Entry) error {
	mode := e.Mode
	if mode&fs.ModeIrregular != 0 { // the file system did not tell with the name
		info, err := at.dir.Stat(e.Name)
		if err != nil {
			return nil
		}
		mode = info.Mode
	}
	switch mode & fs.ModeType {
	case fs.ModeDir, 0, fs.ModeSymlink:
		if w.denied(at.path + e.Name) {
			return nil
		}
	}
	switch mode & fs.ModeType {
	case fs.ModeDir:
		return w.subfolder(at, e.Name)
	case 0, fs.ModeSymlink:
		return w.file(at, e.Name, mode&fs.ModeSymlink != 0)
	}
	return nil
}

func (w *walker) file(at folder, name string, link bool) error {
	wanted := func(mode stepMode) bool {
		if w.include == nil {
			return mode == anyName || mode == visibleName && !isHidden(name)
		}
		return w.include.matches(at.inc, name, mode)
	}
	if !wanted(anyName) || w.exclude.matches(at.exc, name, anyName) {
		return nil
	}
	path := at.path + name
	if !wanted(w.verdict(at, path, name, false)) {
		w.count(at, path, name, false)
		return nil
	}
	return w.visit(File{Path: path, Link: link, dir: at.dir, name: name})
}

func (w *walker) subfolder(at folder, name string) error {
	path := at.path + name
	next := folder{path: path + "/", rules: at.rules, depth: at.depth + 1, forced: at.forced}
	var excluded bool
	if next.exc, excluded, _ = w.exclude.step(at.exc, name, anyName); excluded {
		return nil
	}
	mode := w.verdict(at, path, name, true)
	if w.include == nil {
		if mode >= namedOnly || mode == visibleName && isHidden(name) {
			w.count(at, path, name, true)
			return nil
		}
	} else {
		var below bool
		if next.inc, _, below = w.include.step(at.inc, name, mode); !below {
			if _, _, below = w.include.step(at.inc, name, anyName); below {
				w.count(at, path, name, true)
			}
			return nil
		}
	}
	if mode == literalOnly && !at.forced {
		next.forced = true
		if _, _, below := w.include.step(at.inc, name, wildOnly); below {
			w.count(at, path, name, true) // for the patterns that stop here
		}
	}
	return w.enter(at, next, name)
}

func (w *walker) enter(at, next folder, name string) error {
	if next.depth > maxDepth {
		w.skipped.TooDeep++
		return nil
	}
	sub, err := at.dir.Sub(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.skipped.Unreadable++
		}
		return nil
	}
	defer sub.Close()
	next.dir = sub
	return w.folder(next)
}

// denied asks the scope whether a path must not be seen, and counts it.
func (w *walker) denied(path string) bool {
	if w.scope.Deny == nil || !w.scope.Deny(path) {
		return false
	}
	w.skipped.Denied++
	return true
}

// verdict says what a pattern must be like to reach the name.
func (w *walker) verdict(at folder, path, name string, dir bool) stepMode {
	switch {
	case at.forced || w.ignored(at, path, name, dir):
		return literalOnly
	case name == gitDir:
		return namedOnly
	}
	return modeFor(w.scope.Hidden)
}

func (w *walker) ignored(at folder, path, name string, dir bool) bool {
	if w.scope.IncludeIgnored {
		return false
	}
	return dir && name == nodeModules || at.rules.ignored(path, name, dir)
}

// count notes why a name was left out.
func (w *walker) count(at folder, path, name string, dir bool) {
	switch {
	case at.forced || name == gitDir: // inside of what was counted, or never counted
	case w.ignored(at, path, name, dir):
		w.skipped.Ignored++
	default:
		w.skipped.Hidden++
	}
}
