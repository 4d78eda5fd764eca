package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"mcp-tools/sandbox"
)

const (
	// defaultHookTime is how long a hook may take unless it says otherwise.
	defaultHookTime = 60 * time.Second
	// maxHookTime is the longest it may say.
	maxHookTime = 10 * time.Minute
	// maxHookSees is how many bytes of a result a hook is shown.
	maxHookSees = 64 << 10
	// maxHookSays is how many bytes of a hook's words reach the model.
	maxHookSays = 4000
)

// A HookCommand is a command of the user's that is run before or after calls. It gets
// JSON on its standard input and answers by its exit code and by JSON on its output, as
// the hooks of Claude Code do: scripts written for that work here.
type HookCommand struct {
	Matcher string // a regular expression on the tool's whole name; "" or "*": all
	Command string
	Timeout time.Duration // 0: 60 s
}

// agentNames are the names that Claude Code has for tools like ours. Its hooks know
// them by these.
var agentNames = map[string]string{
	"run_shell": "Bash", "read_file": "Read", "write_file": "Write", "edit_file": "Edit", "multi_edit": "MultiEdit", "notebook_edit": "NotebookEdit",
	"list_files": "Glob", "grep_search": "Grep", "web_fetch": "WebFetch", "skill": "Skill", "agent": "Task", "exit_plan_mode": "ExitPlanMode",
}

func agentName(tool string) string {
	if name := agentNames[tool]; name != "" {
		return name
	}
	return tool
}

// hook is a HookCommand made ready.
type hook struct {
	HookCommand
	match *regexp.Regexp // nil: all
	shell *sandbox.Shell
}

func newHook(shell *sandbox.Shell, h HookCommand) (*hook, error) {
	if strings.TrimSpace(h.Command) == "" {
		return nil, errors.New("a hook needs a command")
	}
	switch {
	case h.Timeout == 0:
		h.Timeout = defaultHookTime
	case h.Timeout < 0 || h.Timeout > maxHookTime:
		return nil, fmt.Errorf("the timeout of a hook must be between 0 and %v", maxHookTime)
	}
	k := &hook{HookCommand: h, shell: shell}
	if h.Matcher == "" || h.Matcher == "*" {
		return k, nil
	}
	match, err := regexp.Compile(`^(?:` + h.Matcher + `)$`)
	if err != nil {
		return nil, fmt.Errorf("the matcher %q is no regular expression: %w", h.Matcher, err)
	}
	k.match = match
	return k, nil
}

func (k *hook) matches(tool string) bool {
	return k.match == nil || k.match.MatchString(tool) || k.match.MatchString(agentName(tool))
}

// PreTool is a hook command as a BeforeHook. One that fails, or takes too long, refuses
// the call: it may have been there to refuse it.
func PreTool(shell *sandbox.Shell, h HookCommand) (BeforeHook, error) {
	k, err := newHook(shell, h)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, c HookCall) (HookVerdict, error) {
		if !k.matches(c.Tool) {
			return HookVerdict{}, nil
		}
		out, err := k.run(ctx, c, "PreToolUse", nil)
		if err != nil {
			return HookVerdict{}, err
		}
		return out.verdict()
	}, nil
}

// PostTool is a hook command as an AfterHook: what it says is added to the result.
func PostTool(shell *sandbox.Shell, h HookCommand) (AfterHook, error) {
	k, err := newHook(shell, h)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, c HookCall, res *Result) {
		if !k.matches(c.Tool) {
			return
		}
		out, err := k.run(ctx, c, "PostToolUse", res)
		note := ""
		switch {
		case err != nil:
			note = "a hook after this call: " + err.Error()
		case out.Decision == "block":
			note = "a hook after this call: " + out.Reason
		case out.Specific.AdditionalContext != "":
			note = out.Specific.AdditionalContext
		}
		if note != "" {
			res.Text = strings.TrimRight(res.Text, "\n") + "\n[" + shorten(strings.TrimSpace(note), maxHookSays) + "]"
		}
	}, nil
}

// hookInput is what a hook reads.
type hookInput struct {
	SessionID  string          `json:"session_id"`
	Transcript string          `json:"transcript_path"`
	Cwd        string          `json:"cwd"`
	Permission Mode            `json:"permission_mode"`
	Event      string          `json:"hook_event_name"`
	ToolName   string          `json:"tool_name"`
	Tool       string          `json:"mcp_tools_name"` // as it is called here
	Input      json.RawMessage `json:"tool_input"`
	Response   any             `json:"tool_response,omitempty"`
}

// hookOutput is what a hook may answer.
type hookOutput struct {
	Continue   *bool  `json:"continue"`
	StopReason string `json:"stopReason"`
	Decision   string `json:"decision"`
	Reason     string `json:"reason"`
	Specific   struct {
		Decision          string          `json:"permissionDecision"`
		Reason            string          `json:"permissionDecisionReason"`
		UpdatedInput      json.RawMessage `json:"updatedInput"`
		AdditionalContext string          `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// run runs the command. An error is a refusal, in words for the model.
func (k *hook) run(ctx context.Context, c HookCall, event string, res *Result) (hookOutput, error) {
	in := hookInput{SessionID: c.Session, Cwd: c.Dir, Permission: c.Mode, Event: event, ToolName: agentName(c.Tool), Tool: c.Tool, Input: c.Args}
	if res != nil {
		in.Response = map[string]any{"text": shorten(res.Text, maxHookSees), "is_error": res.IsError}
	}
	stdin, err := json.Marshal(in)
	if err != nil {
		return hookOutput{}, err
	}
	dir := c.Dir
	if dir == "" {
		dir = sandbox.TempDir()
	}
	fin, err := k.shell.Run(ctx, sandbox.Command{Line: k.Command, Dir: dir, Timeout: k.Timeout, Stdin: string(stdin) + "\n"})
	if err != nil {
		return hookOutput{}, fmt.Errorf("the user's hook %s could not be run: %s", k.name(), sandbox.Reason(err))
	}
	defer fin.Stdout.Discard()
	defer fin.Stderr.Discard()
	stdout, _ := fin.Stdout.Text()
	stderr, _ := fin.Stderr.Text()
	switch {
	case fin.Cancelled:
		return hookOutput{}, errors.New("the call was cancelled while the user's hook ran")
	case fin.TimedOut:
		return hookOutput{}, fmt.Errorf("the user's hook %s did not end within %v", k.name(), k.Timeout)
	case fin.ExitCode == 2:
		return hookOutput{}, fmt.Errorf("%s", said(stderr, "the user's hook "+k.name()+" refuses it"))
	case fin.ExitCode != 0:
		return hookOutput{}, fmt.Errorf("the user's hook %s failed (exit code %d): %s", k.name(), fin.ExitCode, said(stderr, "it said nothing"))
	}
	var out hookOutput
	if text := strings.TrimSpace(stdout); strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			return hookOutput{}, fmt.Errorf("the user's hook %s answered what is no JSON: %v", k.name(), err)
		}
	}
	return out, nil
}

// verdict is what the answer of a hook before a call means.
func (o hookOutput) verdict() (HookVerdict, error) {
	v := HookVerdict{Args: o.Specific.UpdatedInput, Note: shorten(o.Specific.AdditionalContext, maxHookSays)}
	if string(v.Args) == "null" {
		v.Args = nil
	}
	switch {
	case o.Continue != nil && !*o.Continue:
		return v, errors.New(said(o.StopReason, "the user's hook wants the work to stop"))
	case o.Specific.Decision == "deny", o.Decision == "block", o.Decision == "deny":
		return v, errors.New(said(o.Specific.Reason+o.Reason, "the user's hook refuses it"))
	case o.Specific.Decision == "ask":
		v.Ask = said(o.Specific.Reason, "a hook of the user wants it")
	case o.Specific.Decision == "allow", o.Decision == "approve":
		v.Allow = true
	}
	return v, nil
}

// said are a hook's words, or others where it has none.
func said(words, otherwise string) string {
	if words = strings.TrimSpace(words); words == "" {
		return otherwise
	}
	return shorten(words, maxHookSays)
}

// name is the hook in a message.
func (k *hook) name() string { return shorten(printable(k.Command), maxWord) }
