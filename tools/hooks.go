package tools

import (
	"context"
	"encoding/json"
)

// HookCall is what a hook sees of a call.
type HookCall struct {
	Tool string
	Args json.RawMessage // after validation
	// Session tells the sessions apart, Dir is the first root on this machine ("": there
	// is none), Mode what holds in the session.
	Session string
	Dir     string
	Mode    Mode
}

// HookVerdict is what a hook says of a call. The zero value says nothing.
type HookVerdict struct {
	Args  json.RawMessage // in place of those that came; validated again
	Allow bool            // the user need not be asked, but for guarded names
	Ask   string          // not empty: why the user is to be asked
	Note  string          // for the model, with the result
}

// A BeforeHook sees a call before it is permitted. An error refuses the call and is
// shown to the model. It must be safe for concurrent use and obey ctx.
type BeforeHook func(ctx context.Context, c HookCall) (HookVerdict, error)

// An AfterHook sees the result of a call and may change it. It must be safe for
// concurrent use.
type AfterHook func(ctx context.Context, c HookCall, res *Result)

// hookCall is what hooks see of this call.
func (c *Call) hookCall(ctx context.Context) HookCall {
	h := HookCall{Tool: c.tool.Name, Args: c.args, Session: c.s.id, Mode: c.s.mode()}
	if c.s.plan.active() {
		h.Mode = ModePlan
	}
	if ws, err := c.s.workspace(ctx); err == nil && len(ws.Roots()) > 0 {
		h.Dir = ws.Roots()[0].Dir
	}
	return h
}

// hooks lets each hook see the input; a changed one is checked anew.
func (c *Call) hooks(ctx context.Context) error {
	before, _ := c.s.env.hooks()
	for _, h := range before {
		v, err := h(ctx, c.hookCall(ctx))
		if err != nil {
			if ctx.Err() != nil {
				return cancelled(context.Cause(ctx))
			}
			return Fail(Output{Text: "Action denied: " + err.Error()})
		}
		if v.Note != "" {
			c.notes = append(c.notes, v.Note)
		}
		c.preapproved = c.preapproved || v.Allow
		if v.Ask != "" {
			c.hookAsks = v.Ask
		}
		if v.Args == nil {
			continue
		}
		if err := c.rewrite(v.Args); err != nil {
			return err
		}
	}
	if c.hookAsks != "" { // whatever another says
		c.preapproved = false
	}
	return nil
}
