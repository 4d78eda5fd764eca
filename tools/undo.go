package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"mcp-tools/sandbox"
	"mcp-tools/tools/edit"
)

// maxListed is how many changes a list shows.
const maxListed = 50

func undo() Tool {
	return New(Tool{
		Name:  "undo",
		Title: "Undo a change",
		Description: "Takes back a change that write_file, edit_file or another file tool has made: the file is again as it was before. " +
			"Without id it takes back the latest change of this session that was not taken back; called again, the one before that. " +
			"list shows the changes and their ids. A change is only taken back if the file is still as it left it. " +
			"Undoing an undo, by its id, makes the change again. What run_shell has changed cannot be undone.",
		Traits:   Traits{ClosedWorld: true},
		Deferred: true,
	}, runUndo)
}

type undoInput struct {
	ID   string `json:"id,omitempty" jsonschema:"The change to take back (the latest)."`
	List bool   `json:"list,omitempty" jsonschema:"Only show what can be taken back (false)."`
}

func (in undoInput) Validate(*Session) error {
	if in.List && in.ID != "" {
		return errors.New("id and list exclude each other: first look at the list, then undo by id")
	}
	return nil
}

// Traits: a list only reads.
func (in undoInput) Traits(*Session) Traits {
	if in.List {
		return Traits{ReadOnly: true, ConcurrencySafe: true, Idempotent: true}
	}
	return Traits{}
}

// Target is the file of the change: what rules forbid to write is not undone either.
func (in undoInput) Target(ctx context.Context, s *Session) (Subject, error) {
	if in.List {
		return Subject{}, nil
	}
	p, err := s.undone(in.ID)
	if err != nil {
		return Subject{}, err
	}
	return s.pathSubject(ctx, p.Path)
}

// undone is the change to take back.
func (s *Session) undone(id string) (sandbox.Preimage, error) {
	if id != "" {
		p, err := s.env.State.Preimage(strings.ToUpper(id))
		if errors.Is(err, sandbox.ErrNoPreimage) {
			return p, fmt.Errorf("there is no change %s to take back: changes are kept for 7 days, and 256 MiB of them. list shows those of this session", shorten(id, maxWord))
		}
		return p, err
	}
	if s.opts.Stateless {
		return sandbox.Preimage{}, errors.New("without a session there is no latest change: pass the undo id that came with the result of the change")
	}
	p, ok := s.changes.last()
	if p.blocked != "" {
		return p.Preimage, fmt.Errorf("the latest change, %s of %s, cannot be taken back: %s. list shows the changes before it, which can be by their id", p.Tool, s.shownHost(p.Path), p.blocked)
	}
	if !ok {
		return p.Preimage, errors.New("there is nothing to undo: this session has changed no file, or all its changes were taken back")
	}
	return p.Preimage, nil
}

// shownHost is a path of the host as the model sees it.
func (s *Session) shownHost(path string) string {
	if ws, err := s.workspace(context.Background()); err == nil {
		if p, err := ws.Resolve(path); err == nil {
			return ws.Show(p)
		}
	}
	return printable(path)
}

func runUndo(ctx context.Context, s *Session, in undoInput) (Output, error) {
	if in.List {
		return s.listChanges(ctx)
	}
	before, err := s.undone(in.ID)
	if err != nil {
		return Output{}, err
	}
	content, err := s.env.State.Content(before)
	if err != nil {
		if errors.Is(err, sandbox.ErrNoPreimage) {
			return Output{}, errors.New("the content before this change is not kept any more. Nothing was changed")
		}
		return Output{}, fmt.Errorf("this change cannot be taken back: %s. Nothing was changed", sandbox.Reason(err))
	}
	ws, p, err := s.resolve(ctx, before.Path)
	if err != nil {
		return Output{}, err
	}
	if p.Host() != before.Path { // a link stands there now
		return Output{}, fmt.Errorf("%s leads elsewhere since: the change cannot be taken back there. Nothing was changed", s.shownHost(before.Path))
	}
	runningCall(ctx).undoes = before.ID
	u := &undoing{s: s, before: before, content: content, shown: ws.Show(p), action: editing.at(s, ws, p)}
	done, err := s.update(ctx, ws, p, string(before.Left), editing, u.change)
	switch {
	case errors.Is(err, sandbox.ErrUnchanged), errors.Is(err, fs.ErrNotExist):
		return Output{}, u.changed()
	case err != nil:
		return Output{}, fileError(u.shown, err)
	}
	return u.output(ctx, p, done), nil
}

// undoing is one undo between the file as it is and as it was.
type undoing struct {
	s       *Session
	before  sandbox.Preimage
	content []byte
	shown   string
	action
	now []byte
}

func (u *undoing) change(cur sandbox.Current) (sandbox.Parts, error) {
	u.now = cur.Content
	if cur.Exists != (u.before.Left != "") || cur.Exists && cur.Version != u.before.Left {
		return nil, sayAs(u.changed())
	}
	if !u.before.Existed {
		return nil, sandbox.ErrRemove
	}
	return sandbox.Whole(u.content), nil
}

func (u *undoing) changed() error {
	return fmt.Errorf("%s has changed since, so the change cannot be taken back without losing that. Nothing was changed. Read the file and edit it, or take back another change: list shows them, and their ids", u.shown)
}

func (u *undoing) output(ctx context.Context, p sandbox.Path, done sandbox.Current) Output {
	what := u.before.Tool
	if what == "" {
		what = "change"
	}
	out := Output{Text: fmt.Sprintf("Took back %s of %s", what, u.shown), Notes: done.Notes}
	if !done.Exists {
		out.Text += "\nThe file did not exist before; it was removed."
		u.s.undoable(ctx, &out)
		return out
	}
	known, ok := u.s.recall(p, u.before.Left)
	was, errWas := known.decode(u.now)
	is, errIs := known.decode(u.content)
	if errWas == nil && errIs == nil && !u.secret {
		out.Text += "\n\n" + edit.Render(edit.Diff(was.Body, is.Body), maxDiff)
	}
	if ok && known.version == u.before.Left && errIs == nil {
		u.learn(ctx, p, done, known, is.Body)
	}
	u.s.versioned(&out, done.Version.Partial())
	u.s.undoable(ctx, &out)
	return out
}

// learn records what the session knows of the file now: what it knew of what it has
// taken back, but not which lines of the text before it was shown.
func (u *undoing) learn(ctx context.Context, p sandbox.Path, done sandbox.Current, known view, body string) {
	if known.whole {
		u.s.remember(ctx, p, done, body, known.encoding)
		return
	}
	u.s.learn(ctx, view{path: p, version: done.Version, encoding: known.encoding, lines: edit.Lines(body), stamp: sandbox.StampOf(done.Info), text: &body})
}

// listChanges shows what this session has changed, the latest first.
func (s *Session) listChanges(ctx context.Context) (Output, error) {
	if s.opts.Stateless {
		return Output{}, errors.New("without a session there is no list of changes: the undo id came with the result of each")
	}
	ws, err := s.workspace(ctx)
	if err != nil {
		return Output{}, err
	}
	all := s.changes.latest(maxChanges)
	if len(all) == 0 {
		return Output{Text: "This session has changed no file."}, nil
	}
	var b strings.Builder
	for _, c := range all[:min(len(all), maxListed)] {
		shown := c.Path
		if p, err := ws.Resolve(c.Path); err == nil {
			shown = ws.Show(p)
		}
		id := c.ID
		if c.blocked != "" {
			id = strings.Repeat("-", 16)
		}
		fmt.Fprintf(&b, "%s  %s  %s %s", id, c.Time.Format(time.TimeOnly), c.Tool, printable(shown))
		switch {
		case c.blocked != "":
			b.WriteString(" (cannot be taken back: " + c.blocked + ")")
		case c.undone:
			b.WriteString(" (taken back)")
		case c.Undoes != "":
			b.WriteString(" (took back " + c.Undoes + ")")
		}
		b.WriteString("\n")
	}
	if n := len(all) - maxListed; n > 0 {
		fmt.Fprintf(&b, "... and %d more\n", n)
	}
	return Output{Text: strings.TrimSuffix(b.String(), "\n")}, nil
}
