package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-tools/tools"
)

// maxAsks bounds the questions of a server that wait for the user at once.
const maxAsks = 4

// lateQuestion is how long after a call of another session no question is passed on.
const lateQuestion = time.Minute

// asker passes a server's questions on to the user whose call they belong to.
type asker struct{ c *connection }

// Elicit answers a question that names no call: it is passed on where only one call
// is in progress that can ask its user, else it is cancelled. Nothing is ever
// answered in the user's name.
func (a asker) Elicit(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	a.c.mu.Lock()
	var one *liveCall
	for _, call := range a.c.calls {
		if one != nil {
			one = nil
			break
		}
		one = call
	}
	// A question that comes late may be of a call that has ended.
	mixed := one != nil && a.c.lastBy != nil && a.c.lastBy != one.session && time.Since(a.c.lastAt) < lateQuestion
	busy := a.c.asks >= maxAsks
	if !busy {
		a.c.asks++
	}
	a.c.mu.Unlock()
	if busy {
		return nil, errors.New("too many questions at once")
	}
	defer func() {
		a.c.mu.Lock()
		a.c.asks--
		a.c.mu.Unlock()
	}()
	if one == nil || mixed {
		return cancelledAnswer(), nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(one.ctx, stop)()
	return one.elicit(ctx, req.Params, a.c.entry.Name)
}

func cancelledAnswer() *mcp.ElicitationResult {
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionCancel}}
}

// elicit asks the user of a call; one who cannot be asked has not answered.
func (l *liveCall) elicit(ctx context.Context, q mcp.ElicitationParams, server string) (*mcp.ElicitationResult, error) {
	if l.ask == nil || q.Mode != "" && q.Mode != mcp.ElicitationModeForm {
		return cancelledAnswer(), nil
	}
	schema, err := json.Marshal(q.RequestedSchema)
	if err != nil {
		return nil, err
	}
	answer, err := l.ask(ctx, tools.Question{Message: "The server " + server + " asks: " + q.Message, Schema: schema})
	if err != nil {
		return cancelledAnswer(), nil
	}
	out := &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseAction(answer.Action)}}
	if answer.Action == string(mcp.ElicitationResponseActionAccept) {
		out.Content = answer.Content
	}
	return out, nil
}

// fulfil answers what a server of 2026-07-28 wants to know before it goes on with a call.
func (l *liveCall) fulfil(ctx context.Context, wanted mcp.InputRequests, server string) (mcp.InputResponses, error) {
	answers := make(mcp.InputResponses, len(wanted))
	for id, q := range wanted {
		if q.Method != mcp.MethodElicitationCreate || q.Elicitation == nil {
			return nil, errors.New("it wants something that this program does not offer: " + shown(string(q.Method)))
		}
		answer, err := l.elicit(ctx, *q.Elicitation, server)
		if err != nil {
			return nil, err
		}
		answers[id] = mcp.NewElicitationInputResponse(*answer)
	}
	return answers, nil
}
