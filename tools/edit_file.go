package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"mcp-tools/sandbox"
	"mcp-tools/tools/edit"
)

func editFile() Tool {
	return New(Tool{
		Name:  "edit_file",
		Title: "Edit file",
		Description: "Replaces old_string by new_string in a file that was read before. Use it for every change of an existing file. " +
			"old_string must be the text as it stands in the file, with its indentation and without line numbers, and occur exactly once; " +
			"take more lines around it to make it unique, or set replace_all. Nothing but that place changes. " +
			"An empty old_string fills a missing or empty file.",
		Aliases: []string{"edit", "str_replace", "replace"},
		Traits:  Traits{ClosedWorld: true},
	}, runEditFile)
}

type editFileInput struct {
	FilePath   string `json:"file_path" jsonschema:"Path: absolute, relative to the workspace, or file://."`
	OldString  string `json:"old_string" jsonschema:"The text to replace, exactly as in the file."`
	NewString  string `json:"new_string" jsonschema:"The text to put there, taken literally."`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"Replace every occurrence (false)."`
	Version    string `json:"version,omitempty" jsonschema:"Version that read_file returned; needed only without a session."`
	DryRun     bool   `json:"dry_run,omitempty" jsonschema:"Only show what would change (false)."`
}

func (in editFileInput) Validate(*Session) error {
	if err := checkFileName(in.FilePath); err != nil {
		return err
	}
	if in.OldString == in.NewString {
		return errors.New("old_string and new_string are identical, so there is nothing to change")
	}
	return nil
}

func (in editFileInput) Target(ctx context.Context, s *Session) (Subject, error) {
	return s.pathSubject(ctx, in.FilePath)
}

func runEditFile(ctx context.Context, s *Session, in editFileInput) (Output, error) {
	ws, p, err := s.resolve(ctx, in.FilePath)
	if err != nil {
		return Output{}, err
	}
	e := &fileEdit{s: s, in: in, p: p, action: editing.at(s, ws, p), shown: shorten(in.FilePath, maxPathShown)}
	done, err := s.update(ctx, ws, p, in.Version, editing, e.change)
	switch {
	case errors.Is(err, errDryRun):
		return e.dryRun(), nil
	case errors.Is(err, fs.ErrNotExist):
		return Output{}, s.notFound(ws, in.FilePath, p)
	case err != nil:
		return Output{}, fileError(in.FilePath, err)
	}
	e.record(done)
	if n := len(e.result.Changes); n > 1 {
		e.notes = append(e.notes, fmt.Sprintf("%d places changed", n))
	}
	out := Output{Text: e.report("Successfully edited " + e.shown), Notes: append(e.notes, done.Notes...)}
	s.versioned(&out, e.version)
	return out, nil
}

const (
	// maxEdited is how large an edit may make a file, in bytes: what is to be
	// written is held in memory.
	maxEdited = 256 << 20
	// maxHunks bounds the changes that are worked out line by line to be shown.
	maxHunks = 1000
)

var errDryRun = errors.New("dry run")

// fileEdit is one edit_file call between the old content and the new.
type fileEdit struct {
	s     *Session
	in    editFileInput
	p     sandbox.Path
	shown string
	action

	known   view            // of the content before
	version sandbox.Version // handle of what is there now
	text    edit.Text
	result  edit.Result
	hunks   []edit.Hunk
	notes   []string
}

func (e *fileEdit) change(cur sandbox.Current) ([]byte, error) {
	if e.in.OldString == "" {
		return e.fill(cur)
	}
	if !cur.Exists {
		return nil, fs.ErrNotExist
	}
	if strings.EqualFold(path.Ext(e.p.Rel()), ".ipynb") {
		return nil, sayf("%s is a Jupyter notebook, whose cells cannot be edited as text. Write the whole notebook with write_file.", e.shown)
	}
	if err := e.mayChange(cur); err != nil {
		return nil, err
	}
	if err := e.decode(cur); err != nil {
		return nil, err
	}
	result, err := edit.Replace(e.text.Body, edit.Request{Old: e.in.OldString, New: e.in.NewString, All: e.in.ReplaceAll, Max: maxEdited})
	if err != nil {
		return nil, sayAs(e.explain(err))
	}
	return e.finish(result)
}

// fill puts text into a file that is missing or blank.
func (e *fileEdit) fill(cur sandbox.Current) ([]byte, error) {
	if err := e.decode(cur); err != nil {
		return nil, err
	}
	if strings.TrimSpace(e.text.Body) != "" {
		return nil, sayf("old_string is empty, but %s has content. Give the text to replace; to overwrite the whole file use write_file.", e.shown)
	}
	if cur.Exists && len(e.text.Body) > 0 {
		if err := e.mayChange(cur); err != nil {
			return nil, err
		}
	}
	return e.finish(edit.Result{
		Text:    e.in.NewString,
		Changes: []edit.Change{{Start: 0, End: len(e.text.Body), New: e.in.NewString}},
	})
}

func (e *fileEdit) mayChange(cur sandbox.Current) error {
	known, note, err := e.s.mayChange(e.shown, e.p, cur, e.in.Version, e.action)
	if err != nil {
		return sayAs(err)
	}
	e.known = known
	if note != "" {
		e.notes = append(e.notes, note)
	}
	return nil
}

func (e *fileEdit) decode(cur sandbox.Current) error {
	var err error
	if e.text, err = edit.Decode(cur.Content); err != nil {
		return sayf("%s is not text that can be edited without risk to its other bytes: %v. Nothing was changed.", e.shown, err)
	}
	return nil
}

func (e *fileEdit) finish(r edit.Result) ([]byte, error) {
	e.result = r
	e.hunks = edit.Hunks(e.text.Body, r.Changes[:min(len(r.Changes), maxHunks)])
	next, err := e.text.Encode(r.Text)
	if err != nil {
		return nil, sayf("new_string cannot be written in the encoding of %s (%s): %v. Nothing was changed.", e.shown, e.text.Encoding, err)
	}
	if e.in.DryRun {
		return nil, errDryRun
	}
	return next, nil
}

// explain words a refusal of [edit.Replace].
func (e *fileEdit) explain(err error) error {
	var many *edit.AmbiguousError
	var none *edit.NotFoundError
	switch {
	case errors.As(err, &many):
		return fmt.Errorf("old_string found %d times in %s. Must be unique. %s. Add lines around the place you mean, or set replace_all", many.Count, e.shown, many.Where())
	case errors.As(err, &none):
		if help := none.Help(); help != "" {
			return fmt.Errorf("old_string not found in %s\n%s", e.shown, help)
		}
		return fmt.Errorf("old_string not found in %s. Use read_file to see what is there now", e.shown)
	}
	if errors.Is(err, edit.ErrTooLong) {
		return fmt.Errorf("the edit would make %s larger than %s. Nothing was changed; replace fewer places, or use run_shell with a streaming tool such as sed", e.shown, byteSize(maxEdited))
	}
	if errors.Is(err, edit.ErrTooMany) {
		return fmt.Errorf("old_string found more than %d times in %s. Nothing was changed; use run_shell with a streaming tool such as sed", edit.MaxPlaces, e.shown)
	}
	if errors.Is(err, edit.ErrNoChange) || errors.Is(err, edit.ErrIdentical) {
		return fmt.Errorf("the edit would change nothing in %s: old_string and new_string differ only in how quotes, blanks or line numbers are written, and there the file's own characters stay", e.shown)
	}
	return fmt.Errorf("%s: %w. Nothing was changed", e.shown, err)
}

// record keeps what the model knows: what it knew before, moved, and the change.
func (e *fileEdit) record(done sandbox.Current) {
	e.version = done.Version
	if e.known.whole || len(e.text.Body) == 0 {
		e.s.remember(e.p, done, e.result.Text)
		return
	}
	lines := edit.Lines(e.result.Text)
	v := view{path: e.p, version: done.Version, lines: lines, stamp: sandbox.StampOf(done.Info), text: &e.result.Text}
	if e.complete() && (e.known.lines == 0 || e.known.lines == edit.Lines(e.text.Body)) {
		// A line of which a part was never shown stays so, whatever was changed in it.
		v.shown = e.known.shown.after(e.hunks, e.known.shown.holds)
		v.cut = e.known.cut.after(e.hunks, e.known.cut.meets)
	}
	v.whole = e.known.version != "" && v.shown.covers(lines)
	if !v.whole {
		e.version = e.version.Partial()
	}
	e.s.learn(v)
}

// complete tells whether the hunks are all that was changed.
func (e *fileEdit) complete() bool { return len(e.result.Changes) <= maxHunks }

func (e *fileEdit) report(head string) string {
	if e.result.Via != "" {
		head += " (matched via " + e.result.Via + ")"
	}
	text := head + "\n\n" + edit.Render(e.hunks, maxDiff)
	if !e.complete() {
		text += fmt.Sprintf("\n... and further on: %d of %d changes are shown at most", maxHunks, len(e.result.Changes))
	}
	return text
}

func (e *fileEdit) dryRun() Output {
	return Output{Text: e.report("Dry run: nothing was written. The edit of " + e.shown + " would be"), Notes: e.notes}
}
