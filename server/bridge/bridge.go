package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

const (
	// maxStarts bounds the servers that begin to start at once, and startShare how long
	// each counts as one of them.
	maxStarts  = 8
	startShare = 3 * time.Second
	// settleWait is how long a search waits for servers that have not told their
	// tools yet.
	settleWait = 5 * time.Second
)

// Options of a Bridge.
type Options struct {
	Servers  []Entry
	Registry *tools.Registry // gets the tools
	Shell    *sandbox.Shell  // starts the programs
	State    *sandbox.State  // keeps what servers have told of their tools
	// Dir is where programs run whose entry does not say; "": where we do.
	Dir string
	// Env is set for all programs beside their own.
	Env     []string
	Version string
	Log     *slog.Logger // nil: nothing is logged
}

// A Bridge offers the tools of other servers. Safe for concurrent use.
type Bridge struct {
	servers  []*upstream
	registry *tools.Registry
	state    *sandbox.State
	log      *slog.Logger
	settings settings
	starts   chan struct{}
	recalled sync.Once

	ctx    context.Context
	cancel context.CancelFunc

	registering sync.Mutex
}

// New makes the registry offer the tools of other servers. It starts nothing and
// touches no disk. Close it.
func New(o Options) *Bridge {
	b := &Bridge{registry: o.Registry, state: o.State, log: o.Log, starts: make(chan struct{}, maxStarts)}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	b.settings = settings{shell: o.Shell, dir: o.Dir, env: o.Env, version: o.Version, log: b.log}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	for _, e := range o.Servers {
		b.servers = append(b.servers, &upstream{b: b, e: e})
	}
	o.Registry.Bridge(b)
	return b
}

// Close ends all connections. The programs are ended with the Shell.
func (b *Bridge) Close() {
	b.cancel()
	for _, u := range b.servers {
		u.mu.Lock()
		a := u.trying
		u.mu.Unlock()
		if a == nil {
			continue
		}
		select {
		case <-a.done:
			if a.err == nil {
				a.conn.close()
			}
		default: // ends with the context
		}
	}
}

// recall registers what earlier processes have learned, once.
func (b *Bridge) recall() {
	b.recalled.Do(func() {
		for _, u := range b.servers {
			u.recall()
		}
		b.register()
	})
}

// register puts all tools that are known into the registry, in the order of the
// configuration.
func (b *Bridge) register() {
	b.registering.Lock()
	defer b.registering.Unlock()
	var all []*tools.Tool
	for _, u := range b.servers {
		u.mu.Lock()
		all = append(all, u.tools...)
		u.mu.Unlock()
	}
	b.registry.SetBridged(all)
}

// Names implements [tools.Upstreams].
func (b *Bridge) Names() []string {
	var names []string
	for _, u := range b.servers {
		names = append(names, u.e.Key)
	}
	return names
}

// Listed implements [tools.Upstreams].
func (b *Bridge) Listed() bool {
	for _, u := range b.servers {
		if u.e.Listed {
			return true
		}
	}
	return false
}

// Starts implements [tools.Upstreams].
func (b *Bridge) Starts() {
	b.recall()
	for _, u := range b.servers {
		if u.e.Broken == "" {
			u.begin()
		}
	}
}

// Settled implements [tools.Upstreams].
func (b *Bridge) Settled(stop <-chan struct{}) (remarks []string) {
	t := time.NewTimer(settleWait)
	defer t.Stop()
	for _, u := range b.servers {
		u.mu.Lock()
		a := u.trying
		wait := a != nil && !u.known && u.failures == 0
		u.mu.Unlock()
		if !wait {
			continue
		}
		select {
		case <-a.done:
			continue
		case <-stop:
		case <-t.C:
		}
		break
	}
	for _, u := range b.servers {
		if text := u.state(); text != "" {
			remarks = append(remarks, text)
		}
	}
	return remarks
}

// Unknown implements [tools.Upstreams].
func (b *Bridge) Unknown(name string) (*tools.Tool, bool) {
	b.recall()
	if t, ok := b.registry.Known(name); ok {
		return t, true
	}
	for _, u := range b.servers {
		prefix := tools.BridgedPrefix + u.e.Key + "__"
		u.mu.Lock()
		open := !u.fresh
		u.mu.Unlock()
		if open && len(name) > len(prefix) && strings.HasPrefix(name, prefix) { // exactly: rules go by the name
			return u.unseen(name), true
		}
	}
	return nil, false
}

// unseen is a tool that the server may have: it has not been asked yet.
func (u *upstream) unseen(name string) *tools.Tool {
	t := tools.NewRaw(tools.Tool{
		Name: name, Description: "A tool of the server " + u.e.Name + ", which has not told its tools yet.",
		Deferred: true, External: true, Lane: tools.BridgedPrefix + u.e.Key,
	}, json.RawMessage(`{"type":"object","properties":{}}`), func(ctx context.Context, s *tools.Session, args json.RawMessage) (tools.Output, error) {
		if _, err := u.connection(ctx); err != nil {
			if ctx.Err() != nil {
				return tools.Output{}, err
			}
			return tools.Output{}, u.sentence(fmt.Errorf("cannot be used: %w", err))
		}
		u.mu.Lock()
		d := u.byName[name]
		u.mu.Unlock()
		if t, ok := u.b.registry.Known(name); ok && (t.Name != name || len(t.Aliases) > 0) { // rules may know it by another name
			return tools.Output{}, fmt.Errorf("nothing was done: the tools of %s are known only now. Call %s again", u.e.Name, t.Name)
		}
		if d == nil {
			return tools.Output{}, tools.Fail(tools.Output{Text: tools.UnknownTool(name) + ". The server " + u.e.Name + " is there, but has no such tool; tool_search finds those it has"})
		}
		return u.call(ctx, s, d, args)
	})
	return &t
}
