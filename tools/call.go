package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// A Call is one call of a tool on its way through the stages:
//
//	1 lookup    name or alias → Tool
//	2 validate  arguments → input, without touching the disk
//	3 hooks     may change or refuse the input
//	4 permit    rules decide
//	5 execute   gate → handler → recover
//	6 shape     save large results whole, then truncate
//	7 post      hooks, log
//
// The first error is the result. [Session.Begin] does 1 and 2 and takes a place
// in the order of the session, [Call.Run] the rest.
type Call struct {
	s    *Session
	name string
	args json.RawMessage

	tool   *Tool
	input  any
	traits Traits
	ticket *ticket
	notes  []string
	err    error // of a stage that ran in Begin
	began  time.Time
}

// Begin looks up and checks a call, without touching the disk, and takes its
// place behind the calls begun before it. Then call Run, or Abandon.
func (s *Session) Begin(name string, args json.RawMessage) *Call {
	c := &Call{s: s, name: name, args: args, began: time.Now()}
	if c.err = c.lookup(); c.err != nil {
		return c
	}
	if c.err = c.validate(c.args); c.err != nil {
		return c
	}
	c.ticket = s.gate.enter(c.class())
	return c
}

// Run does the rest of the call. Call it once. It never panics and always ends
// when ctx does.
func (c *Call) Run(ctx context.Context) Result {
	defer c.Abandon()
	ctx = context.WithValue(ctx, callKey{}, c)
	out, err := c.stages(ctx)
	res := Result{Output: out, Tool: c.tool}
	if err != nil {
		res.Output, res.IsError = outputOf(err), true
	}
	res.Notes = append(c.notes, res.Notes...)
	c.shape(&res)
	c.post(ctx, &res)
	return res
}

// Abandon gives the call's place to the next; after Run it does nothing.
func (c *Call) Abandon() {
	if c.ticket != nil {
		c.ticket.leave()
		c.ticket = nil
	}
}

func (c *Call) stages(ctx context.Context) (Output, error) {
	if c.err != nil {
		return Output{}, c.err
	}
	if err := c.hooks(ctx); err != nil {
		return Output{}, err
	}
	if err := c.permit(ctx); err != nil {
		return Output{}, err
	}
	return c.execute(ctx)
}

// UnknownTool is the text of a call whose name no tool has.
func UnknownTool(name string) string { return "Unknown tool: " + shorten(name, maxWord) }

func (c *Call) lookup() error {
	t, ok := c.s.env.Tools.Lookup(c.name)
	if !ok {
		return Fail(Output{Text: UnknownTool(c.name)})
	}
	c.tool = t
	return nil
}

func (c *Call) validate(args json.RawMessage) error {
	ready, notes, err := c.tool.prepare(args)
	if err != nil {
		return err
	}
	in, err := c.tool.decode(ready)
	if err != nil {
		return fmt.Errorf("the arguments do not fit: %w", err)
	}
	if v, ok := in.(Validator); ok {
		if err := v.Validate(c.s); err != nil {
			return err
		}
	}
	c.args, c.input = ready, in
	if len(notes) > 0 {
		c.notes = notes
	}
	c.traits = c.tool.Traits
	if own, ok := in.(Classifier); ok {
		c.traits = milder(c.tool.Traits, own.Traits(c.s))
	}
	return nil
}

// milder adds what is promised for one input to what holds for all.
func milder(all, own Traits) Traits {
	return Traits{
		ReadOnly:        all.ReadOnly || own.ReadOnly,
		ConcurrencySafe: all.ConcurrencySafe || own.ConcurrencySafe,
		Additive:        all.Additive || own.Additive,
		Idempotent:      all.Idempotent || own.Idempotent,
		ClosedWorld:     all.ClosedWorld || own.ClosedWorld,
	}
}

func (c *Call) class() class {
	switch {
	case c.traits.ConcurrencySafe:
		return safe
	case c.tool.External:
		return outside
	}
	return exclusive
}

// hooks lets each hook see the input; a changed one is checked anew.
func (c *Call) hooks(ctx context.Context) error {
	for _, h := range c.s.env.Before {
		changed, err := h(ctx, HookCall{Tool: c.tool.Name, Args: c.args})
		if err != nil {
			return Fail(Output{Text: "Action denied: " + err.Error()})
		}
		if changed == nil {
			continue
		}
		was := c.class()
		if err := c.validate(changed); err != nil {
			return fmt.Errorf("a hook changed the arguments: %w", err)
		}
		if c.class() != was {
			c.ticket.leave()
			c.ticket = c.s.gate.enter(c.class())
		}
	}
	return nil
}

func (c *Call) permit(ctx context.Context) error {
	subject, err := c.subject(ctx)
	if err != nil {
		return err
	}
	return c.s.env.Policy.permit(c.tool, subject)
}

func (c *Call) subject(ctx context.Context) (Subject, error) {
	target, ok := c.input.(Target)
	if !ok {
		return Subject{}, nil
	}
	return target.Target(ctx, c.s)
}

func (c *Call) execute(ctx context.Context) (out Output, err error) {
	if err := c.ticket.wait(ctx); err != nil {
		return Output{}, cancelled(err)
	}
	defer c.Abandon()
	defer func() {
		if r := recover(); r != nil {
			c.s.logError("a tool panicked", "tool", c.tool.Name, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			out, err = Output{}, fmt.Errorf("%s failed unexpectedly. This is a fault of the server, not of the arguments; its log has the details", c.tool.Name)
		}
	}()
	out, err = c.tool.run(ctx, c.s, c.input)
	if err != nil && ctx.Err() != nil && isContextError(err) {
		err = cancelled(context.Cause(ctx))
	}
	return out, err
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func cancelled(cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return errors.New("the call took too long and was ended")
	}
	return errors.New("the call was cancelled")
}

func (c *Call) post(ctx context.Context, res *Result) {
	for _, h := range c.s.env.After {
		if c.tool != nil {
			h(ctx, HookCall{Tool: c.tool.Name, Args: c.args}, res)
		}
	}
	if log := c.s.env.Log; log != nil {
		log.Debug("call", "tool", c.name, "error", res.IsError, "took", time.Since(c.began), "bytes", len(res.Text))
	}
}

func (s *Session) logError(msg string, args ...any) {
	if s.env.Log != nil {
		s.env.Log.Error(msg, args...)
	}
}

// callKey finds the running call in a context: what belongs to one request, not
// what a handler depends on.
type callKey struct{}

func runningCall(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}
