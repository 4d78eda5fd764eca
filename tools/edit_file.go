package tools

import (
	"context"
	"errors"

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
	return s.editFile(ctx, fileEdit{
		name: in.FilePath, version: in.Version, dry: in.DryRun,
		requests: []edit.Request{{Old: in.OldString, New: in.NewString, All: in.ReplaceAll, Max: maxEdited}},
	})
}
