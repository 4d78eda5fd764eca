package tools

import (
	"context"
	"sync"
)

// Visible lists the tools this session is shown, ordered by name.
func (s *Session) Visible() []*Tool {
	offered := s.policy().offered(s.env.Tools.All())
	if !s.env.HideDeferred {
		return offered
	}
	shown := make([]*Tool, 0, len(offered))
	for _, t := range offered {
		if !t.Deferred || s.active.has(t) {
			shown = append(shown, t)
		}
	}
	return shown
}

// Offers tells whether this session may use the tool with this name at all.
func (s *Session) Offers(name string) bool {
	t, ok := s.env.Tools.Known(name)
	return ok && len(s.policy().offered([]*Tool{t})) > 0
}

// Deferred are the tools this session may use but is not shown.
func (s *Session) Deferred() []*Tool {
	if !s.env.HideDeferred {
		return nil
	}
	var hidden []*Tool
	for _, t := range s.policy().offered(s.env.Tools.All()) {
		if t.Deferred && !s.active.has(t) {
			hidden = append(hidden, t)
		}
	}
	return hidden
}

// Activate lists deferred tools in this session from now on. Within a call, the
// result of the call says when that changed the list. A session without memory
// is always shown the same tools: Activate does nothing there.
func (s *Session) Activate(ctx context.Context, list ...*Tool) {
	if s.opts.Stateless || !s.env.HideDeferred {
		return
	}
	if c := runningCall(ctx); s.active.add(list) && c != nil {
		c.listChanged.Store(true)
	}
}

// activated are the deferred tools a session is shown. There are never more of
// them than tools. Safe for concurrent use; the zero value is ready.
type activated struct {
	mu    sync.Mutex
	tools map[string]bool // by name: what a bridged server says of a tool may change
}

// add says whether any of list is new.
func (a *activated) add(list []*Tool) (changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range list {
		if !t.Deferred || a.tools[t.Name] {
			continue
		}
		if a.tools == nil {
			a.tools = make(map[string]bool)
		}
		a.tools[t.Name], changed = true, true
	}
	return changed
}

func (a *activated) has(t *Tool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tools[t.Name]
}

func (a *activated) any() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.tools) > 0
}
