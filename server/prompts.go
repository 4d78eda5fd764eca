package server

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-tools/tools/skills"
)

// promptArgs is the one argument of every prompt.
const promptArgs = "args"

// listPrompts puts in place of mcp-go's list one prompt for each skill that a user may
// call.
func (s *Server) listPrompts(ctx context.Context, _ any, _ *mcp.ListPromptsRequest, result *mcp.ListPromptsResult) {
	result.NextCursor, result.Prompts = "", []mcp.Prompt{}
	notKept(ctx, result)
	for _, k := range s.sessionOf(ctx).Skills(ctx) {
		if !k.ForUser {
			continue
		}
		hint := k.Hint
		if hint == "" {
			hint = "What the skill is to be done with"
		}
		result.Prompts = append(result.Prompts, mcp.Prompt{
			Name: k.Name, Description: k.Description, Arguments: []mcp.PromptArgument{{Name: promptArgs, Description: hint}},
		})
	}
}

// getPrompt is the skill as a message of the user.
func (s *Server) getPrompt(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	r := requestFrom(ctx)
	if r == nil {
		return nil, fmt.Errorf("this request belongs to no client session")
	}
	k := promptNamed(r.session.Skills(ctx), r.promptName)
	if k == nil {
		r.own = invalidParams("there is no prompt " + logged([]byte(r.promptName)) + "; prompts/list names them")
		return nil, r.own
	}
	if err := r.session.HeedSkill(ctx, k.Name); err != nil {
		r.own = invalidParams(err.Error())
		return nil, r.own
	}
	return mcp.NewGetPromptResult(k.Description, []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(k.Text(req.Params.Arguments[promptArgs]))),
	}), nil
}

func promptNamed(list []skills.Skill, name string) *skills.Skill {
	for i := range list {
		if list[i].Name == name && list[i].ForUser {
			return &list[i]
		}
	}
	return nil
}
