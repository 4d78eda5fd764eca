package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"mcp-tools/sandbox"
	"mcp-tools/tools/edit"
)

// previewWritten is how many lines of a new file are shown.
const previewWritten = 30

// maxDiff is how many changed lines a successful write shows.
const maxDiff = 200

func writeFile() Tool {
	return New(Tool{
		Name:  "write_file",
		Title: "Write file",
		Description: "Writes a whole file: makes a new one, with its folders, or replaces all of an existing one, which must have been read to its end first. " +
			"For a change of some lines use edit_file, which is safer and shorter. " +
			"The content is written exactly as sent.",
		Aliases: []string{"write", "create_file"},
		Traits:  Traits{Idempotent: true, ClosedWorld: true},
	}, runWriteFile)
}

type writeFileInput struct {
	FilePath string `json:"file_path" jsonschema:"Path: absolute, relative to the workspace, or file://."`
	Content  string `json:"content" jsonschema:"The whole new content, without line numbers."`
	Version  string `json:"version,omitempty" jsonschema:"Version that read_file returned; needed only without a session."`
}

func (in writeFileInput) Validate(*Session) error { return checkFileName(in.FilePath) }

// checkFileName refuses what cannot be meant as the name of a file to write.
func checkFileName(name string) error {
	switch {
	case name == "":
		return errors.New("file_path must not be empty")
	case strings.HasSuffix(name, "/"):
		return fmt.Errorf("file_path %s ends in / and so names a folder; folders are made with the files in them", shorten(name, maxPathShown))
	}
	return nil
}

func (in writeFileInput) Target(ctx context.Context, s *Session) (Subject, error) {
	return s.pathSubject(ctx, in.FilePath)
}

func runWriteFile(ctx context.Context, s *Session, in writeFileInput) (Output, error) {
	ws, p, err := s.resolve(ctx, in.FilePath)
	if err != nil {
		return Output{}, err
	}
	w := &fileWrite{s: s, in: in, p: p, action: writing.at(s, ws, p), shown: shorten(in.FilePath, maxPathShown)}
	done, err := s.update(ctx, ws, p, in.Version, writing, w.change)
	if err != nil {
		return Output{}, fileError(in.FilePath, err)
	}
	s.remember(ctx, p, done, w.body, w.encoding)
	out := Output{Text: w.report(), Notes: append(w.notes, done.Notes...)}
	s.versioned(&out, done.Version)
	s.undoable(ctx, &out)
	return out, nil
}

// fileError passes on what is already a sentence and words what the file system said.
func fileError(name string, err error) error {
	var said *failure
	var own *sentence
	if errors.As(err, &said) || errors.As(err, &own) || isContextError(err) {
		return err
	}
	return pathError(name, err)
}

// fileWrite is one write_file call between the old content and the new.
type fileWrite struct {
	s     *Session
	in    writeFileInput
	p     sandbox.Path
	shown string
	action

	old     edit.Text
	existed bool
	same    bool
	body    string // what is in the file now
	// encoding that the model named when it read the file; "": it was found out.
	encoding string
	notes    []string
}

func (w *fileWrite) change(cur sandbox.Current) (sandbox.Parts, error) {
	w.body = w.in.Content
	w.existed = cur.Exists
	if !cur.Exists {
		if sandbox.IsHandle(w.in.Version) {
			return nil, sayf("%s does not exist any more, but a version was passed, so it was meant to be overwritten. To make it anew leave out version.", w.shown)
		}
		if err := w.check(); err != nil {
			return nil, err
		}
		w.remark()
		return sandbox.Whole([]byte(w.in.Content)), nil
	}
	known, note, err := w.s.mayChange(w.shown, w.p, cur, w.in.Version, w.action)
	if err != nil {
		return nil, sayAs(err)
	}
	if note != "" {
		w.notes = append(w.notes, note)
	}
	w.encoding = known.encoding
	if w.old, err = known.decode(cur.Content); err != nil {
		return nil, sayf("%s is not text in an encoding that can be kept, so it is not overwritten. Remove it first if it is to be replaced.", w.shown)
	}
	if w.old.BOM {
		w.body = strings.TrimPrefix(w.body, mark)
	}
	parts, err := w.old.Change(edit.Differing(w.old.Body, w.body))
	next := bytes.Join(parts, nil)
	if err != nil {
		return nil, sayAs(unwritable("content", w.shown, w.old.Encoding, err))
	}
	if string(next) == string(cur.Content) {
		w.same = true
		return nil, sandbox.ErrUnchanged
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	w.remark()
	return sandbox.Whole(next), nil
}

// check looks whether what is written parses.
func (w *fileWrite) check() error {
	note, err := checkSyntax(w.shown, w.p, w.existed, w.old.Body, w.body)
	if err != nil {
		return sayAs(err)
	}
	if note != "" {
		w.notes = append(w.notes, note)
	}
	return nil
}

// readPrefix is how read_file begins a line.
var readPrefix = regexp.MustCompile(`(?m)^ {0,3}\d+ \| `)

// remark notes what the model may not have meant.
func (w *fileWrite) remark() {
	if w.existed {
		before, okBefore := edit.CountEndings(w.old.Body).Uniform()
		after, okAfter := edit.CountEndings(w.body).Uniform()
		if okBefore && okAfter && before != after && before != "" && after != "" {
			w.notes = append(w.notes, fmt.Sprintf("line endings changed from %s to %s", endingName(before), endingName(after)))
		}
	}
	if w.body == "" && w.existed {
		w.notes = append(w.notes, "the file is now empty")
	}
	if n := edit.Lines(w.body); n > 0 && len(readPrefix.FindAllStringIndex(w.body, n+1)) == n {
		w.notes = append(w.notes, "every line begins with a line number as read_file shows it; if that was not meant, write the file again without these prefixes")
	}
}

func endingName(e string) string {
	switch e {
	case "\r\n":
		return "CRLF"
	case "\r":
		return "CR"
	}
	return "LF"
}

func (w *fileWrite) report() string {
	n := edit.Lines(w.body)
	head := fmt.Sprintf("Successfully wrote to %s (%s)", w.shown, countLines(n))
	switch {
	case w.same:
		return head + "\nThe file already had this content; it was not touched."
	case w.existed:
		return head + "\n\n" + edit.Render(edit.Diff(w.old.Body, w.body), maxDiff)
	case n == 0:
		return head
	}
	var b strings.Builder
	b.WriteString(head + "\n")
	i := 0
	for line := range edit.EachLine(w.body) {
		if i++; i > previewWritten {
			break
		}
		fmt.Fprintf(&b, "%4d | %s\n", i, shortenLine(line))
	}
	if n > previewWritten {
		fmt.Fprintf(&b, "  ... (%d lines total)", n)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func countLines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// shortenLine bounds a line of a preview.
func shortenLine(line string) string {
	const most = 500
	if len(line) <= most {
		return line
	}
	short := shorten(line, most)
	return fmt.Sprintf("%s [+%d bytes]", short, len(line)-len(short)+len("…"))
}
