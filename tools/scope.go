package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
	"time"

	"mcp-tools/sandbox"
	"mcp-tools/tools/search"
)

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
		return nil, s.notFound(ws, name, p)
	}
	root, err := ws.OpenRoot(p)
	if err != nil {
		return nil, pathError(name, err)
	}
	sc := &scope{
		Scope: search.Scope{Root: root, Base: p.Rel(), Hidden: hidden, IncludeIgnored: ignored, GlobalIgnore: sandbox.GlobalGitIgnore()},
		ws:    ws, place: p,
	}
	sc.Deny = s.denyOf(ctx, sc)
	return sc, nil
}

// denyOf names what a search must not show: what rules forbid, and our own state.
func (s *Session) denyOf(ctx context.Context, sc *scope) func(string) bool {
	c := runningCall(ctx)
	policy := s.policy()
	restricted := c != nil && policy.restricts(c.tool)
	return func(rel string) bool {
		return sc.ws.Hides(sc.place, rel) || restricted && policy.hides(c.tool, sc.ws.SpellingsBelow(sc.place, rel))
	}
}

// maxSearch is how long one search may take: other calls of the session may wait
// for it.
const maxSearch = 60 * time.Second

var errSearchTooLong = fmt.Errorf("the search took longer than %v and was ended. Narrow it: a folder as path, fewer files, a simpler pattern", maxSearch)

// maxFoldersNamed bounds how many folders a note lists.
const maxFoldersNamed = 20

// foldersNote names the folders in the folder that was listed: a pattern without
// ** does not look into them.
func (sc *scope) foldersNote() []string {
	dir := sc.Root
	for _, part := range strings.Split(sc.Base, "/") {
		if part == "." {
			continue
		}
		sub, err := dir.Sub(part)
		if err != nil {
			return nil
		}
		defer sub.Close()
		dir = sub
	}
	entries, _ := dir.Entries()
	var names []string
	for _, e := range entries {
		rel := path.Join(sc.Base, e.Name)
		if e.Mode.IsDir() && (sc.Hidden || !strings.HasPrefix(e.Name, ".")) && !sc.Deny(rel) {
			names = append(names, search.Show(e.Name)+"/")
		}
	}
	if len(names) == 0 {
		return nil
	}
	sort.Strings(names)
	more := ""
	if len(names) > maxFoldersNamed {
		more = fmt.Sprintf(" and %d more", len(names)-maxFoldersNamed)
		names = names[:maxFoldersNamed]
	}
	return []string{"folders here: " + strings.Join(names, ", ") + more}
}

// otherRootsNote says that only the first of several roots was searched.
func (sc *scope) otherRootsNote(byDefault bool) []string {
	roots := sc.ws.Roots()
	if !byDefault || len(roots) < 2 {
		return nil
	}
	var dirs []string
	for _, r := range roots[1:] {
		dirs = append(dirs, r.Dir)
	}
	return []string{"only the first root was searched; give another as path: " + strings.Join(dirs, ", ")}
}

// searchError words what a search can't do.
func searchError(ctx context.Context, name string, err error) error {
	var bad *search.GlobError
	switch {
	case isContextError(err) && errors.Is(context.Cause(ctx), errSearchTooLong):
		return errSearchTooLong
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
	add(sk.Denied, "path left out by the server's rules", "paths left out by the server's rules")
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
