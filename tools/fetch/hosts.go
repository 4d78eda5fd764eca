package fetch

import (
	"context"
	"sync"
)

// hosts lets only a few calls talk to one host at a time. The zero value is ready;
// safe for concurrent use. It holds no more hosts than there are calls.
type hosts struct {
	mu    sync.Mutex
	slots map[string]*slot
}

type slot struct {
	users int // who has or waits for a place
	free  chan struct{}
}

// enter waits for a place at host and returns how to leave it. Its error is the
// cause of ctx.
func (h *hosts) enter(ctx context.Context, host string) (leave func(), err error) {
	s := h.join(host)
	select {
	case s.free <- struct{}{}:
		return func() { <-s.free; h.part(host, s) }, nil
	case <-ctx.Done():
		h.part(host, s)
		return nil, context.Cause(ctx)
	}
}

func (h *hosts) join(host string) *slot {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.slots[host]
	if s == nil {
		s = &slot{free: make(chan struct{}, maxPerHost)}
		if h.slots == nil {
			h.slots = make(map[string]*slot)
		}
		h.slots[host] = s
	}
	s.users++
	return s
}

func (h *hosts) part(host string, s *slot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(h.slots, host)
	}
}
