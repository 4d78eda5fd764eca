package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-tools/tools"
)

// maxRounds bounds how often a server may ask before it goes on with a call.
const maxRounds = 10

// maxBlocks bounds the parts of an answer.
const maxBlocks = 20_000

// call runs a tool of the server.
func (c *connection) call(ctx context.Context, s *tools.Session, def *definition, args json.RawMessage) (*result, error) {
	live := &liveCall{ctx: ctx, session: s, report: tools.ProgressOf(ctx), ask: tools.ElicitOf(ctx)}
	token := fmt.Sprintf("p%d", c.seq.Add(1))
	c.mu.Lock()
	c.calls[token] = live
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, token)
		c.lastBy, c.lastAt = s, time.Now()
		c.mu.Unlock()
	}()

	params := map[string]any{"name": def.Name, "arguments": args}
	if live.report != nil {
		params["_meta"] = map[string]any{"progressToken": token}
	}
	for range maxRounds {
		raw, err := c.request(ctx, mcp.MethodToolsCall, params, def.headers(params))
		if err != nil {
			return nil, err
		}
		var res result
		if err := json.Unmarshal(raw, &res); err != nil {
			return nil, errors.New("its answer is not the result of a call")
		}
		if res.ResultType != string(mcp.ResultTypeInputRequired) {
			return &res, nil
		}
		answers, err := live.fulfil(ctx, res.InputRequests, c.entry.Name)
		if err != nil {
			return nil, err
		}
		params["inputResponses"], params["requestState"] = answers, res.RequestState
	}
	return nil, fmt.Errorf("it asked %d times and did not go on with the call", maxRounds)
}

// result is what a server answers to a call, as far as it is looked at.
type result struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent"`
	IsError           bool              `json:"isError"`

	ResultType    string            `json:"resultType"`
	InputRequests mcp.InputRequests `json:"inputRequests"`
	RequestState  string            `json:"requestState"`
}

// block is what matters of a content block.
type block struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Annotations json.RawMessage `json:"annotations"`
	Meta        json.RawMessage `json:"_meta"`
	Resource    *struct {
		URI  string  `json:"uri"`
		Text *string `json:"text"`
	} `json:"resource"`
}

// plain is a text that nothing else is said of.
func (b *block) plain() bool {
	return b.Type == "text" && len(b.Annotations) == 0 && len(b.Meta) == 0
}

// words is the text of a block, if it is made of text.
func (b *block) words() (string, bool) {
	switch {
	case b.Type == "text":
		return b.Text, true
	case b.Type == "resource" && b.Resource != nil && b.Resource.Text != nil:
		return "[" + shown(b.Resource.URI) + "]\n" + *b.Resource.Text, true
	}
	return "", false
}

// output is the result in our terms: passed through as it is while it is small; the
// texts of a large one become one, which is saved and shown in part like ours.
func (r *result) output() (tools.Output, error) {
	if len(r.Content) > maxBlocks {
		return tools.Output{}, fmt.Errorf("its answer has %d parts, and at most %d are taken", len(r.Content), maxBlocks)
	}
	var text strings.Builder
	blocks := make([]block, len(r.Content))
	size := 0
	for i, raw := range r.Content {
		if err := json.Unmarshal(raw, &blocks[i]); err != nil || blocks[i].Type == "" {
			return tools.Output{}, errors.New("its answer has a part that is no content of MCP")
		}
		words, _ := blocks[i].words()
		size += len(words)
	}
	out := tools.Output{Data: r.StructuredContent}
	if string(out.Data) == "null" {
		out.Data = nil
	}
	large := size > tools.DefaultMaxResult
	for i, raw := range r.Content {
		words, isText := blocks[i].words()
		switch {
		case len(blocks) == 1 && blocks[i].plain():
			out.Text = blocks[i].Text
		case large && isText:
			if text.Len() > 0 {
				text.WriteByte('\n')
			}
			text.WriteString(words)
		default:
			out.Raw = append(out.Raw, raw)
		}
	}
	out.Text += text.String()
	if len(out.Data) > tools.DefaultMaxResult {
		if size == 0 {
			out.Text = string(out.Data)
		} else {
			out.Notes = append(out.Notes, fmt.Sprintf("left out: structured content of %d KB", len(out.Data)>>10))
		}
		out.Data = nil
	}
	return out, nil
}
