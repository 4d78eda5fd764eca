package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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
	Sort           string `json:"sort,omitempty" enum:"path,mtime,size" jsonschema:"path (default), mtime (newest first), size (largest first)."`
	IncludeIgnored bool   `json:"include_ignored,omitempty" jsonschema:"Also what is ignored (false)."`
	Hidden         bool   `json:"hidden,omitempty" jsonschema:"Also names with a leading dot (false)."`
	Limit          *int   `json:"limit,omitempty" jsonschema:"Files to show at most (200)."`
	Offset         int    `json:"offset,omitempty" jsonschema:"Files to skip (0)."`
}

func (in listFilesInput) Validate(*Session) error {
	if in.Pattern == "" {
		return errors.New("pattern must not be empty; ** lists all files")
	}
	return checkWindow(in.Limit, in.Offset)
}

func (in listFilesInput) Target(ctx context.Context, s *Session) (Subject, error) {
	return s.pathSubject(ctx, in.start(ctx, s))
}

// start is the folder to list: path, or else the root that an absolute pattern
// begins with, as models copy it from other results.
func (in listFilesInput) start(ctx context.Context, s *Session) string {
	if in.Path != "" || !filepath.IsAbs(in.Pattern) {
		return orDot(in.Path)
	}
	ws, err := s.workspace(ctx)
	if err != nil {
		return "."
	}
	return orDot(ws.RootOf(in.Pattern))
}

var sortOrders = map[string]search.Sort{"": search.SortPath, "path": search.SortPath, "mtime": search.SortMtime, "size": search.SortSize}

func runListFiles(ctx context.Context, s *Session, in listFilesInput) (Output, error) {
	start := in.start(ctx, s)
	sc, err := s.openScope(ctx, start, in.IncludeIgnored, in.Hidden)
	if err != nil {
		return Output{}, err
	}
	in.Pattern = sc.relative(in.Pattern)
	defer sc.close()
	if sc.place.Exists && !sc.place.Info.IsDir() {
		return Output{}, fmt.Errorf("%s is a file. Use read_file to see it, or give a folder as path", in.Path)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxSearch, errSearchTooLong)
	defer cancel()
	list, err := search.List(ctx, sc.Scope, search.ListQuery{
		Pattern: in.Pattern, Sort: sortOrders[in.Sort], Offset: in.Offset, Limit: windowLimit(in.Limit, search.DefaultListLimit),
	})
	if err != nil {
		return Output{}, searchError(ctx, in.Path, err)
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
	if in.Pattern == "*" || list.Total == 0 && !strings.Contains(in.Pattern, "**") && !sc.isFolder(in.Pattern) {
		out.Notes = append(out.Notes, sc.foldersNote()...)
	}
	out.Notes = append(out.Notes, sc.otherRootsNote(start == ".")...)
	out.setMeta("total_files", list.Total)
	return out, nil
}

// relative takes the folder that is searched off the beginning of an absolute pattern.
func (sc *scope) relative(pattern string) string {
	if !filepath.IsAbs(pattern) {
		return pattern
	}
	for _, dir := range sc.ws.Spellings(sc.place) {
		if rest, ok := strings.CutPrefix(pattern, strings.TrimSuffix(dir, "/")+"/"); ok && filepath.IsAbs(dir) {
			return rest
		}
	}
	return pattern
}
