package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mcp-tools/sandbox"
	"mcp-tools/tools/edit"
)

// What the tools that read and write files share.

// maxPathShown is how much of a model's path a message repeats.
const maxPathShown = 300

// resolve finds the place a model names. The error is a sentence for the model.
func (s *Session) resolve(ctx context.Context, name string) (*sandbox.Workspace, sandbox.Path, error) {
	ws, err := s.workspace(ctx)
	if err != nil {
		return nil, sandbox.Path{}, err
	}
	p, err := ws.Resolve(name)
	if err != nil {
		return nil, sandbox.Path{}, pathError(name, err)
	}
	return ws, p, nil
}

// pathError says what is wrong with a path, as the model gave it.
func pathError(name string, err error) error {
	name = shorten(name, maxPathShown)
	var bad *sandbox.BadPathError
	var odd *sandbox.NotRegularError
	switch {
	case errors.As(err, &bad):
		return fmt.Errorf("%s: %s", printable(name), bad.Reason)
	case errors.As(err, &odd):
		return fmt.Errorf("%s is %s, not a regular file; it was not opened", name, sandbox.KindOf(odd.Mode))
	case errors.Is(err, sandbox.ErrEscapes):
		return fmt.Errorf("Path escapes workspace: %s", name) //nolint:staticcheck // the contract's words
	case errors.Is(err, sandbox.ErrTooManyLinks):
		return fmt.Errorf("%s: too many symbolic links on the way; name the file they should lead to", name)
	case errors.Is(err, sandbox.ErrIsDir):
		return fmt.Errorf("%s is a directory. Use list_files to see what is in it", name)
	case errors.Is(err, sandbox.ErrReadOnly):
		return fmt.Errorf("%s lies in a read-only workspace root; only the user can open it for writing", name)
	case errors.Is(err, sandbox.ErrHardLinks):
		return fmt.Errorf("%s has several hard links, so writing it would change or detach the others. Nothing was changed; remove the other names first, or write to a new file", name)
	case errors.Is(err, sandbox.ErrTooLarge):
		return fmt.Errorf("%s is larger than 1 GiB, too large to be edited here; use run_shell with a streaming tool such as sed", name)
	case errors.Is(err, sandbox.ErrChanged):
		return fmt.Errorf("%s was changed by somebody else in this very moment. Nothing was written; read it again", name)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s: %s. The file's permissions forbid it", name, sandbox.Reason(err))
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s: a part of the path is a file, not a directory", name)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("%s: the name is too long for the file system", name)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s: the disk is full. Nothing was changed; make room, then try again", name)
	}
	return fmt.Errorf("%s: %s", name, sandbox.Reason(err))
}

// printable shows a name that may hold control characters.
func printable(name string) string {
	quoted := fmt.Sprintf("%q", name)
	if quoted[1:len(quoted)-1] == name {
		return name
	}
	return quoted
}

// pathSubject is what rules are matched against for a tool about one path.
func (s *Session) pathSubject(ctx context.Context, name string) (Subject, error) {
	ws, p, err := s.resolve(ctx, name)
	if err != nil {
		return Subject{}, err
	}
	return Subject{
		Paths:   []string{ws.Show(p), p.Rel(), filepath.ToSlash(p.Host()), strings.TrimPrefix(filepath.ToSlash(filepath.Clean(name)), "./")},
		Guarded: ws.IsGuarded(p),
	}, nil
}

// update changes the file at p as [sandbox.Workspace.Update] does, with what the
// rules grant the running call.
func (s *Session) update(ctx context.Context, ws *sandbox.Workspace, p sandbox.Path, change func(sandbox.Current) ([]byte, error)) (sandbox.Current, error) {
	o := sandbox.UpdateOptions{}
	if c := runningCall(ctx); c != nil && ws.IsGuarded(p) {
		subject := Subject{Paths: []string{ws.Show(p), p.Rel()}, Guarded: true}
		o.Granted = s.env.Policy.grants(c.tool, subject)
	}
	return ws.Update(ctx, p, o, change)
}

// An action names what a tool does with a file, for messages.
type action struct {
	gerund string // "writing"
	whole  bool   // all of the old content goes
}

var (
	writing = action{"writing", true}
	editing = action{"editing", false}
)

// mayChange tells whether the model knows the content that it is about to
// change: by the version handle it passed, which then alone decides, or by what
// this session has shown it. note is a remark for the result. The error never
// tells the present version.
func (s *Session) mayChange(shown string, p sandbox.Path, cur sandbox.Current, handle string, a action) (note string, err error) {
	known, seenIt := s.seen.find(p)
	if handle != "" && sandbox.IsHandle(handle) {
		v := sandbox.Version(handle)
		switch {
		case a.whole && v.IsPartial():
			return "", errors.New("You have seen only a part of " + shown + ": this version handle is of a partial view. Read the rest first, or use edit_file.")
		case v.Whole() != cur.Version:
			return "", s.modified(shown, cur, v.Whole(), known, a)
		}
		return "", nil
	}
	if s.opts.Stateless {
		return "", fmt.Errorf("You must read this file before %s. Pass the version that read_file returned.", a.gerund)
	}
	if handle != "" {
		note = "ignored version: it is no handle that read_file returned"
	}
	switch {
	case !seenIt:
		return "", fmt.Errorf("You must read this file before %s. Use read_file first to see its current contents.", a.gerund)
	case known.version != cur.Version:
		return "", s.modified(shown, cur, known.version, known, a)
	case a.whole && !known.whole:
		return "", partlySeen(shown, known)
	}
	return note, nil
}

func partlySeen(shown string, known view) error {
	if known.lines > 0 && len(known.cut) > 0 && slices.Concat(known.shown, known.cut).normal().covers(known.lines) {
		return fmt.Errorf("You have seen line %s of %s only in part (it is longer than %d characters). Use edit_file, or remove the file and write it anew.", known.cut, shown, maxLine)
	}
	of := ""
	if known.lines > 0 {
		of = fmt.Sprintf(" of %d", known.lines)
	}
	return fmt.Errorf("You have seen only lines %s%s. Read the rest first, or use edit_file.", known.shown, of)
}

// maxDiffShown is how many lines of a diff a refusal shows.
const maxDiffShown = 40

// modified is the refusal when the content is not the one of version v.
func (s *Session) modified(shown string, cur sandbox.Current, v sandbox.Version, known view, a action) error {
	text := fmt.Sprintf("Warning: %s was modified externally since your last read. Please read_file again before %s.", shown, a.gerund)
	if known.version != v || known.text == nil {
		return Fail(Output{Text: text})
	}
	now, err := edit.Decode(cur.Content)
	if err != nil {
		return Fail(Output{Text: text})
	}
	diff := edit.Render(edit.Diff(*known.text, now.Body), maxDiffShown)
	return Fail(Output{Text: text + "\nWhat has changed since:\n" + diff})
}

// remember records that the model knows all of a file's content.
func (s *Session) remember(p sandbox.Path, cur sandbox.Current, body string) {
	s.seen.add(view{
		path: p, version: cur.Version, lines: edit.Lines(body), whole: true,
		shown: spans{{1, edit.Lines(body)}}.normal(), stamp: sandbox.StampOf(cur.Info), text: &body,
	})
}

// versioned adds the version handle to a result: always for programs, and as a
// closing line where there is no session to remember it.
func (s *Session) versioned(out *Output, v sandbox.Version) {
	out.setMeta("version", string(v))
	if s.opts.Stateless {
		out.Notes = append(out.Notes, "version: "+string(v))
	}
}
