package tools

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Registry holds the tools there are: those of this program, which do not change,
// and those of other servers, which may. Safe for concurrent use.
type Registry struct {
	builtin []*Tool

	now      atomic.Pointer[catalog]
	mu       sync.Mutex // held to change what follows, and now
	upstream Upstreams
	watchers []func()
}

// Upstreams are other servers whose tools are offered as well; their names begin
// with [BridgedPrefix]. They are started when something is wanted of them.
type Upstreams interface {
	// Names lists the servers, as they stand in the names of their tools.
	Names() []string
	// Listed tells whether tools of some are in the list from the start.
	Listed() bool
	// Starts makes sure that every server has been started, without waiting.
	Starts()
	// Settled waits until the tools of every server that can be reached are
	// registered, but not for long. It says which are not, and why.
	Settled(wait <-chan struct{}) (remarks []string)
	// Unknown is a tool for a name that is not registered, if it is that of a
	// server whose tools are not known yet. Calling it finds out.
	Unknown(name string) (*Tool, bool)
}

// A catalog is what a registry holds at one moment. It does not change.
type catalog struct {
	list   []*Tool
	byName map[string]*Tool // names, and names and aliases in lower case
}

// NewRegistry makes a registry. It panics on a tool without a name or words, and
// on a name that means two tools: programming errors.
func NewRegistry(list ...Tool) *Registry {
	r := &Registry{}
	c := &catalog{byName: make(map[string]*Tool)}
	for i := range list {
		t := &list[i]
		if t.Name == "" || t.Description == "" || t.run == nil {
			panic(fmt.Sprintf("tool %q is not complete", t.Name))
		}
		c.list = append(c.list, t)
		c.mustAdd(t.Name, t)
	}
	for _, t := range c.list {
		for _, alias := range t.Aliases {
			c.mustAdd(alias, t)
		}
	}
	slices.SortFunc(c.list, byListing)
	r.builtin = c.list
	r.now.Store(c)
	return r
}

func (c *catalog) mustAdd(name string, t *Tool) {
	if old := c.add(name, t); old != nil {
		panic(fmt.Sprintf("%q means both %s and %s", name, old.Name, t.Name))
	}
}

// add makes t known by a name in any case, and returns the tool that had it already
// and keeps it.
func (c *catalog) add(name string, t *Tool) (old *Tool) {
	for _, n := range [2]string{name, strings.ToLower(name)} {
		if had := c.byName[n]; had == nil {
			c.byName[n] = t
		} else if had != t {
			old = had
		}
	}
	return old
}

// BridgedPrefix begins the names of other servers' tools.
const BridgedPrefix = "mcp__"

func bridged(name string) bool { return strings.HasPrefix(name, BridgedPrefix) }

// byListing orders built-in tools by name, then bridged ones by name.
func byListing(a, b *Tool) int {
	if x, y := bridged(a.Name), bridged(b.Name); x != y {
		if y {
			return -1
		}
		return 1
	}
	return strings.Compare(a.Name, b.Name)
}

// Bridge makes the registry offer the tools of other servers too: those that
// SetBridged registers. Call it before serving.
func (r *Registry) Bridge(u Upstreams) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.upstream = u
}

// Upstreams are the other servers; nil: there are none.
func (r *Registry) Upstreams() Upstreams {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.upstream
}

// SetBridged registers the tools of other servers in place of those registered
// before. Of two with one name the first counts, and a built-in one before both.
func (r *Registry) SetBridged(list []*Tool) {
	r.mu.Lock()
	c := &catalog{byName: make(map[string]*Tool, 2*(len(r.builtin)+len(list))), list: slices.Clone(r.builtin)}
	for _, t := range r.builtin {
		c.add(t.Name, t)
		for _, alias := range t.Aliases {
			c.add(alias, t)
		}
	}
	for _, t := range list {
		if c.byName[t.Name] == nil {
			c.list = append(c.list, t)
			c.byName[t.Name] = t
		}
	}
	for _, t := range c.list[len(r.builtin):] { // exact names first, then those in any case
		c.add(t.Name, t)
		for _, alias := range t.Aliases {
			c.add(alias, t)
		}
	}
	slices.SortFunc(c.list, byListing)
	r.now.Store(c)
	watchers := r.watchers
	r.mu.Unlock()
	for _, changed := range watchers {
		changed()
	}
}

// Watch makes changed be called after every SetBridged.
func (r *Registry) Watch(changed func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers = append(r.watchers, changed)
}

// Lookup finds a tool by its name or an alias, in any case ("Read").
func (r *Registry) Lookup(name string) (*Tool, bool) {
	if t, ok := r.Known(name); ok {
		return t, true
	}
	if u := r.Upstreams(); u != nil && bridged(strings.ToLower(name)) {
		return u.Unknown(name)
	}
	return nil, false
}

// Known is Lookup among the tools that are registered now.
func (r *Registry) Known(name string) (*Tool, bool) {
	c := r.now.Load()
	if t, ok := c.byName[name]; ok {
		return t, true
	}
	t, ok := c.byName[strings.ToLower(name)]
	return t, ok
}

// All lists the tools: built-in ones by name, then bridged ones by name.
func (r *Registry) All() []*Tool { return r.now.Load().list }
