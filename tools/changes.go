package tools

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"mcp-tools/sandbox"
)

// maxChanges is how many changes a session can list and take back without an id.
const maxChanges = 1000

// changes are what a session has changed, in order. Safe for concurrent use; the
// zero value is ready.
type changes struct {
	mu   sync.Mutex
	list []change
}

// A change of a file by this session.
type change struct {
	sandbox.Preimage
	undone  bool
	blocked string // why it cannot be taken back; "" where it can
}

// add records a change; one that undoes another marks it.
func (cs *changes) add(p sandbox.Preimage, blocked string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.mark(p.Undoes)
	cs.list = append(cs.list, change{Preimage: p, blocked: blocked})
	if len(cs.list) > maxChanges {
		cs.list = append([]change(nil), cs.list[len(cs.list)-maxChanges:]...)
	}
}

// mark says that the change called id was taken back. If it had itself taken one back,
// that one is made again, and so on. It needs cs.mu.
func (cs *changes) mark(id string) {
	for undone := true; id != ""; undone = !undone {
		i := slices.IndexFunc(cs.list, func(c change) bool { return c.ID == id })
		if i < 0 {
			return
		}
		cs.list[i].undone = undone
		id = cs.list[i].Undoes
	}
}

// last is the latest change that was not taken back and takes none back: what a
// user means who says undo once more.
func (cs *changes) last() (change, bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for i := len(cs.list) - 1; i >= 0; i-- {
		if c := cs.list[i]; !c.undone && c.Undoes == "" {
			return c, true
		}
	}
	return change{}, false
}

// latest are the changes, the latest first, at most n.
func (cs *changes) latest(n int) []change {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	var out []change
	for i := len(cs.list) - 1; i >= 0 && len(out) < n; i-- {
		out = append(out, cs.list[i])
	}
	return out
}

// keptChange is a change that is being made, with what it will take to undo it.
type keptChange struct {
	s       *Session
	call    *Call
	path    sandbox.Path
	existed bool

	written chan struct{} // closed when content or err is there
	content *sandbox.KeptContent
	err     error // why it cannot be undone
}

// undoable adds the id by which the change that the call has made can be taken
// back: for programs, and where no session will remember it also for the model.
func (s *Session) undoable(ctx context.Context, out *Output) {
	c := runningCall(ctx)
	if c == nil || c.change == "" {
		return
	}
	out.setMeta("undo", c.change)
	if s.opts.Stateless {
		out.Notes = append(out.Notes, "undo id: "+c.change)
	}
}

// keep writes down what is about to be changed, while the new content is written.
func (s *Session) keep(c *Call, p sandbox.Path, cur sandbox.Current) *keptChange {
	if s.env.State == nil {
		return nil // nothing is ever undone here
	}
	k := &keptChange{s: s, call: c, path: p, existed: cur.Exists, written: make(chan struct{})}
	go func() {
		defer close(k.written)
		defer func() {
			if v := recover(); v != nil { // nobody else would: the call is elsewhere
				k.err = fmt.Errorf("it failed unexpectedly: %v", v)
			}
		}()
		k.content, k.err = s.env.State.KeepContent(cur.Content, cur.Version)
	}()
	return k
}

// ready waits until it is written down what the file held. That it cannot be is no
// reason not to change it.
func (k *keptChange) ready(ctx context.Context) error {
	if k == nil {
		return nil
	}
	select {
	case <-k.written:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// discard forgets what was written down, when that has ended.
func (k *keptChange) discard() {
	<-k.written
	if k.content != nil {
		k.content.Discard()
	}
}

// settle records the change, or forgets it where err says that it was not made.
// The note, if any, says why the change cannot be taken back.
func (k *keptChange) settle(done sandbox.Current, err error) (note string) {
	if k == nil {
		return ""
	}
	if err != nil {
		go k.discard()
		return ""
	}
	<-k.written // it was waited for before the file changed
	p := sandbox.Preimage{Path: k.path.Host(), Existed: k.existed, Left: done.Version, Time: time.Now()}
	if k.call != nil {
		p.Tool, p.Undoes = k.call.tool.Name, k.call.undoes
	}
	if err = k.err; err == nil {
		p, err = k.content.Commit(p)
	}
	blocked := ""
	if err != nil {
		p.ID, blocked = "", sandbox.Reason(err)
		go k.discard()
	}
	if !k.s.opts.Stateless {
		k.s.changes.add(p, blocked)
	}
	if blocked != "" {
		return "this change cannot be undone: " + blocked
	}
	if k.call != nil {
		k.call.change = p.ID
	}
	return ""
}
