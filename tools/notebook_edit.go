package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"mcp-tools/sandbox"
	"mcp-tools/tools/edit"
	"mcp-tools/tools/notebook"
)

func notebookEdit() Tool {
	return New(Tool{
		Name:  "notebook_edit",
		Title: "Edit notebook cell",
		Description: "Replaces, inserts or deletes one cell of a Jupyter notebook (.ipynb) that was read before. " +
			"Cells are named by the id that read_file shows, or cell-N, counted from 0. Everything else in the file stays as it is, byte for byte. " +
			"Replacing the source of a code cell clears its outputs, which would not belong to it any more.",
		Traits:   Traits{ClosedWorld: true},
		Aliases:  []string{"notebookedit"},
		Deferred: true,
	}, runNotebookEdit)
}

type notebookEditInput struct {
	FilePath  string `json:"file_path" jsonschema:"Path: absolute, relative to the workspace, or file://."`
	CellID    string `json:"cell_id,omitempty" jsonschema:"The cell to replace or delete; for insert the cell after which (at the beginning)."`
	NewSource string `json:"new_source" jsonschema:"The source of the cell, taken literally; empty for delete."`
	CellType  string `json:"cell_type,omitempty" enum:"code,markdown,raw" jsonschema:"For insert needed; for replace as it was."`
	EditMode  string `json:"edit_mode,omitempty" enum:"replace,insert,delete" jsonschema:"What to do (replace)."`
	Version   string `json:"version,omitempty" jsonschema:"Version that read_file returned; needed only without a session."`
}

func (in notebookEditInput) Validate(*Session) error {
	if err := checkFileName(in.FilePath); err != nil {
		return err
	}
	switch {
	case !strings.HasSuffix(strings.ToLower(in.FilePath), ".ipynb"):
		return fmt.Errorf("%s is no notebook (.ipynb); use edit_file", shorten(in.FilePath, maxPathShown))
	case in.EditMode == "insert" && in.CellType == "":
		return errors.New("cell_type is needed to insert a cell: code, markdown or raw")
	case in.EditMode != "insert" && in.CellID == "":
		return errors.New("cell_id is needed: the cell to replace or delete, as read_file shows it")
	case in.EditMode == "delete" && in.NewSource != "":
		return errors.New("edit_mode is delete, but new_source is given; which of them is meant?")
	}
	return nil
}

func (in notebookEditInput) Target(ctx context.Context, s *Session) (Subject, error) {
	return s.pathSubject(ctx, in.FilePath)
}

func runNotebookEdit(ctx context.Context, s *Session, in notebookEditInput) (Output, error) {
	ws, p, err := s.resolve(ctx, in.FilePath)
	if err != nil {
		return Output{}, err
	}
	e := &cellEdit{s: s, in: in, p: p, action: editing.at(s, ws, p), shown: shorten(in.FilePath, maxPathShown)}
	done, err := s.update(ctx, ws, p, in.Version, editing, e.change)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Output{}, s.notFound(ws, in.FilePath, p)
	case err != nil:
		return Output{}, fileError(in.FilePath, err)
	}
	v := view{path: p, version: done.Version, stamp: sandbox.StampOf(done.Info), lines: edit.Lines(e.edited.Text), whole: e.known.whole}
	s.learn(ctx, v)
	left := done.Version
	if !v.whole {
		left = left.Partial()
	}
	out := Output{Text: e.report(), Notes: append(e.notes, done.Notes...)}
	s.versioned(&out, left)
	s.undoable(ctx, &out)
	return out, nil
}

// cellEdit is one notebook_edit call between the old notebook and the new.
type cellEdit struct {
	s     *Session
	in    notebookEditInput
	p     sandbox.Path
	shown string
	action

	known  view
	edited notebook.Edited
	notes  []string
}

func (e *cellEdit) change(cur sandbox.Current) (sandbox.Parts, error) {
	if !cur.Exists {
		return nil, fs.ErrNotExist
	}
	known, note, err := e.s.mayChange(e.shown, e.p, cur, e.in.Version, e.action)
	if err != nil {
		return nil, sayAs(err)
	}
	e.known = known
	if note != "" {
		e.notes = append(e.notes, note)
	}
	text, nb, err := parseNotebook(cur.Content)
	if err != nil {
		return nil, sayf("%s cannot be edited as a notebook: %v. Nothing was changed.", e.shown, err)
	}
	if e.edited, err = e.apply(nb); err != nil {
		return nil, sayf("%v. Nothing was changed in %s.", err, e.shown)
	}
	next, err := text.Change(edit.Differing(text.Body, e.edited.Text))
	if err != nil {
		return nil, sayAs(unwritable("new_source", e.shown, text.Encoding, err))
	}
	return next, nil
}

func (e *cellEdit) apply(nb *notebook.Notebook) (notebook.Edited, error) {
	switch e.in.EditMode {
	case "insert":
		return nb.Insert(e.in.CellID, e.in.NewSource, e.in.CellType)
	case "delete":
		return nb.Delete(e.in.CellID)
	}
	return nb.Replace(e.in.CellID, e.in.NewSource, e.in.CellType)
}

func (e *cellEdit) report() string {
	did := map[string]string{"insert": "Inserted", "delete": "Deleted"}[e.in.EditMode]
	if did == "" {
		did = "Replaced"
	}
	text := fmt.Sprintf("%s cell %s (%s) of %s", did, e.edited.Name, e.edited.Type, e.shown)
	if e.edited.Cleared > 0 && did == "Replaced" {
		text += "\nIts old output was cleared: it belonged to the old source."
	}
	return text
}
