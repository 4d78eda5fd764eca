package tools

import (
	"fmt"
	"sort"
	"strings"
)

// A Registry holds the tools there are. It does not change once made; safe for
// concurrent use.
type Registry struct {
	list   []*Tool
	byName map[string]*Tool // names, and names and aliases in lower case
}

// NewRegistry makes a registry. It panics on a tool without a name or words, and
// on a name that means two tools: programming errors.
func NewRegistry(list ...Tool) *Registry {
	r := &Registry{byName: make(map[string]*Tool)}
	for i := range list {
		t := &list[i]
		if t.Name == "" || t.Description == "" || t.run == nil {
			panic(fmt.Sprintf("tool %q is not complete", t.Name))
		}
		r.list = append(r.list, t)
		r.add(t.Name, t)
	}
	for _, t := range r.list {
		for _, alias := range t.Aliases {
			r.add(alias, t)
		}
	}
	sort.Slice(r.list, func(i, j int) bool { return listedBefore(r.list[i].Name, r.list[j].Name) })
	return r
}

func (r *Registry) add(name string, t *Tool) {
	for _, n := range [2]string{name, strings.ToLower(name)} {
		if old := r.byName[n]; old != nil && old != t {
			panic(fmt.Sprintf("%q means both %s and %s", name, old.Name, t.Name))
		}
		r.byName[n] = t
	}
}

// bridgedPrefix begins the names of other servers' tools.
const bridgedPrefix = "mcp__"

// listedBefore orders built-in tools by name, then bridged ones by name.
func listedBefore(a, b string) bool {
	ab, bb := strings.HasPrefix(a, bridgedPrefix), strings.HasPrefix(b, bridgedPrefix)
	if ab != bb {
		return bb
	}
	return a < b
}

// Lookup finds a tool by its name or an alias, in any case ("Read").
func (r *Registry) Lookup(name string) (*Tool, bool) {
	if t, ok := r.byName[name]; ok {
		return t, true
	}
	t, ok := r.byName[strings.ToLower(name)]
	return t, ok
}

// All lists the tools: built-in ones by name, then bridged ones by name.
func (r *Registry) All() []*Tool { return r.list }
