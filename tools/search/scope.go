package search

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"mcp-tools/sandbox"
)

// A Scope says where to look and what to leave out. Only Root is needed.
//
// Left out are .git and node_modules at any depth, what .gitignore, .ignore,
// .git/info/exclude and GlobalIgnore ignore, and names that begin with a dot
// unless a pattern spells the dot out. Ignore files count from Root down, in
// repositories or not. A pattern without wildcards beats all of that, and what
// leaves out Base itself does not count. .git is entered only when Base or a
// pattern names it.
type Scope struct {
	Root *sandbox.Dir // stays open, owned by the caller; in use until the search returns
	Base string       // slash path below Root of the folder or file to search; "" or "." is all

	// Globs on the path below Base. One without "/" stands for base names at any
	// depth. Those in Include that begin with "!" are excludes. An exclude that
	// matches a folder leaves out all of it. Neither counts when Base is a file.
	Include, Exclude []string

	// Deny, if not nil, names what must not be seen: a file, or a folder with all
	// that is in it, by its slash path below Root. It beats everything else.
	Deny func(path string) bool

	Hidden         bool   // names with a leading dot too
	IncludeIgnored bool   // what rules ignore, and node_modules, too
	GlobalIgnore   []byte // text of git's global excludes
}

// Skipped counts what a search left out. A folder counts once, whatever is in it;
// what no pattern asked for is not counted, nor is .git.
type Skipped struct {
	Ignored    int // by rules, or called node_modules: IncludeIgnored shows them
	Hidden     int // names with a leading dot: Hidden shows them
	Unreadable int // folders and files that could not be opened or read
	Denied     int // by Scope.Deny
	TooDeep    int // folders more than 256 levels down
}

func (s *Skipped) add(o Skipped) {
	s.Ignored += o.Ignored
	s.Hidden += o.Hidden
	s.Unreadable += o.Unreadable
	s.Denied += o.Denied
	s.TooDeep += o.TooDeep
}

// A File is what a walk found: a regular file, or a link, which is never followed.
// Its methods work only while the walk's function runs.
type File struct {
	Path string // slash path below Root
	Link bool

	dir  *sandbox.Dir
	name string
}

// Open opens the file for reading. A link is refused.
func (f File) Open() (io.ReadCloser, fs.FileInfo, error) {
	file, info, err := f.dir.Open(f.name)
	if err != nil {
		return nil, nil, err
	}
	return file, info, nil
}

// Stat describes the file, or the link itself.
func (f File) Stat() (sandbox.Info, error) { return f.dir.Stat(f.name) }

// ErrNotSearchable: Base is neither a folder nor a regular file.
var ErrNotSearchable = errors.New("not a folder or regular file")

// components splits Base; nil for the root.
func (s *Scope) components() ([]string, error) {
	base := path.Clean(s.Base)
	if s.Base == "" || base == "." {
		return nil, nil
	}
	parts := strings.Split(base, "/")
	if parts[0] == "" || parts[0] == ".." {
		return nil, fmt.Errorf("%w: %q", ErrPatternEscapes, s.Base)
	}
	return parts, nil
}

// prefix is what the paths of files below Base begin with.
func (s *Scope) prefix() string {
	if base := path.Clean(s.Base); s.Base != "" && base != "." {
		return base + "/"
	}
	return ""
}

// filters compiles the globs; include is nil when everything is asked for.
func (s *Scope) filters() (include, exclude *globs, err error) {
	var wanted []string
	unwanted := s.Exclude
	for _, p := range s.Include {
		if not, ok := strings.CutPrefix(p, "!"); ok {
			unwanted = append(unwanted[:len(unwanted):len(unwanted)], not)
			continue
		}
		wanted = append(wanted, p)
	}
	if len(wanted) > 0 {
		if include, err = compileGlobs(wanted, baseName); err != nil {
			return nil, nil, err
		}
	}
	exclude, err = compileGlobs(unwanted, exclusion)
	return include, exclude, err
}
