package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxSchemaDepth is how deep objects may lie in each other in a built-in tool's
// input: models fill flat ones more reliably.
const maxSchemaDepth = 2

// deriveSchema makes the published schema of an input struct: the plainest form
// that all hosts and models accept. One type a parameter, no combinators, no
// closed objects; see TOOLS.md, rule 7.
func deriveSchema[In any]() (json.RawMessage, error) {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, err
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("the input is no struct")
	}
	if err := simplify(s, reflect.TypeFor[In](), "input", 0); err != nil {
		return nil, err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if len(s.Properties) == 0 { // some clients insist on the key
		b = []byte(`{"type":"object","properties":{}}`)
	}
	return b, nil
}

// simplify corrects what jsonschema-go derives for t, in place.
func simplify(s *jsonschema.Schema, t reflect.Type, at string, depth int) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	oneType(s)
	s.AdditionalProperties = nil
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if s.Items == nil {
			return fmt.Errorf("%s: a list without a type of its items", at)
		}
		return simplify(s.Items, t.Elem(), at+"[]", depth)
	case reflect.Struct:
		return simplifyFields(s, t, at, depth)
	}
	return nil
}

func simplifyFields(s *jsonschema.Schema, t reflect.Type, at string, depth int) error {
	if depth >= maxSchemaDepth {
		return fmt.Errorf("%s: nested too deep", at)
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if name == "" || name == "-" || p == nil {
			continue
		}
		if p.Description == "" {
			return fmt.Errorf("%s.%s is not described", at, name)
		}
		if err := simplify(p, f.Type, at+"."+name, depth+1); err != nil {
			return err
		}
		for _, v := range strings.Split(f.Tag.Get("enum"), ",") {
			if v != "" {
				p.Enum = append(p.Enum, v)
			}
		}
	}
	return nil
}

// oneType drops "null" from a list of types: null is taken as absent anyway.
func oneType(s *jsonschema.Schema) {
	for _, t := range s.Types {
		if t != "null" {
			s.Type = t
		}
	}
	s.Types = nil
}

// params is a schema made ready for checking arguments.
type params struct {
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
	names    []string // in published order
	open     bool     // others may come too: the schema is another server's
}

// allowsOthers tells whether the schema lets parameters come that it does not name.
func (p *params) allowsOthers() bool {
	a := p.schema.AdditionalProperties
	return a == nil || a.Not == nil
}

func parseParams(raw json.RawMessage) (*params, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	if s.Type != "object" {
		return nil, errors.New("the schema is not of type object")
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	return &params{schema: &s, resolved: resolved, names: propertyNames(raw, &s)}, nil
}

// propertyNames lists the properties as they stand in the text of the schema.
func propertyNames(raw json.RawMessage, s *jsonschema.Schema) []string {
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	text := string(raw)
	at := func(name string) int { return strings.Index(text, `"`+name+`":`) }
	sort.Slice(names, func(i, j int) bool { return at(names[i]) < at(names[j]) })
	return names
}

func (p *params) has(name string) bool {
	_, ok := p.schema.Properties[name]
	return ok
}
