package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"mcp-tools/sandbox"
	"mcp-tools/tools/search"
)

func listFiles() Tool {
	return New(Tool{
		Name:  "list_files",
		Title: "List files",
		Description: "Lists files whose paths match a glob pattern, such as **/*.go or src/**/*.{ts,tsx}. Use it to find files by name; to find them by content use grep_search. " +
			"** stands for any folders, * and ? stay within a name. A pattern without ** matches only at its own depth. " +
			"What .gitignore ignores, node_modules and names with a leading dot are left out unless the pattern names them.",
		Aliases: []string{"glob", "ls"},
		Traits:  Traits{ReadOnly: true, ConcurrencySafe: true, Idempotent: true, ClosedWorld: true},
	}, runListFiles)
}

type listFilesInput struct {
	Pattern        string `json:"pattern" jsonschema:"Glob pattern, relative to path."`
	Path           string `json:"path,omitempty" jsonschema:"Folder to start in (the workspace)."`
	Sort           string `json:"sort,omitempty" enum:"path,mtime,size" jsonschema:"Order: path (default), mtime (newest first) or size (largest first)."`
	IncludeIgnored bool   `json:"include_ignored,omitempty" jsonschema:"Also what ignore files leave out, and node_modules (false)."`
	Hidden         bool   `json:"hidden,omitempty" jsonschema:"Also names with a leading dot (false)."`
	Limit          *int   `json:"limit,omitempty" jsonschema:"How many files to show at most (200)."`
	Offset         int    `json:"offset,omitempty" jsonschema:"How many files to skip (0)."`
}

func (in listFilesInput) Validate(*Session) error {
	if in.Pattern == "" {
		return errors.New("pattern must not be empty; ** lists all files")
	}
	return checkWindow(in.Limit, in.Offset)
}

func (in listFilesInput) Target(ctx context.Context, s *Session) (Subject, error) {
	return s.pathSubject(ctx, orDot(in.Path))
}

var sortOrders = map[string]search.Sort{"": search.SortPath, "path": search.SortPath, "mtime": search.SortMtime, "size": search.SortSize}

func runListFiles(ctx context.Context, s *Session, in listFilesInput) (Output, error) {
	in.Pattern = relativePattern(ctx, s, in.Pattern)
	sc, err := s.openScope(ctx, orDot(in.Path), in.IncludeIgnored, in.Hidden)
	if err != nil {
		return Output{}, err
	}
	defer sc.close()
	if sc.place.Exists && !sc.place.Info.IsDir() {
		return Output{}, fmt.Errorf("%s is a file. Use read_file to see it, or give a folder as path", in.Path)
	}
	list, err := search.List(ctx, sc.Scope, search.ListQuery{
		Pattern: in.Pattern, Sort: sortOrders[in.Sort], Offset: in.Offset, Limit: windowLimit(in.Limit, search.DefaultListLimit),
	})
	if err != nil {
		return Output{}, searchError(in.Path, err)
	}
	var b strings.Builder
	for _, f := range list.Files {
		b.WriteString(sc.show(f.Path))
		if f.Link {
			b.WriteString(" (link)")
		}
		b.WriteByte('\n')
	}
	more := list.Total - in.Offset - len(list.Files)
	switch {
	case list.Total == 0:
		b.WriteString("No files found matching the pattern.\n")
		if sc.isFolder(in.Pattern) {
			fmt.Fprintf(&b, "%s is a folder; for what is in it use the pattern %s/**\n", in.Pattern, strings.TrimSuffix(in.Pattern, "/"))
		}
	case len(list.Files) == 0:
		fmt.Fprintf(&b, "No more files: offset %d is past the last of %d.\n", in.Offset, list.Total)
	case more > 0:
		fmt.Fprintf(&b, "... and %d more\n", more)
	}
	out := Output{Text: strings.TrimSuffix(b.String(), "\n"), Notes: skippedNotes(list.Skipped)}
	out.setMeta("total_files", list.Total)
	return out, nil
}

// relativePattern makes a pattern that begins with the workspace's own path
// relative, as models copy it from other results.
func relativePattern(ctx context.Context, s *Session, pattern string) string {
	ws, err := s.workspace(ctx)
	if err != nil {
		return pattern
	}
	for _, r := range ws.Roots() {
		if rest, ok := strings.CutPrefix(pattern, strings.TrimSuffix(r.Dir, "/")+"/"); ok {
			return rest
		}
	}
	return pattern
}

// What list_files and grep_search share.

// scope is an open place to search in.
type scope struct {
	search.Scope
	ws    *sandbox.Workspace
	place sandbox.Path
}

func (sc *scope) close() { sc.Root.Close() }

// show is a path below the root as results name it.
func (sc *scope) show(rel string) string { return search.Show(sc.ws.ShowBelow(sc.place, rel)) }

// isFolder tells whether a pattern is just the name of a folder.
func (sc *scope) isFolder(pattern string) bool {
	p, err := sc.ws.Resolve(sc.ws.ShowBelow(sc.place, path.Join(sc.Base, pattern)))
	return err == nil && p.Exists && p.Info.IsDir()
}

// openScope opens the root of a folder or file to search.
func (s *Session) openScope(ctx context.Context, name string, ignored, hidden bool) (*scope, error) {
	ws, p, err := s.resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	if !p.Exists {
		return nil, notFound(ws, name, p)
	}
	root, err := ws.OpenRoot(p)
	if err != nil {
		return nil, pathError(name, err)
	}
	return &scope{
		Scope: search.Scope{Root: root, Base: p.Rel(), Hidden: hidden, IncludeIgnored: ignored, GlobalIgnore: sandbox.GlobalGitIgnore()},
		ws:    ws, place: p,
	}, nil
}

// searchError words what a search can't do.
func searchError(name string, err error) error {
	var bad *search.GlobError
	switch {
	case errors.Is(err, search.ErrPatternEscapes):
		return fmt.Errorf("%w. A pattern is relative to path: give the folder as path, and the rest as pattern", err)
	case errors.As(err, &bad):
		return err
	case errors.Is(err, search.ErrNotSearchable):
		return fmt.Errorf("%s is neither a folder nor a regular file, so it is not searched", name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", name)
	case isContextError(err):
		return err
	}
	return pathError(orDot(name), err)
}

// skippedNotes tells what a search left out, and how to see it.
func skippedNotes(sk search.Skipped) []string {
	var out []string
	add := func(n int, one, many string) {
		if n == 1 {
			out = append(out, "1 "+one)
		} else if n > 1 {
			out = append(out, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(sk.Ignored, "ignored path left out; include_ignored: true shows it", "ignored paths left out; include_ignored: true shows them")
	add(sk.Hidden, "hidden path left out; hidden: true shows it", "hidden paths left out; hidden: true shows them")
	add(sk.Unreadable, "path could not be read", "paths could not be read")
	add(sk.TooDeep, "folder left out: more than 256 levels deep", "folders left out: more than 256 levels deep")
	return out
}

func orDot(path string) string {
	if path == "" {
		return "."
	}
	return path
}

func checkWindow(limit *int, offset int) error {
	if limit != nil && *limit < 1 {
		return fmt.Errorf("limit must be at least 1, but %d came", *limit)
	}
	if offset < 0 {
		return fmt.Errorf("offset must not be negative, but %d came", offset)
	}
	return nil
}

// maxWindow bounds how many entries one call may ask for.
const maxWindow = 100_000

func windowLimit(limit *int, normal int) int {
	if limit == nil {
		return normal
	}
	return min(*limit, maxWindow)
}
