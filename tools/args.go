package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
)

// paramAliases are names of parameters that models know from other tools.
// Each is accepted where the tool has the second name and not the first.
var paramAliases = [][2]string{
	{"path", "file_path"}, {"filePath", "file_path"}, {"filename", "file_path"},
	{"old_text", "old_string"}, {"oldText", "old_string"}, {"old_str", "old_string"},
	{"new_text", "new_string"}, {"newText", "new_string"}, {"new_str", "new_string"},
	{"dir", "path"}, {"dir_path", "path"}, {"directory", "path"},
	{"glob", "include"},
	{"cmd", "command"},
	{"workdir", "cwd"}, {"working_directory", "cwd"}, {"directory", "cwd"},
	{"timeout_ms", "timeout"},
	{"replaceAll", "replace_all"},
	{"file_text", "content"},
	{"query", "pattern"}, {"regex", "pattern"},
	{"-i", "ignore_case"}, {"-A", "after"}, {"-B", "before"}, {"-C", "context"},
}

// canonical is the tool's own name of a parameter, if it has it.
func (p *params) canonical(name string) (string, bool) {
	if p.has(name) {
		return name, true
	}
	for _, a := range paramAliases {
		if a[0] == name && p.has(a[1]) {
			return a[1], true
		}
	}
	for _, other := range [...]string{snakeCase(name), strings.ToLower(name)} {
		if p.has(other) {
			return other, true
		}
	}
	return "", false
}

// snakeCase writes outputMode as output_mode.
func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// prepare turns what a model sent into what the tool's schema wants: see
// TOOLS.md, rule 1. notes are remarks for the end of the result. A returned
// error is a sentence for the model.
func (t *Tool) prepare(raw json.RawMessage) (args json.RawMessage, notes []string, err error) {
	sent, err := objectOf(raw)
	if err != nil {
		return nil, nil, err
	}
	named, unknown, err := t.params.rename(sent)
	if err != nil {
		return nil, nil, err
	}
	if len(unknown) > 0 {
		if t.strict() {
			return nil, nil, t.unknownError(unknown)
		}
		notes = append(notes, ignoredNote(unknown))
	}
	if err := t.params.missing(t.Name, named); err != nil {
		return nil, nil, err
	}
	if err := t.params.coerceFields(t.params.schema, named, ""); err != nil {
		return nil, nil, err
	}
	args, err = json.Marshal(named)
	if err != nil {
		return nil, nil, err
	}
	return args, notes, t.params.check(args)
}

// strict: where a wrong guess costs a file, a parameter that does not exist is
// an error (write_file{append:true} must not overwrite).
func (t *Tool) strict() bool { return !t.Traits.ReadOnly && !t.External }

func (t *Tool) unknownError(unknown []string) error {
	return fmt.Errorf("%s has no parameter %s; nothing was done. It takes %s", t.Name, quoteList(unknown), strings.Join(t.params.names, ", "))
}

func ignoredNote(unknown []string) string {
	if len(unknown) == 1 {
		return "ignored unknown parameter: " + unknown[0]
	}
	return "ignored unknown parameters: " + strings.Join(unknown, ", ")
}

// maxNamed bounds how many of a model's words a message repeats, and maxWord
// how much of each.
const (
	maxNamed = 10
	maxWord  = 60
)

func quoteList(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strconv.Quote(w)
	}
	return strings.Join(out, ", ")
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// objectOf reads the arguments of a call: an object, a string that holds one, or nothing.
func objectOf(raw json.RawMessage) (map[string]json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]json.RawMessage{}, nil
	}
	var inner string
	if raw[0] == '"' && json.Unmarshal(raw, &inner) == nil {
		raw = bytes.TrimSpace([]byte(inner))
	}
	if len(raw) == 0 || raw[0] != '{' {
		return nil, fmt.Errorf("the arguments must be a JSON object, but %s came", describe(raw))
	}
	out := make(map[string]json.RawMessage)
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("the arguments are not valid JSON (%v); they must be one JSON object", err)
	}
	if name, twice := repeatedKey(raw); twice {
		return nil, fmt.Errorf("%s is given twice; send it once", shorten(name, maxWord))
	}
	if half := halfCharacter(raw); half != "" {
		return nil, fmt.Errorf("the arguments contain %s, one half of a surrogate pair, which is no character and could not be kept; send the whole character", half)
	}
	return out, nil
}

// repeatedKey finds a parameter that valid JSON names twice: which of them is
// meant cannot be known.
func repeatedKey(object []byte) (string, bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token() // {
	seen := make(map[string]bool)
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return "", false
		}
		if seen[key] {
			return key, true
		}
		seen[key] = true
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return "", false
		}
	}
	return "", false
}

// halfCharacter finds the escape of a surrogate without its other half (RFC 8259,
// section 8.2) in valid JSON. Decoding would replace it silently.
func halfCharacter(raw []byte) string {
	for i := 0; i+6 <= len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		unit, ok := surrogate(raw[i:])
		if !ok {
			i++ // what is escaped begins no escape
			continue
		}
		low, paired := surrogate(raw[i+6:])
		if unit >= 0xDC00 || !paired || low < 0xDC00 {
			return string(raw[i : i+6])
		}
		i += 11
	}
	return ""
}

// surrogate reads the escape of a surrogate at the beginning of b.
func surrogate(b []byte) (uint64, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return n, err == nil && n >= 0xD800 && n <= 0xDFFF
}

// rename gives each argument the tool's name for it and drops those that are null.
func (p *params) rename(sent map[string]json.RawMessage) (named map[string]json.RawMessage, unknown []string, err error) {
	keys := make([]string, 0, len(sent))
	for k := range sent {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	named = make(map[string]json.RawMessage, len(sent))
	from := make(map[string]string)
	for _, k := range keys {
		v := sent[k]
		name, ok := p.canonical(k)
		if string(bytes.TrimSpace(v)) == "null" && !(p.open && (!ok || p.takesNull(name))) {
			continue
		}
		if !ok && p.open {
			named[k] = v
			continue
		}
		if !ok {
			if len(unknown) < maxNamed {
				unknown = append(unknown, shorten(k, maxWord))
			}
			continue
		}
		if old, twice := named[name]; twice && !bytes.Equal(old, v) {
			return nil, nil, fmt.Errorf("%s and %s mean the same parameter but have different values; send only %s", from[name], k, name)
		}
		named[name], from[name] = v, k
	}
	return named, unknown, nil
}

// takesNull tells whether another server's schema lets a parameter be null.
func (p *params) takesNull(name string) bool {
	s := p.schema.Properties[name]
	return s == nil || s.Type == "null" || slices.Contains(s.Types, "null") || s.Type == "" && len(s.Types) == 0
}

// missing names every required parameter that did not come.
func (p *params) missing(tool string, named map[string]json.RawMessage) error {
	var lacks []string
	for _, name := range p.names {
		if _, ok := named[name]; !ok && slices.Contains(p.schema.Required, name) {
			s := p.schema.Properties[name]
			lacks = append(lacks, fmt.Sprintf("%s (%s: %s)", name, typeName(s), shorten(firstSentence(s.Description), 120)))
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return fmt.Errorf("%s is missing: %s needs %s. Call it again with %s", nameOf(lacks[0]), tool, strings.Join(lacks, "; "), map[bool]string{true: "it", false: "all of them"}[len(lacks) == 1])
}

func nameOf(lack string) string {
	name, _, _ := strings.Cut(lack, " ")
	return name
}

func firstSentence(s string) string {
	first, _, _ := strings.Cut(s, ". ")
	return strings.TrimSuffix(first, ".")
}

// check validates the finished arguments against the whole schema. What a model
// usually gets wrong was reported before in better words.
func (p *params) check(args json.RawMessage) error {
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return err
	}
	if err := p.resolved.Validate(v); err != nil {
		return fmt.Errorf("the arguments do not fit the tool's schema: %w", err)
	}
	return nil
}

// expectation says what a parameter takes.
func expectation(s *jsonschema.Schema) string {
	if len(s.Enum) > 0 {
		words := make([]string, len(s.Enum))
		for i, e := range s.Enum {
			words[i] = fmt.Sprint(e)
		}
		return "one of " + strings.Join(words, ", ")
	}
	return typeName(s)
}

func typeName(s *jsonschema.Schema) string {
	switch s.Type {
	case "integer":
		return "a whole number"
	case "boolean":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "":
		return "a value"
	}
	return "a " + s.Type
}

// describe says what came, for a message to a model.
func describe(v json.RawMessage) string {
	v = bytes.TrimSpace(v)
	if len(v) == 0 {
		return "nothing"
	}
	shown := shorten(string(v), maxWord)
	switch v[0] {
	case '"':
		return "the string " + shown
	case '{':
		return "an object (" + shown + ")"
	case '[':
		return "a list (" + shown + ")"
	}
	return shown
}
