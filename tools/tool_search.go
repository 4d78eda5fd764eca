package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"mcp-tools/tools/search/rank"
)

const (
	defaultFound = 5
	maxFound     = 25
	// maxNames is how many names are listed where nothing was found.
	maxNames = 200
)

// toolSearch finds the deferred tools; builtin are those that this program has, and
// the description names.
func toolSearch(builtin []Tool) Tool {
	var names []string
	for _, t := range builtin {
		if t.Deferred {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return New(Tool{
		Name:  "tool_search",
		Title: "Search tools",
		Description: "Finds tools that are not in your list, by what they are for, and returns how to call them. Use it when no listed tool does what you need. " +
			"There are " + strings.Join(names, ", ") + ", and those of other servers. " +
			"select:a,b gives tools by their exact names; +word must be in the name.",
		Traits: Traits{ReadOnly: true, ConcurrencySafe: true, Idempotent: true, ClosedWorld: true},
	}, runToolSearch)
}

type toolSearchInput struct {
	Query      string `json:"query" jsonschema:"What the tool is for, or select:name,name."`
	MaxResults *int   `json:"max_results,omitempty" jsonschema:"Tools to show at most (5)."`
}

func (in toolSearchInput) Validate(*Session) error {
	if strings.TrimSpace(in.Query) == "" {
		return errors.New("query must not be empty")
	}
	if in.MaxResults != nil && *in.MaxResults < 1 {
		return fmt.Errorf("max_results must be at least 1, but %d came", *in.MaxResults)
	}
	return nil
}

// foundTool is a tool as tool_search shows it.
type foundTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

func runToolSearch(ctx context.Context, s *Session, in toolSearchInput) (Output, error) {
	remarks := s.env.reach(ctx, in.Query)
	offered := make(map[*Tool]bool)
	for _, t := range s.policy().offered(s.env.Tools.All()) {
		if t.Deferred {
			offered[t] = true
		}
	}
	most := defaultFound
	if in.MaxResults != nil {
		most = min(*in.MaxResults, maxFound)
	}
	found, notes := s.env.searchTools(in.Query, most, offered)
	notes = append(notes, remarks...)
	if len(found) == 0 {
		return Output{Text: "No matching deferred tools found." + namesOf(offered), Notes: notes}, nil
	}
	list := make([]foundTool, 0, len(found))
	for _, t := range found {
		list = append(list, foundTool{t.Name, t.Description, t.Schema()})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return Output{}, err
	}
	s.Activate(ctx, found...)
	how := "Call these with call_tool: name and arguments."
	if !s.opts.Stateless && s.env.HideDeferred {
		how = "If your list shows these now, call them directly; else with call_tool."
	}
	return Output{Text: string(text), Notes: append(notes, how)}, nil
}

// reach starts the other servers there are and waits a little for what they offer,
// unless the query names tools that are known already.
func (e *Env) reach(ctx context.Context, query string) (remarks []string) {
	upstreams := e.Tools.Upstreams()
	if upstreams == nil {
		return nil
	}
	upstreams.Starts()
	if list, ok := strings.CutPrefix(strings.TrimSpace(query), "select:"); ok && e.knowsAll(list) {
		return nil
	}
	return upstreams.Settled(ctx.Done())
}

func (e *Env) knowsAll(list string) bool {
	for name := range strings.SplitSeq(list, ",") {
		if _, ok := e.Tools.Known(strings.TrimSpace(name)); !ok {
			return false
		}
	}
	return true
}

// namesOf lists the tools there are to be found.
func namesOf(tools map[*Tool]bool) string {
	if len(tools) == 0 {
		return " There are none."
	}
	list := slices.SortedFunc(maps.Keys(tools), byListing)
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	more := ""
	if len(names) > maxNames {
		more = fmt.Sprintf(" and %d more", len(names)-maxNames)
		names = names[:maxNames]
	}
	return " There are: " + strings.Join(names, ", ") + more
}

// toolIndex ranks the deferred tools of a catalog.
type toolIndex struct {
	of    *catalog
	tools []*Tool
	index *rank.Index
}

// indexCache keeps the index of the tools there are now. Safe for concurrent use.
type indexCache struct {
	mu  sync.Mutex
	now *toolIndex
}

// of returns the index of the tools of r, made when first needed.
func (c *indexCache) of(r *Registry) *toolIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	if all := r.now.Load(); c.now == nil || c.now.of != all {
		c.now = newToolIndex(all)
	}
	return c.now
}

func newToolIndex(all *catalog) *toolIndex {
	x := &toolIndex{of: all}
	var docs []rank.Doc
	for _, t := range all.list {
		if t.Deferred {
			x.tools, docs = append(x.tools, t), append(docs, t.doc())
		}
	}
	x.index = rank.NewIndex(docs)
	return x
}

// doc is what the tool is found by.
func (t *Tool) doc() rank.Doc {
	d := rank.Doc{Name: t.Name, Title: t.Title, Description: t.Description, Aliases: t.Aliases}
	var schema struct {
		Properties map[string]struct{ Description string }
	}
	if json.Unmarshal(t.schema, &schema) == nil {
		for name, p := range schema.Properties {
			d.Params = append(d.Params, rank.Param{Name: name, Description: p.Description})
		}
	}
	slices.SortFunc(d.Params, func(a, b rank.Param) int { return strings.Compare(a.Name, b.Name) })
	return d
}

// searchTools finds tools among those offered.
func (e *Env) searchTools(query string, most int, offered map[*Tool]bool) (found []*Tool, notes []string) {
	if list, ok := strings.CutPrefix(strings.TrimSpace(query), "select:"); ok {
		return e.selectTools(list, offered)
	}
	must, rest := requiredWords(query)
	x := e.found.of(e.Tools)
	for _, hit := range x.index.Search(rest, len(x.tools)) {
		t := x.tools[hit.Doc]
		if offered[t] && hasAll(t.Name, must) {
			found = append(found, t)
		}
	}
	if len(must) > 0 { // also where no other word fits
		for _, t := range x.tools {
			if offered[t] && hasAll(t.Name, must) && !slices.Contains(found, t) {
				found = append(found, t)
			}
		}
	}
	return found[:min(len(found), most)], nil
}

// selectTools are tools by their exact names.
func (e *Env) selectTools(list string, offered map[*Tool]bool) (found []*Tool, notes []string) {
	var missing []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		t, ok := e.Tools.Lookup(name)
		switch {
		case ok && offered[t]:
			if !slices.Contains(found, t) && len(found) < maxFound {
				found = append(found, t)
			}
		case ok && !t.Deferred:
			notes = append(notes, t.Name+" is in your list: call it directly")
		default:
			missing = append(missing, shorten(printable(name), maxWord))
		}
	}
	if len(missing) > 0 {
		notes = append(notes, "no deferred tool is called "+strings.Join(missing[:min(len(missing), maxFound)], ", "))
	}
	return found, notes
}

// requiredWords parts the words that a name must have (+word) from the others.
func requiredWords(query string) (must []string, rest string) {
	var others []string
	for word := range strings.FieldsSeq(query) {
		if name, ok := strings.CutPrefix(word, "+"); ok && name != "" {
			must = append(must, strings.ToLower(name))
			word = name
		}
		others = append(others, word)
	}
	return must, strings.Join(others, " ")
}

func hasAll(name string, words []string) bool {
	name = strings.ToLower(name)
	for _, w := range words {
		if !strings.Contains(name, w) {
			return false
		}
	}
	return true
}
