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

// resolve finds the place a model names; within a call always the same, so that
// what was permitted is what is used. The error is a sentence for the model.
func (s *Session) resolve(ctx context.Context, name string) (*sandbox.Workspace, sandbox.Path, error) {
	c := runningCall(ctx)
	if c != nil {
		if p, ok := c.places[name]; ok {
			return p.ws, p.path, nil
		}
	}
	ws, err := s.workspace(ctx)
	if err != nil {
		return nil, sandbox.Path{}, err
	}
	p, err := ws.Resolve(name)
	if err != nil {
		return nil, sandbox.Path{}, pathError(name, err)
	}
	if c != nil {
		if c.places == nil {
			c.places = make(map[string]judgedPath)
		}
		c.places[name] = judgedPath{ws, p}
	}
	return ws, p, nil
}

// A pathFailure is an error of the workspace in words.
type pathFailure struct {
	text string
	err  error
}

func (e *pathFailure) Error() string { return e.text }
func (e *pathFailure) Unwrap() error { return e.err }

// pathError says what is wrong with a path, as the model gave it.
func pathError(name string, err error) error {
	return &pathFailure{pathReason(printable(shorten(name, maxPathShown)), err), err}
}

func pathReason(name string, err error) string {
	var bad *sandbox.BadPathError
	var odd *sandbox.NotRegularError
	switch {
	case errors.As(err, &bad):
		return name + ": " + bad.Reason
	case errors.As(err, &odd):
		return fmt.Sprintf("%s is %s, not a regular file; it was not opened", name, sandbox.KindOf(odd.Mode))
	case errors.Is(err, sandbox.ErrEscapes):
		return "Path escapes workspace: " + name
	case errors.Is(err, sandbox.ErrTooManyLinks):
		return name + ": too many symbolic links on the way; name the file they should lead to"
	case errors.Is(err, sandbox.ErrIsDir):
		return name + " is a directory. Use list_files to see what is in it"
	case errors.Is(err, sandbox.ErrReadOnly):
		return name + " lies in a read-only workspace root; only the user can open it for writing"
	case errors.Is(err, sandbox.ErrGuarded):
		return name + " is a guarded name, which only a rule of the user for this very path opens. Nothing was changed"
	case errors.Is(err, sandbox.ErrHardLinks):
		return name + " has several hard links, so writing it would change or detach the others. Nothing was changed; remove the other names first, or write to a new file"
	case errors.Is(err, sandbox.ErrTooLarge):
		return name + " is larger than 1 GiB, too large to be edited here; use run_shell with a streaming tool such as sed"
	case errors.Is(err, sandbox.ErrBusy):
		return name + ": another program holds the lock of its folder. Nothing was changed; try again"
	case errors.Is(err, sandbox.ErrChanged):
		return name + " was changed by somebody else in this very moment. Nothing was written; read it again"
	}
	return systemReason(name, err)
}

// systemReason words what the operating system says.
func systemReason(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return name + " does not exist"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return name + ": " + sandbox.Reason(err) + ". The file's permissions forbid it"
	case errors.Is(err, syscall.ENOTDIR):
		return name + ": a part of the path is a file, not a directory"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return name + ": the name is too long for the file system"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return name + ": the disk is full. Nothing was changed; make room, then try again"
	}
	return name + ": " + sandbox.Reason(err)
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
	return subjectAt(ws, p, name), nil
}

// subjectAt is a place that was resolved, as the rules see it.
func subjectAt(ws *sandbox.Workspace, p sandbox.Path, name string) Subject {
	paths := append([]string{ws.Show(p)}, ws.Spellings(p)...)
	return Subject{Paths: paths, As: filepath.ToSlash(filepath.Clean(name)), Guarded: ws.IsGuarded(p)}
}

// update changes the file at p as [sandbox.Workspace.Update] does, with what the
// rules grant the running call. A large file that the model cannot know is
// refused before it is read.
func (s *Session) update(ctx context.Context, ws *sandbox.Workspace, p sandbox.Path, handle string, a action, change func(sandbox.Current) (sandbox.Parts, error)) (sandbox.Current, error) {
	c := runningCall(ctx)
	var kept *keptChange
	done, err := ws.Update(ctx, p, sandbox.UpdateOptions{
		Granted: c != nil && c.granted,
		Before: func(info fs.FileInfo, exists bool) error {
			if c != nil && c.gone != nil && c.gone() {
				return sayAs(cancelled(context.Canceled))
			}
			if !exists || info.Size() <= maxSnapshot || sandbox.IsHandle(handle) || !s.opts.Stateless && s.seen.has(p) {
				return nil
			}
			return sayAs(s.mustRead(a))
		},
		Ready: func(ctx context.Context) error { return kept.ready(ctx) },
	}, func(cur sandbox.Current) (sandbox.Parts, error) {
		next, err := change(cur)
		if err == nil || errors.Is(err, sandbox.ErrRemove) {
			kept = s.keep(c, p, cur)
		}
		return next, err
	})
	if errors.Is(err, sandbox.ErrNotDurable) { // it was written all the same
		done.Notes = append(done.Notes, sandbox.ErrNotDurable.Error())
		err = nil
	}
	if note := kept.settle(done, err); note != "" {
		done.Notes = append(done.Notes, note)
	}
	return done, err
}

// mustRead is the refusal of a file the model was not shown.
func (s *Session) mustRead(a action) error {
	if s.opts.Stateless {
		return fmt.Errorf("You must read this file before %s. Pass the version that read_file returned.", a.gerund)
	}
	return fmt.Errorf("You must read this file before %s. Use read_file first to see its current contents.", a.gerund)
}

// An action names what a tool does with a file, for messages.
type action struct {
	gerund string // "writing"
	whole  bool   // all of the old content goes
	secret bool   // rules forbid to show the content
}

var (
	writing = action{gerund: "writing", whole: true}
	editing = action{gerund: "editing"}
)

// at is the action on a certain file.
func (a action) at(s *Session, ws *sandbox.Workspace, p sandbox.Path) action {
	a.secret = s.policy().keeps(ws.Spellings(p))
	return a
}

// mayChange tells whether the model knows the content that it is about to
// change: by the version handle it passed, which then alone decides, or by what
// this session has shown it. known is what the session knows of that very
// content, and note a remark for the result. The error never tells the present
// version.
func (s *Session) mayChange(shown string, p sandbox.Path, cur sandbox.Current, handle string, a action) (known view, note string, err error) {
	handle = trimHandle(handle)
	last, seenIt := s.recall(p, cur.Version)
	if a.secret && sandbox.IsHandle(handle) { // else it could be found out by trying what a guess's handle is
		if !seenIt {
			return known, "", fmt.Errorf("rules of the user forbid to show %s, so no version of it is taken: whoever changes a file must have seen it", shown)
		}
		handle = ""
	}
	if last.version == cur.Version {
		known = last
	}
	if sandbox.IsHandle(handle) {
		v := sandbox.Version(handle)
		switch {
		case a.whole && v.IsPartial():
			return known, "", fmt.Errorf("You have seen only a part of %s: this version handle is of a partial view. Overwriting takes a view of the whole file in one page (raise limit); to change a part use edit_file.", shown)
		case v.Whole() != cur.Version:
			return known, "", s.modified(shown, cur, v.Whole(), last, a)
		}
		known.whole = known.whole || !v.IsPartial()
		return known, "", nil
	}
	if s.opts.Stateless && handle != "" {
		return known, "", fmt.Errorf("version %s is no version handle. %w", shorten(printable(handle), maxWord), s.mustRead(a))
	}
	if s.opts.Stateless {
		return known, "", s.mustRead(a)
	}
	if handle != "" {
		note = "ignored version: it is no handle that read_file returned"
	}
	switch {
	case !seenIt:
		return known, "", s.unread(shown, cur, a)
	case last.version != cur.Version:
		return known, "", s.modified(shown, cur, last.version, last, a)
	case a.whole && !last.whole:
		return known, "", partlySeen(shown, last)
	}
	return known, note, nil
}

// trimHandle is a version handle without what it was shown in: "[version: v1.…]".
func trimHandle(handle string) string {
	handle = strings.Trim(handle, " \t\r\n[]\"'`")
	return strings.TrimRight(strings.TrimSpace(strings.TrimPrefix(handle, "version:")), "=")
}

// unread is the refusal of a file that was never shown.
func (s *Session) unread(shown string, cur sandbox.Current, a action) error {
	if a.secret { // also what kind of file it is is not told
		return fmt.Errorf("rules of the user forbid to show %s, so it cannot be changed unseen. Ask the user.", shown)
	}
	switch _, err := edit.Decode(cur.Content); {
	case err != nil && a.whole:
		return fmt.Errorf("%s holds something that read_file cannot show as text, so it is not overwritten unseen. If it is to be replaced, remove it first.", shown)
	case err != nil:
		return fmt.Errorf("%s is not text that can be edited without risk to its other bytes: %w. Nothing was changed.%s", shown, err, s.howToName())
	}
	return s.mustRead(a)
}

// decode reads content in the encoding that the model named when it read the file,
// or that is found out.
func (v view) decode(content []byte) (edit.Text, error) {
	if v.encoding != "" {
		return edit.DecodeAs(content, v.encoding)
	}
	return edit.Decode(content)
}

// unwritable words why a parameter's text cannot be written in the encoding of a file.
func unwritable(parameter, shown, encoding string, err error) error {
	if errors.Is(err, edit.ErrNotItself) {
		return fmt.Errorf("%s is in %s, which was found out from its text; with this change it could no longer be told. Nothing was changed. Read the file with encoding=%q first: then it can be made.", shown, encoding, encoding)
	}
	reason := err.Error()
	var bad *edit.EncodingError
	if errors.As(err, &bad) {
		reason = fmt.Sprintf("%s (line %d of %s)", bad.Reason, bad.Line, parameter)
	}
	return fmt.Errorf("%s cannot be written in the encoding of %s, %s: %s. Nothing was changed.", parameter, shown, encoding, reason)
}

// recall is what the session knows of a file; nothing where it keeps no memory.
func (s *Session) recall(p sandbox.Path, now sandbox.Version) (view, bool) {
	if s.opts.Stateless {
		return view{}, false
	}
	return s.seen.find(p, now)
}

// learn records what the model was shown.
func (s *Session) learn(ctx context.Context, v view) {
	if s.opts.Stateless {
		return
	}
	s.seen.add(v)
	if c := runningCall(ctx); c != nil {
		c.learned = append(c.learned, v.path.Key())
	}
}

func partlySeen(shown string, known view) error {
	if known.lines > 0 && len(known.cut) > 0 && slices.Concat(known.shown, known.cut).normal().covers(known.lines) {
		return fmt.Errorf("You have seen line %s of %s only in part (it is longer than %d characters). Use edit_file, or remove the file and write it anew.", known.cut, shown, maxLine)
	}
	if len(known.shown) == 0 {
		return fmt.Errorf("You have seen only a part of %s. Read all of it first, or use edit_file.", shown)
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
	if known.version != v || known.text == nil || a.secret {
		return Fail(Output{Text: text})
	}
	now, err := known.decode(cur.Content)
	if err != nil {
		return Fail(Output{Text: text})
	}
	diff := edit.Render(edit.Diff(*known.text, now.Body), maxDiffShown)
	return Fail(Output{Text: text + "\nWhat has changed since:\n" + diff})
}

// remember records that the model knows all of a file's content.
func (s *Session) remember(ctx context.Context, p sandbox.Path, cur sandbox.Current, body, encoding string) {
	s.learn(ctx, view{
		path: p, encoding: encoding, version: cur.Version, lines: edit.Lines(body), whole: true,
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
