package tools

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func names(list []*Tool) string {
	var out []string
	for _, t := range list {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

// deferring has a tool that activates the rare one.
func deferring() *Env {
	type in struct{}
	idle := func(context.Context, *Session, in) (Output, error) { return Output{Text: "ran"}, nil }
	env := &Env{HideDeferred: true}
	find := New(Tool{Name: "find", Description: "Finds."}, func(ctx context.Context, s *Session, _ in) (Output, error) {
		rare, _ := env.Tools.Lookup("rare")
		s.Activate(ctx, rare)
		return Output{Text: "found"}, nil
	})
	env.Tools = NewRegistry(find, New(Tool{Name: "rare", Description: "Rare.", Deferred: true}, idle), New(Tool{Name: "usual", Description: "Usual."}, idle))
	return env
}

func TestActivatedToolsAreListedInThatSessionOnly(t *testing.T) {
	env := deferring()
	one, other := env.NewSession(SessionOptions{}), env.NewSession(SessionOptions{})
	assert.Equal(t, "find usual", names(one.Visible()))
	assert.False(t, one.Remembers())

	res := one.Call(t.Context(), "find", nil)
	assert.True(t, res.ListChanged)
	assert.Equal(t, "find rare usual", names(one.Visible()))
	assert.True(t, one.Remembers())
	assert.Equal(t, "find usual", names(other.Visible()))
	assert.False(t, one.Call(t.Context(), "find", nil).ListChanged, "it is listed already")
	assert.False(t, one.Call(t.Context(), "usual", nil).ListChanged)

	rare, ok := env.Tools.Lookup("rare")
	require.True(t, ok)
	other.Activate(t.Context(), rare) // outside of a call nobody is to be told
	assert.Equal(t, "find rare usual", names(other.Visible()))
}

func TestASessionWithoutMemoryIsAlwaysShownTheSame(t *testing.T) {
	s := deferring().NewSession(SessionOptions{Stateless: true})
	assert.False(t, s.Call(t.Context(), "find", nil).ListChanged)
	assert.Equal(t, "find usual", names(s.Visible()))
}

func TestDeferredToolsAreListedWhereNothingFindsThem(t *testing.T) {
	env := deferring()
	env.HideDeferred = false
	s := env.NewSession(SessionOptions{})
	assert.Equal(t, "find rare usual", names(s.Visible()))
	assert.False(t, s.Call(t.Context(), "find", nil).ListChanged)
}
