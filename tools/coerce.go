package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// coerceFields makes each value what its schema wants, in place, or says which is wrong.
func (p *params) coerceFields(s *jsonschema.Schema, args map[string]json.RawMessage, at string) error {
	for name, v := range args {
		field := s.Properties[name]
		if field == nil {
			continue
		}
		out, err := p.coerce(field, v, at+name)
		if err != nil {
			return err
		}
		args[name] = out
	}
	return nil
}

// coerce makes one value what s wants. at names it for the model.
func (p *params) coerce(s *jsonschema.Schema, v json.RawMessage, at string) (json.RawMessage, error) {
	v = bytes.TrimSpace(v)
	wrong := func() error {
		return fmt.Errorf("%s must be %s, but %s came", at, expectation(s), describe(v))
	}
	text, isText := stringOf(v)
	switch s.Type {
	case "string":
		if !isText {
			return nil, wrong()
		}
		return v, checkEnum(s, text, at)
	case "integer":
		n, ok := integerOf(v, text, isText)
		if !ok {
			return nil, wrong()
		}
		return n, nil
	case "number":
		if isText {
			v = []byte(strings.TrimSpace(text))
		}
		if f, err := strconv.ParseFloat(string(v), 64); err != nil || math.IsInf(f, 0) || math.IsNaN(f) || !json.Valid(v) {
			return nil, wrong()
		}
		return v, nil
	case "boolean":
		if isText {
			v = []byte(strings.ToLower(strings.TrimSpace(text)))
		}
		if string(v) != "true" && string(v) != "false" {
			return nil, wrong()
		}
		return v, nil
	case "array":
		return p.coerceItems(s, unquote(v, text, isText), at, wrong)
	case "object":
		return p.coerceObject(s, unquote(v, text, isText), at, wrong)
	}
	return v, nil // a bridged server's schema may say more than one type
}

func (p *params) coerceItems(s *jsonschema.Schema, v json.RawMessage, at string, wrong func() error) (json.RawMessage, error) {
	var items []json.RawMessage
	if len(v) == 0 || v[0] != '[' || json.Unmarshal(v, &items) != nil {
		return nil, wrong()
	}
	if s.Items == nil {
		return v, nil
	}
	for i, item := range items {
		out, err := p.coerce(s.Items, item, fmt.Sprintf("%s[%d]", at, i))
		if err != nil {
			return nil, err
		}
		items[i] = out
	}
	return json.Marshal(items)
}

func (p *params) coerceObject(s *jsonschema.Schema, v json.RawMessage, at string, wrong func() error) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if len(v) == 0 || v[0] != '{' || json.Unmarshal(v, &fields) != nil {
		return nil, wrong()
	}
	inner := &params{schema: s, open: p.open}
	named, unknown, err := inner.rename(fields)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("%s has no field %s", at, quoteList(unknown))
	}
	for _, name := range s.Required {
		if _, ok := named[name]; !ok {
			return nil, fmt.Errorf("%s.%s is missing", at, name)
		}
	}
	if err := p.coerceFields(s, named, at+"."); err != nil {
		return nil, err
	}
	return json.Marshal(named)
}

func checkEnum(s *jsonschema.Schema, text, at string) error {
	if len(s.Enum) == 0 || slices.Contains(s.Enum, any(text)) {
		return nil
	}
	return fmt.Errorf("%s must be %s, but %s came", at, expectation(s), strconv.Quote(shorten(text, maxWord)))
}

func stringOf(v json.RawMessage) (string, bool) {
	var s string
	if len(v) == 0 || v[0] != '"' || json.Unmarshal(v, &s) != nil {
		return "", false
	}
	return s, true
}

// unquote returns what a string holds where a list or an object is wanted.
func unquote(v json.RawMessage, text string, isText bool) json.RawMessage {
	if isText {
		return json.RawMessage(strings.TrimSpace(text))
	}
	return v
}

// integerOf accepts 5, "5" and 5.0, but not 5.5.
func integerOf(v json.RawMessage, text string, isText bool) (json.RawMessage, bool) {
	word := string(v)
	if isText {
		word = strings.TrimSpace(text)
	}
	if _, err := strconv.ParseInt(word, 10, 64); err == nil {
		return json.RawMessage(strings.TrimPrefix(word, "+")), json.Valid([]byte(strings.TrimPrefix(word, "+")))
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil, false
	}
	return json.RawMessage(strconv.FormatInt(int64(f), 10)), true
}
