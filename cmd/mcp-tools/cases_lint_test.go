package main

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// lintForm are rules that hold for every tool listed.
type lintForm struct {
	NamesUnique  bool `json:"names_unique"`
	Sorted       bool
	Has          []string
	HasNot       []string `json:"has_not"`
	TopAbsent    []string `json:"top_level_absent"`
	NameRegex    string   `json:"name_regex"`
	Description  bool
	Annotations  bool
	Hints        map[string]map[string]any
	ItemsNeeded  bool `json:"arrays_have_items"`
	NoTypeLists  bool `json:"no_type_lists"`
	NoTypeLists2 bool `json:"no_type_lists_deep"`
	NoNullable   bool `json:"no_nullable_anyof"`
	NoCombiner   bool `json:"no_combinators"`
	NoRefs       bool `json:"no_refs"`
	NoConst      bool `json:"no_const_or_pattern_properties"`
	Typed        bool `json:"every_property_has_type"`
	Described    bool
	MaxDepth     int              `json:"max_depth"`
	RootObject   bool             `json:"root_type_object"`
	Properties   bool             `json:"properties_present"`
	Required     map[string][]any `json:"required_subset"`
	OutputOK     bool             `json:"output_schema_ok"`
	NoOutput     bool             `json:"no_output_schema"`
}

func (c *caseRun) lint(g *lintForm, bad *faults) {
	cl := c.anyClient()
	if cl == nil {
		bad.add("tools/list: nobody is connected")
		return
	}
	a := cl.request("tools/list", map[string]any{}, callTimeout, nil)
	tools, _ := dig(a.result, "tools").([]any)
	if len(tools) == 0 {
		bad.add("tools/list is empty: %.160q", a.text())
		return
	}
	g.names(tools, bad)
	for _, t := range tools {
		g.tool(t, bad)
	}
}

func (c *caseRun) anyClient() *rpcClient {
	for _, cl := range c.clients {
		return cl
	}
	return nil
}

func (g *lintForm) names(tools []any, bad *faults) {
	var names, builtin, bridged []string
	for _, t := range tools {
		n, _ := dig(t, "name").(string)
		names = append(names, n)
		if strings.HasPrefix(n, "mcp__") {
			bridged = append(bridged, n)
		} else {
			builtin = append(builtin, n)
		}
	}
	slices.Sort(builtin)
	slices.Sort(bridged)
	bad.addIf(g.Sorted && !slices.Equal(names, append(builtin, bridged...)), "order: %q", names)
	for _, n := range g.Has {
		bad.addIf(!slices.Contains(names, n), "no tool %s", n)
	}
	for _, n := range g.HasNot {
		bad.addIf(slices.Contains(names, n), "tool %s is listed", n)
	}
	slices.Sort(names)
	bad.addIf(g.NamesUnique && len(slices.Compact(names)) != len(tools), "names are not unique")
}

func (g *lintForm) tool(t any, bad *faults) {
	n, _ := dig(t, "name").(string)
	schema, _ := dig(t, "inputSchema").(map[string]any)
	for _, k := range g.TopAbsent {
		_, has := schema[k]
		bad.addIf(has, "%s: top-level %s", n, k)
	}
	bad.addIf(g.NameRegex != "" && !regexp.MustCompile("^(?:"+g.NameRegex+")").MatchString(n), "name %s", n)
	d, _ := dig(t, "description").(string)
	bad.addIf(g.Description && (d == "" || len(d) >= 2048), "%s: description of %d bytes", n, len(d))
	if g.Annotations {
		for _, k := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			_, isBool := dig(t, "annotations", k).(bool)
			bad.addIf(!isBool, "%s: %s is %v", n, k, dig(t, "annotations", k))
		}
		bad.addIf(dig(t, "annotations", "title") == nil && dig(t, "title") == nil, "%s: no title", n)
	}
	for k, want := range g.Hints[n] {
		got := dig(t, "annotations", k)
		bad.addIf(!reflect.DeepEqual(got, want), "%s: %s is %v", n, k, got)
	}
	g.walk(schema, n, 0, bad)
	bad.addIf(g.RootObject && schema["type"] != "object", "%s: root type", n)
	bad.addIf(g.Properties && schema["properties"] == nil, "%s: no properties", n)
	g.required(n, schema["required"], bad)
	out := dig(t, "outputSchema")
	bad.addIf(g.OutputOK && out != nil && dig(out, "type") != "object", "%s: outputSchema", n)
	bad.addIf(g.NoOutput && out != nil, "%s: outputSchema on a text tool", n)
}

// required compares with the list wanted for the tool, or with any of several.
func (g *lintForm) required(n string, got any, bad *faults) {
	want, ok := g.Required[n]
	if !ok {
		return
	}
	wants := []any{want}
	if len(want) > 0 {
		if _, several := want[0].([]any); several {
			wants = want
		}
	}
	is := func(w any) bool { return slices.Equal(sortedWords(w), sortedWords(got)) }
	bad.addIf(!slices.ContainsFunc(wants, is), "%s: required %v", n, got)
}

func sortedWords(x any) []string {
	list, _ := x.([]any)
	out := []string{}
	for _, e := range list {
		out = append(out, fmt.Sprint(e))
	}
	slices.Sort(out)
	return out
}

// walk applies the rules to a schema and those within it.
func (g *lintForm) walk(s map[string]any, at string, depth int, bad *faults) {
	if s == nil {
		return
	}
	g.schema(s, at, depth, bad)
	props, _ := s["properties"].(map[string]any)
	for n, p := range props {
		m, _ := p.(map[string]any)
		g.walk(m, at+"."+n, depth+1, bad)
	}
	items, _ := s["items"].(map[string]any)
	g.walk(items, at+"[]", depth, bad)
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := s[k].([]any)
		for _, x := range list {
			m, _ := x.(map[string]any)
			g.walk(m, at+"/"+k, depth, bad)
		}
	}
}

func (g *lintForm) schema(s map[string]any, at string, depth int, bad *faults) {
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { _, ok := s[k]; return ok })
	}
	_, typeList := s["type"].([]any)
	bad.addIf(g.ItemsNeeded && s["type"] == "array" && !has("items"), "%s: no items", at)
	bad.addIf((g.NoTypeLists || g.NoTypeLists2) && typeList, "%s: type list", at)
	bad.addIf(g.NoNullable && nullable(s), "%s: nullable anyOf", at)
	bad.addIf(g.NoCombiner && has("anyOf", "oneOf", "allOf", "$ref", "$schema"), "%s: combinator", at)
	bad.addIf(g.NoRefs && has("$ref"), "%s: $ref", at)
	bad.addIf(g.NoConst && has("const", "patternProperties"), "%s: const or patternProperties", at)
	bad.addIf(g.Typed && depth > 0 && !has("type"), "%s: no type", at)
	bad.addIf(g.Described && depth == 1 && !strings.HasSuffix(at, "[]") && s["description"] == nil, "%s: not described", at)
	bad.addIf(g.MaxDepth > 0 && depth > g.MaxDepth, "%s: too deep", at)
}

func nullable(s map[string]any) bool {
	for _, k := range []string{"anyOf", "oneOf"} {
		list, _ := s[k].([]any)
		if slices.ContainsFunc(list, func(x any) bool { return dig(x, "type") == "null" }) {
			return true
		}
	}
	return false
}
