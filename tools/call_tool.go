package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// callToolSchema is written out: what arguments are is the called tool's matter.
const callToolSchema = `{"type":"object","properties":{` +
	`"name":{"type":"string","description":"Name of the tool."},` +
	`"arguments":{"type":"object","description":"Its arguments, as its schema wants them."}},"required":["name"]}`

// callTool is the way to tools that a host does not list. It has no run of its
// own: see [Call.unwrap].
func callTool() Tool {
	t := NewRaw(Tool{
		Name:  "call_tool",
		Title: "Call a tool by name",
		Description: "Runs a tool that is not in your list of tools, by its name and with its arguments. " +
			"Tools in the list are called directly.",
	}, json.RawMessage(callToolSchema), func(context.Context, *Session, json.RawMessage) (Output, error) {
		return Output{}, errors.New("call_tool was not unwrapped")
	})
	t.wraps = true
	return t
}

// unwrap makes a call of call_tool one of the tool it names, which then goes
// through all stages as if it had been called itself: its checks, its traits in
// the queue, its rules. Only that call_tool itself is allowed is asked besides.
func (c *Call) unwrap() error {
	if err := onlyNameAndArguments(c.args); err != nil {
		return err
	}
	ready, notes, err := c.tool.prepare(c.args)
	if err != nil {
		return err
	}
	var in struct {
		Name      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(ready, &in); err != nil {
		return fmt.Errorf("the arguments do not fit: %w", err)
	}
	target, ok := c.s.env.Tools.Lookup(in.Name)
	switch {
	case !ok:
		return c.s.env.noSuchTool(in.Name)
	case !target.Deferred:
		return fmt.Errorf("call %s directly", target.Name) // the host's own rules for it must hold
	}
	c.via, c.tool, c.args, c.notes = c.tool, target, in.Arguments, notes
	return nil
}

// onlyNameAndArguments refuses what is beside them: it was most likely meant for the
// called tool, which would now run without it.
func onlyNameAndArguments(args json.RawMessage) error {
	var all map[string]json.RawMessage
	if json.Unmarshal(args, &all) != nil {
		return nil // prepare says what is wrong
	}
	for name := range all {
		if low := strings.ToLower(name); low != "name" && low != "arguments" {
			return fmt.Errorf("call_tool has no parameter %q; nothing was done. What the tool is to get stands in arguments: {\"name\":\"undo\",\"arguments\":{\"list\":true}}", shorten(printable(name), maxWord))
		}
	}
	return nil
}

// noSuchTool names the tools that may be meant.
func (e *Env) noSuchTool(name string) error {
	x := e.found.of(e.Tools)
	var like []string
	for _, hit := range x.index.Search(strings.ReplaceAll(name, "_", " "), 3) {
		like = append(like, x.tools[hit.Doc].Name)
	}
	text := "there is no tool " + shorten(printable(name), maxWord) + ". "
	if len(like) > 0 {
		text += "Did you mean " + strings.Join(like, " or ") + "? "
	}
	return errors.New(text + "tool_search finds tools by what they are for")
}
