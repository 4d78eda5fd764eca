package tools

import (
	"context"
	"encoding/json"
	"fmt"
)

// Traits say what a call may do. The zero value is the cautious answer:
// it may write, may destroy, runs alone, and may reach the network.
type Traits struct {
	// ReadOnly: changes nothing that outlives the call.
	ReadOnly bool
	// ConcurrencySafe: may run beside other safe calls of its session.
	ConcurrencySafe bool
	// Additive: adds, but neither removes nor overwrites.
	Additive bool
	// Idempotent: the same call again changes nothing more.
	Idempotent bool
	// ClosedWorld: touches nothing beyond the workspace.
	ClosedWorld bool
}

// A Tool is a name, words for the model, and a function. Make one with [New] or
// [NewRaw]; its fields are not changed afterwards.
type Tool struct {
	Name, Title, Description string
	// Aliases are other names accepted, never advertised.
	Aliases []string
	// Traits are what tools/list promises; they must hold for every input.
	Traits Traits
	// External: what the tool does happens outside our own file writes (a shell
	// command, another server). Safe calls do not wait for it, and a parameter it
	// does not know is ignored with a note instead of refused.
	External bool
	// Lane: calls of tools with one lane wait for each other as their traits say;
	// those of another lane they never wait for. "": that of the built-in tools.
	// Another server has one of its own, so that it cannot hold anything else up.
	Lane string
	// Reveals: shows the content of the file it is about. What rules forbid it,
	// searches do not show either.
	Reveals bool
	// Deferred: unlisted until tool_search finds it.
	Deferred bool
	// MaxResult is the size in bytes from which a result is saved whole and shown
	// as a preview. 0: [DefaultMaxResult]; negative: never.
	MaxResult int

	schema json.RawMessage
	params *params
	wraps  bool // it calls the tool that its arguments name
	about  bool // its input is a Target, so that rules with a pattern make sense
	decode func(json.RawMessage) (any, error)
	run    func(context.Context, *Session, any) (Output, error)
}

// Schema is the published JSON Schema of the tool's input. It must not be changed.
func (t *Tool) Schema() json.RawMessage { return t.schema }

// A Validator is an input that checks itself, cheaply and without touching the
// disk, before anything is permitted or run.
type Validator interface{ Validate(*Session) error }

// A Classifier is an input that knows its own traits: `ls` reads, `rm` writes.
// They may be milder than those of its tool, never harsher.
type Classifier interface{ Traits(*Session) Traits }

// A Target is an input that names what permission rules with a pattern are
// matched against.
type Target interface {
	Target(context.Context, *Session) (Subject, error)
}

// New binds t to run. In is a struct whose fields and tags are the input schema:
// `json` names a parameter (omitempty or omitzero: optional), `jsonschema`
// describes it, `enum` lists its values. New panics if no schema can be derived
// or a parameter is not described: that is a programming error.
func New[In any](t Tool, run func(context.Context, *Session, In) (Output, error)) Tool {
	schema, err := deriveSchema[In]()
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", t.Name, err))
	}
	t.bind(schema)
	_, t.about = any(*new(In)).(Target)
	t.decode = func(raw json.RawMessage) (any, error) {
		var in In
		err := json.Unmarshal(raw, &in)
		return in, err
	}
	t.run = func(ctx context.Context, s *Session, in any) (Output, error) {
		return run(ctx, s, in.(In))
	}
	return t
}

// NewRaw is for tools whose schema comes from elsewhere: bridged servers. A schema
// that is none of an object, or that we cannot check arguments against, is shown as
// far as clients take it, and whoever runs the call is left to check.
func NewRaw(t Tool, schema json.RawMessage, run func(context.Context, *Session, json.RawMessage) (Output, error)) Tool {
	if p, err := parseParams(schema); err == nil {
		t.schema, t.params = schema, p
	} else {
		t.bind(json.RawMessage(anyObject))
		t.schema = objectSchema(schema)
	}
	t.params.open = t.params.allowsOthers()
	t.decode = func(raw json.RawMessage) (any, error) { return raw, nil }
	t.run = func(ctx context.Context, s *Session, in any) (Output, error) {
		return run(ctx, s, in.(json.RawMessage))
	}
	return t
}

// anyObject is the schema of arguments that nothing is known of.
const anyObject = `{"type":"object","properties":{}}`

// objectSchema is schema with the type that clients insist on.
func objectSchema(schema json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(schema, &all) != nil || all == nil {
		return json.RawMessage(anyObject)
	}
	all["type"] = json.RawMessage(`"object"`)
	out, err := json.Marshal(all)
	if err != nil {
		return json.RawMessage(anyObject)
	}
	return out
}

func (t *Tool) bind(schema json.RawMessage) {
	p, err := parseParams(schema)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", t.Name, err))
	}
	t.schema, t.params = schema, p
}
