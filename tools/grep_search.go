package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mcp-tools/tools/search"
)

func grepSearch() Tool {
	return New(Tool{
		Name:  "grep_search",
		Title: "Search in files",
		Description: "Searches the contents of files with a regular expression (RE2 syntax) and returns path:line:text. Use it to find where something is; to find files by name use list_files. " +
			"Lines are matched one by one unless multiline is set. Results are sorted by path; the first 100 are shown, and the rest is counted unless that takes long. " +
			"What .gitignore ignores, node_modules and names with a leading dot are left out unless asked for; a file or folder given as path is always searched.",
		Aliases: []string{"grep", "search"},
		Traits:  Traits{ReadOnly: true, ConcurrencySafe: true, Idempotent: true, ClosedWorld: true},
	}, runGrepSearch)
}

type grepSearchInput struct {
	Pattern        string `json:"pattern" jsonschema:"Regular expression, RE2 syntax (no look-around, no back-references)."`
	Path           string `json:"path,omitempty" jsonschema:"Folder or file to search (the workspace)."`
	Include        string `json:"include,omitempty" jsonschema:"Only files that match this glob: *.{ts,tsx}, src/**/*.py."`
	Exclude        string `json:"exclude,omitempty" jsonschema:"Not what matches this glob."`
	OutputMode     string `json:"output_mode,omitempty" enum:"content,files_with_matches,count" jsonschema:"content (default): lines; files_with_matches: paths; count: lines per file."`
	Context        int    `json:"context,omitempty" jsonschema:"Lines around each match (0)."`
	Before         int    `json:"before,omitempty" jsonschema:"Lines before each match (0)."`
	After          int    `json:"after,omitempty" jsonschema:"Lines after each match (0)."`
	IgnoreCase     bool   `json:"ignore_case,omitempty" jsonschema:"Ignore upper and lower case (false)."`
	FixedStrings   bool   `json:"fixed_strings,omitempty" jsonschema:"The pattern is plain text (false)."`
	Word           bool   `json:"word,omitempty" jsonschema:"Only whole words (false)."`
	Multiline      bool   `json:"multiline,omitempty" jsonschema:"A match may run over several lines (false)."`
	IncludeIgnored bool   `json:"include_ignored,omitempty" jsonschema:"Also what is ignored (false)."`
	Hidden         bool   `json:"hidden,omitempty" jsonschema:"Also names with a leading dot (false)."`
	Limit          *int   `json:"limit,omitempty" jsonschema:"Matches, or files, to show at most (100)."`
	Offset         int    `json:"offset,omitempty" jsonschema:"How many to skip (0)."`
}

func (in grepSearchInput) Validate(*Session) error {
	if in.Pattern == "" {
		return errors.New("pattern must not be empty")
	}
	for _, n := range [...]struct {
		name string
		n    int
	}{{"context", in.Context}, {"before", in.Before}, {"after", in.After}} {
		if n.n < 0 {
			return fmt.Errorf("%s must not be negative, but %d came", n.name, n.n)
		}
	}
	return checkWindow(in.Limit, in.Offset)
}

func (in grepSearchInput) Target(ctx context.Context, s *Session) (Subject, error) {
	return s.pathSubject(ctx, orDot(in.Path))
}

var grepModes = map[string]search.Mode{
	"": search.Content, "content": search.Content, "files_with_matches": search.FilesWithMatches, "count": search.Count,
}

func (in grepSearchInput) query() search.Query {
	return search.Query{
		Pattern: in.Pattern, IgnoreCase: in.IgnoreCase, FixedStrings: in.FixedStrings, Word: in.Word, Multiline: in.Multiline,
		Mode: grepModes[in.OutputMode], Before: max(in.Before, in.Context), After: max(in.After, in.Context),
		Limit: windowLimit(in.Limit, search.DefaultLimit), Offset: in.Offset,
	}
}

func runGrepSearch(ctx context.Context, s *Session, in grepSearchInput) (Output, error) {
	sc, err := s.openScope(ctx, orDot(in.Path), in.IncludeIgnored, in.Hidden)
	if err != nil {
		return Output{}, err
	}
	defer sc.close()
	if in.Include != "" {
		sc.Include = []string{in.Include}
	}
	if in.Exclude != "" {
		sc.Exclude = []string{in.Exclude}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxSearch, errSearchTooLong)
	defer cancel()
	found, err := search.Grep(ctx, sc.Scope, in.query())
	switch {
	case errors.Is(err, search.ErrNewline):
		return Output{}, fmt.Errorf("%w. Set multiline to match over several lines", err)
	case err != nil:
		return Output{}, grepError(ctx, in.Path, err)
	}
	return sc.report(in, found), nil
}

func grepError(ctx context.Context, path string, err error) error {
	var bad *search.PatternError
	if errors.As(err, &bad) {
		return err
	}
	return searchError(ctx, path, err)
}

// report makes the result of a search.
func (sc *scope) report(in grepSearchInput, r search.Report) Output {
	for i := range r.Lines {
		r.Lines[i].Path = sc.ws.ShowBelow(sc.place, r.Lines[i].Path)
	}
	for i := range r.Files {
		r.Files[i].Path = sc.ws.ShowBelow(sc.place, r.Files[i].Path)
	}
	out := Output{Text: search.Format(r), Notes: skippedNotes(r.Skipped)}
	switch {
	case r.Total == 0 && r.Exact:
		out.Text = "No matches found."
		if strings.Contains(in.Pattern, `\|`) && !in.FixedStrings {
			out.Notes = append(out.Notes, `in RE2 syntax | alone separates alternatives; \| is the character`)
		}
	case r.Shown == 0 && r.Exact:
		out.Text = fmt.Sprintf("No more matches: offset %d is past the last of %d.", in.Offset, r.Total)
	}
	if more := r.More(); more != "" {
		if out.Text != "" {
			out.Text += "\n"
		}
		out.Text += more
	}
	if r.LongLines > 0 {
		out.Notes = append(out.Notes, countLines(r.LongLines)+" longer than 64 MiB, searched only to there")
	}
	if r.Split > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("in files larger than 64 MiB (%d) a match over several lines may have been missed", r.Split))
	}
	out.Notes = append(out.Notes, sc.otherRootsNote(in.Path == "")...)
	out.setMeta("total_matches", r.Matches)
	if !r.Exact {
		out.setMeta("total_is_exact", false)
	}
	return out
}
