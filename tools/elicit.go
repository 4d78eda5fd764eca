package tools

import (
	"context"
	"encoding/json"
)

// A Question is one that a call has for the user.
type Question struct {
	Key     string // what it is about; not shown
	Message string
	Schema  json.RawMessage // JSON Schema of the answer's content
}

// An Answer is what the user said to a Question.
type Answer struct {
	Action  string          // "accept", "decline", "cancel"
	Content json.RawMessage // with accept
}

// fields are the texts in an answer.
func (a Answer) fields() map[string]string {
	var all map[string]any
	_ = json.Unmarshal(a.Content, &all)
	texts := make(map[string]string, len(all))
	for name, v := range all {
		if s, ok := v.(string); ok {
			texts[name] = s
		}
	}
	return texts
}

// Pending is the end of a call that goes on when the user has answered: the client
// repeats it with the answer, see [Call.Resume].
type Pending struct{ Question Question }

func (p *Pending) Error() string { return "the user is to be asked first" }

// Resumed is an answer that came with the repetition of a call.
type Resumed struct {
	Key    string // of the question
	Answer Answer
	// Args are the arguments after hooks, nil where those had not changed them. Hooks
	// do not run again.
	Args json.RawMessage
}

// InRounds tells that the client is asked by ending the call. r is the answer it brought
// with the call, nil if it is new. Call it before Run.
func (c *Call) InRounds(r *Resumed) {
	c.rounds, c.resumed = true, r
	if r == nil || c.err != nil {
		return
	}
	c.hooked = true
	if r.Args != nil {
		c.err = c.recovered(func() error { return c.validate(r.Args) })
	}
}

// HookedArgs are the arguments as hooks have left them; nil: as they came.
func (c *Call) HookedArgs() json.RawMessage { return c.rewritten }

type elicitKey struct{}

// WithElicit returns a context in which a call can ask the user. ask must be safe
// for concurrent use and obey its context.
func WithElicit(ctx context.Context, ask func(context.Context, Question) (Answer, error)) context.Context {
	return context.WithValue(ctx, elicitKey{}, ask)
}

// ElicitOf returns how a call can ask the user; nil where it cannot.
func ElicitOf(ctx context.Context) func(context.Context, Question) (Answer, error) {
	ask, _ := ctx.Value(elicitKey{}).(func(context.Context, Question) (Answer, error))
	return ask
}
