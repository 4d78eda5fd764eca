package tools

import (
	"context"
	"sync"
)

// maxSafe is how many concurrency-safe calls of a session run at once.
const maxSafe = 10

// class is how a call shares its session with others.
type class int

const (
	// exclusive calls write files: they run alone among exclusive and outside
	// calls, after the safe calls that came before, and safe calls wait for them.
	exclusive class = iota
	// outside calls run alone likewise, but no safe call waits for them: one long
	// command must not stop every reader.
	outside
	// safe calls run beside each other.
	safe
)

// gate orders the calls of one session: first come, first served, as far as the
// classes allow. The zero gate is ready.
type gate struct {
	mu      sync.Mutex
	next    uint64
	waiting []*ticket // in order of arrival
	running []*ticket
}

// gates has a gate for each lane; see [Tool]. There are never more lanes than
// servers. The zero value is ready.
type gates struct {
	mu    sync.Mutex
	lanes map[string]*gate
}

func (g *gates) enter(lane string, c class) *ticket {
	g.mu.Lock()
	if g.lanes == nil {
		g.lanes = make(map[string]*gate)
	}
	own := g.lanes[lane]
	if own == nil {
		own = &gate{}
		g.lanes[lane] = own
	}
	g.mu.Unlock()
	return own.enter(c)
}

// A ticket is one call's place in the gate.
type ticket struct {
	gate  *gate
	seq   uint64
	class class
	ready chan struct{} // closed when the call may run
}

// enter takes a place in the order of arrival. It does not wait.
func (g *gate) enter(c class) *ticket {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next++
	t := &ticket{gate: g, seq: g.next, class: c, ready: make(chan struct{})}
	g.waiting = append(g.waiting, t)
	g.admit()
	return t
}

// wait returns when the call may run, or when ctx is done: the ticket is then void.
func (t *ticket) wait(ctx context.Context) error {
	select {
	case <-t.ready:
		return nil
	default:
	}
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		t.leave()
		return context.Cause(ctx)
	}
}

// leave gives the place back; more than once does no harm.
func (t *ticket) leave() {
	g := t.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = without(g.waiting, t)
	g.running = without(g.running, t)
	g.admit()
}

func without(list []*ticket, t *ticket) []*ticket {
	for i, x := range list {
		if x == t {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// admit lets in whoever may run now. It holds g.mu.
func (g *gate) admit() {
	for i := 0; i < len(g.waiting); {
		t := g.waiting[i]
		if !g.mayRun(t, g.waiting[:i]) {
			i++
			continue
		}
		g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
		g.running = append(g.running, t)
		close(t.ready)
	}
}

func (g *gate) mayRun(t *ticket, before []*ticket) bool {
	if t.class == safe {
		return g.safeMayRun(before)
	}
	for _, r := range g.running {
		// A safe call that came later does not hold it up.
		if r.class != safe || r.seq < t.seq {
			return false
		}
	}
	// Exclusive ones came first; so did safe ones, which wait for a free place.
	if len(before) > 0 {
		return false
	}
	return t.class == outside || g.count(safe) == 0
}

// safeMayRun: it waits for a write that runs, and for one that came first,
// unless that one itself waits for an outside call.
func (g *gate) safeMayRun(before []*ticket) bool {
	if g.count(exclusive) > 0 || g.count(safe) >= maxSafe {
		return false
	}
	if g.count(outside) > 0 {
		return true
	}
	for _, w := range before {
		if w.class == outside {
			return true // what came after it waits for it
		}
		if w.class == exclusive {
			return false
		}
	}
	return true
}

func (g *gate) count(c class) int {
	n := 0
	for _, t := range g.running {
		if t.class == c {
			n++
		}
	}
	return n
}
