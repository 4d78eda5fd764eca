package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"mcp-tools/sandbox"
	"mcp-tools/tools/edit"
	"mcp-tools/tools/syntax"
)

// What the tools that edit files share.

// editFile makes the edits of e in its file.
func (s *Session) editFile(ctx context.Context, e fileEdit) (Output, error) {
	ws, p, err := s.resolve(ctx, e.name)
	if err != nil {
		return Output{}, err
	}
	e.s, e.ws, e.p, e.action, e.shown = s, ws, p, editing.at(s, ws, p), shorten(e.name, maxPathShown)
	done, err := s.update(ctx, ws, p, e.version, editing, e.change)
	switch {
	case errors.Is(err, errDryRun):
		return e.dryRun(), nil
	case errors.Is(err, fs.ErrNotExist):
		return Output{}, s.notFound(ws, e.name, p)
	case err != nil:
		return Output{}, fileError(e.name, err)
	}
	e.record(ctx, done)
	if n := len(e.result.Changes); n > 1 {
		e.notes = append(e.notes, fmt.Sprintf("%d places changed", n))
	}
	out := Output{Text: e.report("Successfully edited " + e.shown), Notes: append(e.notes, done.Notes...)}
	s.versioned(&out, e.left)
	s.undoable(ctx, &out)
	return out, nil
}

const (
	// maxEdited is how large an edit may make a file, in bytes: what is to be
	// written is held in memory.
	maxEdited = 256 << 20
	// maxHunks bounds the changes that are worked out line by line to be shown.
	maxHunks = 1000
	// maxWork bounds how much text one call looks through, in bytes: each edit does
	// so from the beginning.
	maxWork = 4 << 30
)

var errDryRun = errors.New("dry run")

// fileEdit is a call that edits a file, between its old content and the new.
type fileEdit struct {
	name     string // of the file, as the model gave it
	version  string // that it passed
	requests []edit.Request
	dry      bool

	s     *Session
	ws    *sandbox.Workspace
	p     sandbox.Path
	shown string
	action

	known   view            // of the content before
	left    sandbox.Version // handle of what is there now
	existed bool
	text    edit.Text
	result  edit.Result
	hunks   []edit.Hunk
	notes   []string
}

func (e *fileEdit) change(cur sandbox.Current) (sandbox.Parts, error) {
	e.existed = cur.Exists
	if len(e.requests) == 1 && e.requests[0].Old == "" {
		return e.fill(cur)
	}
	if !cur.Exists {
		return nil, fs.ErrNotExist
	}
	if isNotebook(e.p) && json.Valid(bytes.TrimPrefix(cur.Content, []byte(mark))) { // a broken one is repaired as text
		return nil, sayf("%s is a Jupyter notebook: its text is JSON around the cells, and an edit of it as text would break it easily. Use notebook_edit, which changes one cell and nothing else.", e.shown)
	}
	if err := e.mayChange(cur); err != nil {
		return nil, err
	}
	if err := e.decode(cur); err != nil {
		return nil, err
	}
	e.dropMarks()
	result, err := e.replace()
	if err != nil {
		return nil, sayAs(e.explain(err))
	}
	return e.finish(result)
}

// mark is a byte order mark as a character.
const mark = "\uFEFF"

// dropMarks takes the byte order mark out of requests that have the beginning of the
// file with it: it is no part of the text, and stays.
func (e *fileEdit) dropMarks() {
	if !e.text.BOM {
		return
	}
	for i, r := range e.requests {
		old, marked := strings.CutPrefix(r.Old, mark)
		atStart := old != "" && strings.HasPrefix(e.text.Body, old)
		if marked && atStart {
			e.requests[i].Old = old
		}
		if atStart {
			e.requests[i].New = strings.TrimPrefix(r.New, mark)
		}
	}
}

func (e *fileEdit) replace() (edit.Result, error) {
	if len(e.requests) == 1 {
		return edit.Replace(e.text.Body, e.requests[0])
	}
	return edit.ReplaceEach(e.text.Body, e.requests)
}

// fill puts text into a file that is missing or blank.
func (e *fileEdit) fill(cur sandbox.Current) (sandbox.Parts, error) {
	if !cur.Exists && sandbox.IsHandle(e.version) {
		return nil, sayf("%s does not exist any more, but a version was passed, so it was meant to be changed. To make it anew leave out version.", e.shown)
	}
	if e.secret && len(cur.Content) > 0 {
		if err := e.mayChange(cur); err != nil {
			return nil, err
		}
	}
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
	return e.finish(edit.NewResult(e.text.Body, edit.Change{Start: 0, End: len(e.text.Body), New: e.requests[0].New}))
}

func (e *fileEdit) mayChange(cur sandbox.Current) error {
	known, note, err := e.s.mayChange(e.shown, e.p, cur, e.version, e.action)
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
	if e.text, err = e.known.decode(cur.Content); err != nil {
		return sayf("%s is not text that can be edited without risk to its other bytes: %v. Nothing was changed.%s", e.shown, err, e.s.howToName())
	}
	if len(cur.Content) > maxEdited && e.text.Encoding != edit.UTF8 {
		return sayf("%s has %s in %s. Files in other encodings than UTF-8 are edited up to %s. Nothing was changed; use run_shell with a streaming tool.", e.shown, byteSize(int64(len(cur.Content))), e.text.Encoding, byteSize(maxEdited))
	}
	if work := len(cur.Content) * len(e.requests); work > maxWork {
		return sayf("%d edits are too many for a file of %s. Nothing was changed; make them in several calls.", len(e.requests), byteSize(int64(len(cur.Content))))
	}
	return nil
}

// howToName says how a file in an unclear encoding can be edited.
func (s *Session) howToName() string {
	if s.opts.Stateless {
		return " Where the encoding has to be named, an edit needs a session, which remembers it."
	}
	return " If you know its encoding, read it with that encoding first."
}

func (e *fileEdit) finish(r edit.Result) (sandbox.Parts, error) {
	e.result = r
	e.hunks = edit.Hunks(e.text.Body, r.Changes[:min(len(r.Changes), maxHunks)])
	next, err := e.text.Change(r)
	if err != nil {
		return nil, sayAs(unwritable("new_string", e.shown, e.text.Encoding, err))
	}
	if err := e.check(); err != nil {
		return nil, sayAs(err)
	}
	if e.dry {
		return nil, errDryRun
	}
	return next, nil
}

// check looks whether the file still parses, without making the text of one that
// nothing is known of.
func (e *fileEdit) check() error {
	if !syntax.Judges(e.p.Rel(), e.result.Size()) {
		return nil
	}
	note, err := checkSyntax(e.shown, e.p, e.existed, e.text.Body, e.result.Text())
	if note != "" {
		e.notes = append(e.notes, note)
	}
	return err
}

// explain words a refusal of [edit.Replace] or [edit.ReplaceEach].
func (e *fileEdit) explain(err error) error {
	var one *edit.EachError
	var meet *edit.OverlapError
	switch {
	case errors.As(err, &one):
		return e.explainOne(one)
	case errors.As(err, &meet):
		return fmt.Errorf("edits %d and %d both change line %d of %s. Each is found in the file as it was, so they cannot follow one another: make them one edit. None was made", meet.First+1, meet.Second+1, meet.Line, e.shown)
	}
	return e.explainMiss(err, e.requests[0].Old)
}

// explainOne words what is wrong with one of several edits.
func (e *fileEdit) explainOne(one *edit.EachError) error {
	var none *edit.NotFoundError
	if errors.As(one.Err, &none) && !e.secret {
		for i, r := range e.requests[:one.Index] {
			if strings.Contains(r.New, e.requests[one.Index].Old) {
				return fmt.Errorf("edit %d of %d: old_string not found in %s. It stands in new_string of edit %d, but each edit is found in the file as it was before the call: make them one edit\nNone of the edits was made", one.Index+1, len(e.requests), e.shown, i+1)
			}
		}
	}
	err := e.explainMiss(one.Err, e.requests[one.Index].Old)
	return fmt.Errorf("edit %d of %d: %w\nNone of the edits was made", one.Index+1, len(e.requests), err)
}

// explainMiss words why one edit, which looked for old, was refused.
func (e *fileEdit) explainMiss(err error, old string) error {
	var many *edit.AmbiguousError
	var none *edit.NotFoundError
	switch {
	case errors.As(err, &many):
		return fmt.Errorf("old_string found %d times in %s. Must be unique. %s. Add lines around the place you mean, or set replace_all", many.Count, e.shown, many.Where())
	case errors.As(err, &none) && e.secret:
		return fmt.Errorf("old_string not found in %s", e.shown)
	case errors.As(err, &none):
		help := none.Help()
		if hint := e.s.elsewhere(e.ws, e.p, old); hint != "" {
			help = hint + "\n" + help
		}
		if help != "" {
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
		return fmt.Errorf("the edit would change nothing in %s: old_string and new_string differ only in how quotes, blanks, line ends or line numbers are written, and there the file's own characters stay", e.shown)
	}
	return fmt.Errorf("%s: %w. Nothing was changed", e.shown, err)
}

// record keeps what the model knows: what it knew before, moved, and the change.
func (e *fileEdit) record(ctx context.Context, done sandbox.Current) {
	e.left = done.Version
	v := view{path: e.p, version: done.Version, lines: e.result.Lines(), stamp: sandbox.StampOf(done.Info), encoding: e.known.encoding}
	if e.result.Size() <= maxSnapshot {
		text := e.result.Text()
		v.text = &text
	}
	if e.known.whole || len(e.text.Body) == 0 {
		v.whole, v.shown = true, spans{{1, v.lines}}.normal()
		e.s.learn(ctx, v)
		return
	}
	if e.complete() && (e.known.lines == 0 || e.known.lines == edit.Lines(e.text.Body)) {
		// A line of which a part was never shown stays so, whatever was changed in it.
		v.shown = e.known.shown.after(e.hunks, e.known.shown.holds)
		v.cut = e.known.cut.after(e.hunks, e.known.cut.meets)
	}
	v.whole = e.known.version != "" && v.shown.covers(v.lines)
	if !v.whole {
		e.left = e.left.Partial()
	}
	e.s.learn(ctx, v)
}

// complete tells whether the hunks are all that was changed.
func (e *fileEdit) complete() bool { return len(e.result.Changes) <= maxHunks }

func (e *fileEdit) report(head string) string {
	if e.result.Via != "" {
		head += " (matched via " + e.result.Via + ")"
	}
	if e.secret {
		return head + "\nWhat has changed is not shown: the user's rules forbid to show this file."
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
