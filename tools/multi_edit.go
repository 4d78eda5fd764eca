package tools

import (
	"context"
	"errors"
	"fmt"

	"mcp-tools/tools/edit"
)

// maxEdits is how many edits one call makes.
const maxEdits = 1000

func multiEdit() Tool {
	return New(Tool{
		Name:  "multi_edit",
		Title: "Edit file at several places",
		Description: "Makes several replacements in one file that was read before, all or none. Use it for changes that belong together. " +
			"Each old_string is found in the file as it was before the call, exactly as edit_file finds it, so the order means nothing; " +
			"edits that change the same characters are refused.",
		Traits:   Traits{ClosedWorld: true},
		Aliases:  []string{"multiedit"},
		Deferred: true,
	}, runMultiEdit)
}

type multiEditInput struct {
	FilePath string    `json:"file_path" jsonschema:"Path: absolute, relative to the workspace, or file://."`
	Edits    []oneEdit `json:"edits" jsonschema:"The replacements."`
	Version  string    `json:"version,omitempty" jsonschema:"Version that read_file returned; needed only without a session."`
	DryRun   bool      `json:"dry_run,omitempty" jsonschema:"Only show what would change (false)."`
}

type oneEdit struct {
	OldString  string `json:"old_string" jsonschema:"The text to replace, exactly as in the file."`
	NewString  string `json:"new_string" jsonschema:"The text to put there, taken literally."`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"Replace every occurrence (false)."`
}

func (in multiEditInput) Validate(*Session) error {
	if err := checkFileName(in.FilePath); err != nil {
		return err
	}
	switch n := len(in.Edits); {
	case n == 0:
		return errors.New("edits is empty: give at least one {old_string, new_string}")
	case n > maxEdits:
		return fmt.Errorf("%d edits are too many; make at most %d in one call", n, maxEdits)
	}
	for i, one := range in.Edits {
		switch {
		case one.OldString == "":
			return fmt.Errorf("old_string of edit %d is empty; to fill an empty file use edit_file", i+1)
		case one.OldString == one.NewString:
			return fmt.Errorf("old_string and new_string of edit %d are identical, so there is nothing to change", i+1)
		}
	}
	return nil
}

func (in multiEditInput) Target(ctx context.Context, s *Session) (Subject, error) {
	return s.pathSubject(ctx, in.FilePath)
}

func runMultiEdit(ctx context.Context, s *Session, in multiEditInput) (Output, error) {
	e := fileEdit{name: in.FilePath, version: in.Version, dry: in.DryRun}
	for _, one := range in.Edits {
		e.requests = append(e.requests, edit.Request{Old: one.OldString, New: one.NewString, All: one.ReplaceAll, Max: maxEdited})
	}
	return s.editFile(ctx, e)
}
