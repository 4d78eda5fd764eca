package tools

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"mcp-tools/sandbox"
)

// maxPlan is how many bytes of a plan are read.
const maxPlan = 256 << 10

// enterPlanMode makes a session one in which nothing is changed but a plan.
func enterPlanMode() Tool {
	return New(Tool{
		Name:  "enter_plan_mode",
		Title: "Enter plan mode",
		Description: "Begins plan mode: from now on nothing can be changed but a plan file, until exit_plan_mode. " +
			"Use it when a task should be thought through and agreed upon before anything is done.",
		Traits:   Traits{ReadOnly: true, Idempotent: true, ClosedWorld: true},
		Deferred: true,
	}, runEnterPlanMode)
}

// exitPlanMode ends it, with the plan.
func exitPlanMode() Tool {
	return New(Tool{
		Name:  "exit_plan_mode",
		Title: "Exit plan mode",
		Description: "Ends plan mode and returns the plan, after the user has agreed where the user can be asked. " +
			"Call it when the plan stands in the plan file.",
		Traits:   Traits{ReadOnly: true, ClosedWorld: true},
		Deferred: true,
	}, runExitPlanMode)
}

type planInput struct{}

func runEnterPlanMode(_ context.Context, s *Session, _ planInput) (Output, error) {
	if s.opts.Stateless {
		return Output{}, errors.New("plan mode needs a session, and this client has none: clients of 2026-07-28 over HTTP stand alone with each request. Use stdio, or an earlier revision")
	}
	file, already, err := s.plan.enter(s.env.State)
	if err != nil {
		return Output{}, err
	}
	if already {
		return Output{Text: "Already in plan mode.\nPlan file: " + file}, nil
	}
	return Output{Text: "Entered plan mode. You are now in read-only mode.\nPlan file: " + file +
		"\nRead, search and run commands that only read. Write your plan into the plan file with write_file, then call exit_plan_mode."}, nil
}

const (
	planApprove = "approve"
	planEdits   = "approve and accept edits"
	planKeep    = "keep planning"
)

const planSchema = `{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["` + planApprove + `","` + planEdits + `","` + planKeep + `"],"default":"` + planApprove + `"},` +
	`"feedback":{"type":"string","title":"What should be different?"}},"required":["decision"]}`

func runExitPlanMode(ctx context.Context, s *Session, _ planInput) (Output, error) {
	if !s.plan.active() {
		return Output{Text: "Not in plan mode."}, nil
	}
	if s.opts.Stateless {
		return Output{}, errors.New("the server runs with --mode plan, and this client has no session in which that could end")
	}
	plan := s.readPlan(ctx)
	answer, err := runningCall(ctx).answerTo(ctx, Question{Key: fmt.Sprintf("exit_plan_mode\x00%x", sha256.Sum256([]byte(plan))), Message: "The plan:\n\n" + shorten(plan, maxAsked) + "\n\nLeave plan mode?", Schema: []byte(planSchema)})
	var mode Mode
	switch {
	case errors.Is(err, errCannotAsk):
	case err != nil:
		return Output{}, err
	default:
		fields := answer.fields()
		decision := fields["decision"]
		if answer.Action == "accept" && decision == "" {
			decision = planApprove
		}
		switch {
		case answer.Action == "accept" && decision == planEdits:
			mode = ModeAcceptEdits
		case answer.Action != "accept" || decision != planApprove:
			text := "The user wants to keep planning. You are still in plan mode."
			if f := strings.TrimSpace(fields["feedback"]); f != "" {
				text += "\nFeedback: " + f
			}
			return Output{Text: text}, nil
		}
	}
	s.plan.leave(mode)
	return Output{Text: "Exited plan mode. The plan:\n\n" + plan}, nil
}

// readPlan is the plan as it stands in its file.
func (s *Session) readPlan(ctx context.Context) string {
	const none = "(No plan file found)"
	file := s.plan.path()
	ws, err := s.workspace(ctx)
	if file == "" || err != nil {
		return none
	}
	p, err := ws.Resolve(file)
	if err != nil {
		return none
	}
	f, _, err := ws.Open(p)
	if err != nil {
		return none
	}
	data, err := sandbox.ReadText(f, maxPlan)
	if err != nil {
		return fmt.Sprintf("(The plan in %s cannot be read: %s)", file, sandbox.Reason(err))
	}
	return string(data)
}
