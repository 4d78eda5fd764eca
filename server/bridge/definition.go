package bridge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-tools/tools"
)

const (
	// maxPages and maxTools bound the list of a server's tools.
	maxPages = 200
	maxTools = 5000
	// maxList is how many bytes all of it may have.
	maxList = 16 << 20
	// maxDescription is how many bytes of a tool's description are shown, and
	// maxParamWords of a parameter's, where its schema is larger than maxSchema.
	maxDescription = 2000
	maxParamWords  = 200
	maxSchema      = 32 << 10
	maxTitle       = 200
	// maxName is the longest name of a tool that all hosts take.
	maxName = 64
	// maxShown bounds what is repeated of a server's words in an error.
	maxShown = 300
)

// definition is a tool as its server describes it.
type definition struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations *annotations    `json:"annotations,omitempty"`
}

type annotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// list asks the server for all its tools.
func (c *connection) list(ctx context.Context) ([]definition, error) {
	var all []definition
	cursors := map[string]bool{}
	size := 0
	params := map[string]any{}
	for range maxPages {
		raw, err := c.request(ctx, mcp.MethodToolsList, params, nil)
		var no *refusal
		if errors.As(err, &no) && no.code == mcp.METHOD_NOT_FOUND {
			return nil, nil // it has none
		}
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools      []definition `json:"tools"`
			NextCursor string       `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("its list of tools is none: %s", shown(err.Error()))
		}
		if size += len(raw); size > maxList {
			return nil, fmt.Errorf("its list of tools is longer than %d MiB", maxList>>20)
		}
		for _, d := range page.Tools {
			d.InputSchema, d.Description = d.schema(), cut(d.Description, maxDescription)
			if d.Name != "" && utf8.ValidString(d.Name) && c.headersFit(&d) {
				all = append(all, d)
			}
		}
		switch {
		case len(all) > maxTools:
			return nil, fmt.Errorf("it has more than %d tools", maxTools)
		case page.NextCursor == "":
			return all, nil
		case cursors[page.NextCursor]:
			return nil, errors.New("its list of tools does not end")
		}
		cursors[page.NextCursor] = true
		params["cursor"] = page.NextCursor
	}
	return nil, fmt.Errorf("its list of tools has more than %d pages", maxPages)
}

// mcpTool is the definition for mcp-go's questions about headers.
func (d *definition) mcpTool() (*mcp.Tool, bool) {
	if !bytes.Contains(d.InputSchema, []byte(`"x-mcp-header"`)) {
		return nil, false
	}
	t := &mcp.Tool{Name: d.Name}
	return t, json.Unmarshal(d.InputSchema, &t.InputSchema) == nil
}

// headersFit: a tool whose parameters cannot be said in HTTP headers as it wants must
// not be used over HTTP of 2026-07-28.
func (c *connection) headersFit(d *definition) bool {
	if c.served != nil || !c.modern() {
		return true
	}
	t, some := d.mcpTool()
	return !some || mcp.ValidateParamHeaderAnnotations(t) == nil
}

// headers are the parameters that the tool wants repeated in HTTP headers.
func (d *definition) headers(params map[string]any) map[string]string {
	t, some := d.mcpTool()
	if !some {
		return nil
	}
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil
	}
	return mcp.GenerateParamHeaders(t, encoded)
}

// toolName is the name of a server's tool among ours, and the one it would have if
// names could be as long as they liked, where that is another.
func toolName(key, tool string) (name, full string) {
	word := wordOf(tool)
	if word == "" {
		word = hash(tool)
	}
	name = tools.BridgedPrefix + key + "__" + word
	if len(name) <= maxName {
		return name, ""
	}
	short := hash(name)
	return name[:maxName-len(short)-1] + "_" + short, name
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// tool is the definition as a tool of ours that run runs.
func (d *definition) tool(e *Entry, run func(context.Context, *tools.Session, json.RawMessage) (tools.Output, error)) *tools.Tool {
	name, full := toolName(e.Key, d.Name)
	t := tools.Tool{
		Name: name, Title: cut(clean(d.Title), maxTitle), Description: cut(clean(d.Description), maxDescription),
		Deferred: !e.Listed, External: true, Lane: tools.BridgedPrefix + e.Key,
	}
	if full != "" {
		t.Aliases = []string{full}
	}
	if t.Title == "" && d.Annotations != nil {
		t.Title = cut(clean(d.Annotations.Title), maxTitle)
	}
	if strings.TrimSpace(t.Description) == "" {
		t.Description = "The tool " + shown(d.Name) + " of the server " + e.Name + ", which does not say what it does."
	}
	if e.Trusted {
		t.Traits = d.traits()
	}
	made := tools.NewRaw(t, d.schema(), run)
	return &made
}

// traits are what the server promises.
func (d *definition) traits() tools.Traits {
	a := d.Annotations
	if a == nil {
		return tools.Traits{}
	}
	is := func(hint *bool, want bool) bool { return hint != nil && *hint == want }
	readOnly := is(a.ReadOnlyHint, true)
	return tools.Traits{
		ReadOnly: readOnly, ConcurrencySafe: readOnly,
		Additive: readOnly || is(a.DestructiveHint, false), Idempotent: readOnly || is(a.IdempotentHint, true), ClosedWorld: is(a.OpenWorldHint, false),
	}
}

// schema is the schema of the arguments within its bounds: with shorter descriptions,
// or none at all, where it is very large.
func (d *definition) schema() json.RawMessage {
	var compact bytes.Buffer
	if json.Compact(&compact, d.InputSchema) != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	schema := json.RawMessage(clean(compact.String()))
	if len(schema) <= maxSchema {
		return schema
	}
	var v any
	if json.Unmarshal(schema, &v) == nil {
		shorten(v)
		if shorter, err := json.Marshal(v); err == nil && len(shorter) <= maxSchema {
			return shorter
		}
	}
	return json.RawMessage(`{"type":"object","properties":{},"description":"The server's own description of the arguments is too large to be shown."}`)
}

// shorten cuts the descriptions in a schema.
func shorten(v any) {
	switch v := v.(type) {
	case map[string]any:
		if s, ok := v["description"].(string); ok {
			v["description"] = cut(s, maxParamWords)
		}
		delete(v, "examples")
		for _, x := range v {
			shorten(x)
		}
	case []any:
		for _, x := range v {
			shorten(x)
		}
	}
}

// cut bounds s in bytes, at a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// clean takes out what a person who reads a description would not see.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c' && r != '\u00ad', r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
}

// shown is a server's words on one line, for an error.
func shown(s string) string {
	return cut(strings.Join(strings.Fields(clean(s)), " "), maxShown)
}
