package tools

import (
	"context"
	"encoding/json"
)

// A Question is one that a call has for the user.
type Question struct {
	Message string
	Schema  json.RawMessage // JSON Schema of the answer's content
}

// An Answer is what the user said to a Question.
type Answer struct {
	Action  string          // "accept", "decline", "cancel"
	Content json.RawMessage // with accept
}

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
