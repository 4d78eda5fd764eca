package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"mcp-tools/sandbox"
)

// A Call is one call of a tool on its way through the stages:
//
//	1 lookup    name or alias → Tool
//	2 validate  arguments → input, without touching the disk
//	3 hooks     may change or refuse the input
//	4 permit    gate → rules decide
//	5 execute   handler → recover
//	6 shape     save large results whole, then truncate
//	7 post      hooks, log
//
// The first error is the result. [Session.Begin] does 1 and 2 and takes a place
// in the order of the session, [Call.Run] the rest. Rules about paths are judged
// when the call's turn has come, and the handler gets the very place that was
// judged: what earlier calls of the session did may change what a path means.
type Call struct {
	s    *Session
	name string
	args json.RawMessage

	tool   *Tool
	via    *Tool // that it was called through; may be nil
	input  any
	traits Traits
	ticket *ticket
	notes  []string
	err    error // of a stage that ran in Begin
	began  time.Time
	log    *slog.Logger // may be nil
	gone   func() bool  // may be nil

	listChanged atomic.Bool // set by what runs in the call

	// What permit found, for the handler: places by the name the model gave them,
	// and whether the user allowed writing a guarded one.
	places  map[string]judgedPath
	granted bool
	allowed string // key of what the user has just said yes to

	rounds      bool            // the client is asked by ending the call
	resumed     *Resumed        // the answer it brought
	hooked      bool            // hooks have run for it
	rewritten   json.RawMessage // by hooks
	preapproved bool            // by a hook
	verdict     string          // where it ended before it ran: see audit
	hookAsks    string          // why a hook wants the user to be asked

	learned []string // keys of the files whose content it has shown

	change string // the id of the change it made, if it can be taken back
	undoes string // the id of the change it takes back
}

// A judgedPath is a path of a call as it was resolved for its rules.
type judgedPath struct {
	ws   *sandbox.Workspace
	path sandbox.Path
}

// Begin looks up and checks a call, without touching the disk, and takes its
// place behind the calls begun before it. Then call Run, or Abandon.
func (s *Session) Begin(name string, args json.RawMessage) *Call {
	c := &Call{s: s, name: name, args: args, began: time.Now(), log: s.log}
	c.err = c.recovered(func() error {
		if err := c.lookup(); err != nil {
			return err
		}
		return c.validate(c.args)
	})
	if c.err == nil {
		c.ticket = s.gates.enter(c.tool.Lane, c.class())
	}
	return c
}

// LogTo makes log, which knows the request, get what happens in the call. Call it
// before Run.
func (c *Call) LogTo(log *slog.Logger) { c.log = log }

// StopIf makes the call ask, before it changes a file, whether its client is gone,
// with which such calls are cancelled: its context may tell that too late. Call it
// before Run.
func (c *Call) StopIf(gone func() bool) { c.gone = gone }

// Run does the rest of the call. Call it once. It never panics and always ends
// when ctx does.
func (c *Call) Run(ctx context.Context) (res Result) {
	defer c.Abandon()
	ctx = context.WithValue(ctx, callKey{}, c)
	err := c.recovered(func() (err error) {
		res.Output, err = c.stages(ctx)
		return err
	})
	c.Abandon() // the handler is done; what follows is the result's own
	res.Tool, res.ListChanged = c.tool, c.listChanged.Load()
	var pending *Pending
	if errors.As(err, &pending) {
		res.Pending = pending
		c.audit(&res)
		return res
	}
	if err != nil {
		res.Output, res.IsError = outputOf(err), true
	}
	res.Notes = append(c.notes, res.Notes...)
	for _, stage := range []func() error{
		func() error { c.shape(&res); return nil },
		func() error { c.post(ctx, &res); return nil },
	} {
		if err := c.recovered(stage); err != nil {
			res.Output, res.IsError = outputOf(err), true
		}
	}
	c.audit(&res)
	return res
}

// recovered runs a part of the call; a panic in it becomes an error, whose
// details go to the log.
func (c *Call) recovered(part func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.logError("a call panicked", "tool", c.name, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = fmt.Errorf("%s failed unexpectedly. This is a fault of the server, not of the arguments; its log has the details", shorten(c.name, maxWord))
		}
	}()
	return part()
}

// Forget takes back that the model knows what the call has shown or left: its
// result was not delivered. Call it after Run.
func (c *Call) Forget() { c.s.seen.forget(c.learned) }

// Abandon gives the call's place to the next; after Run it does nothing.
func (c *Call) Abandon() {
	if c.ticket != nil {
		c.ticket.leave()
		c.ticket = nil
	}
}

func (c *Call) stages(ctx context.Context) (Output, error) {
	if c.err != nil {
		c.verdict = verdictInvalid
		return Output{}, c.err
	}
	c.verdict = verdictDenied
	if !c.hooked {
		if err := c.hooks(ctx); err != nil {
			return Output{}, err
		}
	}
	if err := c.permit(ctx); err != nil {
		return Output{}, err
	}
	c.verdict = ""
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
	if t.wraps {
		return c.unwrap()
	}
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
	c.notes = append(c.notes, notes...)
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

// rewrite takes other arguments in place of those that came.
func (c *Call) rewrite(args json.RawMessage) error {
	was := c.class()
	if err := c.validate(args); err != nil {
		return fmt.Errorf("a hook changed the arguments: %w", err)
	}
	c.rewritten = c.args
	if c.class() != was {
		c.ticket.leave()
		c.ticket = c.s.gates.enter(c.tool.Lane, c.class())
	}
	return nil
}

func (c *Call) execute(ctx context.Context) (Output, error) {
	out, err := c.tool.run(ctx, c.s, c.input)
	if err != nil && ctx.Err() != nil && isContextError(err) {
		err = cancelled(context.Cause(ctx))
	}
	return out, err
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrStopping)
}

// ErrStopping is the cause with which a server that stops cancels its calls.
var ErrStopping = errors.New("the server is stopping")

func cancelled(cause error) error {
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return errors.New("the call took too long and was ended")
	case errors.Is(cause, ErrStopping):
		return errors.New("the call was ended: the server is stopping")
	}
	return errors.New("the call was cancelled")
}

func (c *Call) post(ctx context.Context, res *Result) {
	_, after := c.s.env.hooks()
	for _, h := range after {
		if c.tool != nil {
			h(ctx, c.hookCall(ctx), res)
		}
	}
	if c.log != nil {
		c.log.Debug("call", "tool", c.name, "error", res.IsError, "took", time.Since(c.began), "bytes", len(res.Text))
	}
}

func (c *Call) logError(msg string, args ...any) {
	if c.log != nil {
		c.log.Error(msg, args...)
	}
}

// callKey finds the running call in a context: what belongs to one request, not
// what a handler depends on.
type callKey struct{}

func runningCall(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}
