package tools

import (
	"context"
	"encoding/json"
)

// HookCall is what a hook sees of a call.
type HookCall struct {
	Tool string
	Args json.RawMessage // after validation
}

// A BeforeHook sees a call before it is permitted. It may return other
// arguments, which are validated again, or an error, which refuses the call and
// is shown to the model. nil, nil leaves the call as it is. It must be safe for
// concurrent use and obey ctx.
type BeforeHook func(ctx context.Context, c HookCall) (json.RawMessage, error)

// An AfterHook sees the result of a call and may change it. It must be safe for
// concurrent use.
type AfterHook func(ctx context.Context, c HookCall, res *Result)
