package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"mcp-tools/tools"
)

// rootsInput is the key under which a client of 2026-07-28 is asked for its roots.
const rootsInput = "roots"

// listed is how a tool stands in tools/list: all annotations, and nothing else
// that a client does not need.
func listed(t *tools.Tool) mcp.Tool {
	title := t.Title
	if title == "" {
		title = t.Name
	}
	return mcp.Tool{
		Name:           t.Name,
		Description:    t.Description,
		RawInputSchema: t.Schema(),
		Annotations: mcp.ToolAnnotation{
			Title:           title,
			ReadOnlyHint:    new(t.Traits.ReadOnly),
			DestructiveHint: new(!t.Traits.ReadOnly && !t.Traits.Additive),
			IdempotentHint:  new(t.Traits.Idempotent || t.Traits.ReadOnly),
			OpenWorldHint:   new(!t.Traits.ClosedWorld),
		},
	}
}

// call runs the call of a tool. It never returns an error: mcp-go would make it an
// internal error of the protocol, which no model sees.
func (s *Server) call(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
	r := requestFrom(ctx)
	if r == nil || r.tool == nil {
		return failed("Error: this call belongs to no client session"), nil
	}
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("panic in a tool", "tool", r.tool.Name, "panic", v, "stack", string(debug.Stack()))
			result = failed("Error: " + r.tool.Name + " failed unexpectedly. This is a fault of the tool, not of the call; another way may work.")
		}
	}()
	call := r.take()
	if call == nil {
		call = r.session.Begin(r.tool.Name, r.arguments)
	}
	resumed := r.resumed(req.Params)
	if ask := s.wantRoots(ctx, r, req.Params.InputResponses); ask != nil {
		call.Abandon()
		return ask, nil
	}
	if r.progress != nil {
		ctx = tools.WithProgress(ctx, r.progress.report)
	}
	switch {
	case r.canElicit():
		ctx = tools.WithElicit(ctx, r.elicit)
	case r.asksInRounds(ctx):
		call.InRounds(resumed)
	}
	began := time.Now()
	res := call.Run(ctx)
	if res.Pending != nil {
		return r.pending(call, res.Pending), nil
	}
	r.ran = call
	r.listChanged, r.isError = res.ListChanged, res.IsError
	if s.observe != nil {
		s.observe(r.tool.Name, res.IsError, time.Since(began))
	}
	return toResult(res, r.protocol()), nil
}

// wantRoots is the question for its roots to a client of 2026-07-28, before its
// first call; nil once it was answered, or where there is nothing to ask. The
// call itself has not run then, so its retry runs no hook twice.
func (s *Server) wantRoots(ctx context.Context, r *request, answers mcp.InputResponses) *mcp.CallToolResult {
	info := mcpserver.RequestProtocolInfoFromContext(ctx)
	if s.env.Workspace != nil || s.env.OpenRoots == nil || !r.modern || info == nil ||
		info.ClientCapabilities == nil || info.ClientCapabilities.Roots == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.peer.roots) > 0 || r.roots != nil {
		return nil
	}
	if _, answered := answers[rootsInput]; !answered {
		return mcpserver.NewInputRequestBuilder("").Roots(rootsInput).ToolResult()
	}
	r.roots = []string{}
	if list := mcpserver.RootsResponse(answers, rootsInput); list != nil {
		r.roots = uris(list)
		r.peer.roots = r.roots
	}
	return nil
}

func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{textBlock(text)}, IsError: true}
}

func textBlock(text string) mcp.Content {
	return mcp.TextContent{Type: mcp.ContentTypeText, Text: text}
}

// toResult is the answer to a call, in what the client's revision knows. Nothing
// of it is shared with another answer. It has no structuredContent: several
// hosts show the model only that when it is there.
func toResult(res tools.Result, revision string) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: res.IsError}
	if res.Text != "" {
		out.Content = append(out.Content, textBlock(res.Text))
	}
	for _, img := range res.Images {
		out.Content = append(out.Content, mcp.ImageContent{
			Type: mcp.ContentTypeImage, Data: base64.StdEncoding.EncodeToString(img.Data), MIMEType: img.MIMEType,
		})
	}
	for _, block := range res.Raw {
		out.Content = append(out.Content, passedOn(block, revision))
	}
	switch isObject := bytes.HasPrefix(bytes.TrimSpace(res.Data), []byte("{")); {
	case len(res.Data) == 0 || revision < mcp.ProtocolVersion20250618:
	case isObject || mcp.IsModernProtocol(revision):
		out.RawStructuredContent = res.Data
	case len(out.Content) == 0: // before, it had to be an object
		out.Content = append(out.Content, textBlock(string(res.Data)))
	}
	// Older clients refuse a block they do not know; the text names the file too.
	if revision >= mcp.ProtocolVersion20250618 {
		for _, l := range res.Links {
			out.Content = append(out.Content, mcp.ResourceLink{
				Type: mcp.ContentTypeLink, URI: l.URI, Name: l.Name,
				Description: "The whole of a result shown in part", MIMEType: "text/plain", Size: &l.Size,
			})
		}
	}
	if len(out.Content) == 0 {
		out.Content = append(out.Content, textBlock(""))
	}
	if len(res.Meta) > 0 {
		fields := make(map[string]any, len(res.Meta))
		for k, v := range res.Meta {
			fields["mcp-tools/"+k] = v
		}
		out.Meta = &mcp.Meta{AdditionalFields: fields}
	}
	return out
}

// rawBlock is a content block of another server, passed on as it came. The
// embedded type makes it a block in mcp-go's eyes and is never shown.
type rawBlock struct {
	mcp.TextContent
	value any
}

// since are the revisions that brought the types of blocks which the first did not know.
var since = map[string]string{
	mcp.ContentTypeAudio: mcp.ProtocolVersion20250326,
	mcp.ContentTypeLink:  mcp.ProtocolVersion20250618,
}

// passedOn is a block for a client of a revision; one that it does not know becomes
// text, for a client that refuses it would refuse the whole answer.
func passedOn(block any, revision string) mcp.Content {
	var b struct{ Type, URI, Name, MimeType string }
	if raw, ok := block.(json.RawMessage); ok && json.Unmarshal(raw, &b) == nil && revision < since[b.Type] {
		return textBlock(strings.TrimSpace(fmt.Sprintf("[%s %s %s %s]", b.Type, b.Name, b.URI, b.MimeType)))
	}
	return rawBlock{value: block}
}

func (b rawBlock) MarshalJSON() ([]byte, error) { return marshal(b.value) }
