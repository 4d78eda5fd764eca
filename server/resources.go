package server

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"mcp-tools/tools"
)

// fileTemplate and skillTemplate are the URIs of resources that are not listed one by
// one (RFC 6570).
const (
	fileTemplate  = "file://{+path}"
	skillTemplate = "skill://{name}/{+file}"
)

// listResources puts in place of mcp-go's list the skills and the saved results of the
// client's session.
func (s *Server) listResources(ctx context.Context, _ any, _ *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
	result.NextCursor, result.Resources = "", []mcp.Resource{}
	notKept(ctx, result) // what changes on the disk shows at once
	for _, r := range s.sessionOf(ctx).Resources(ctx) {
		listed := mcp.Resource{URI: r.URI, Name: r.Name, Description: r.Description, MIMEType: r.MIMEType}
		if r.Size > 0 {
			listed.Size = &r.Size
		}
		result.Resources = append(result.Resources, listed)
	}
}

func (s *Server) listTemplates(ctx context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult) {
	result.NextCursor, result.ResourceTemplates = "", []mcp.ResourceTemplate{}
	session := s.sessionOf(ctx)
	if session.Offers("read_file") {
		result.ResourceTemplates = append(result.ResourceTemplates,
			mcp.NewResourceTemplate(fileTemplate, "file", mcp.WithTemplateDescription("A file of the workspace, by its absolute path.")))
	}
	if session.Offers("skill") {
		result.ResourceTemplates = append(result.ResourceTemplates,
			mcp.NewResourceTemplate(skillTemplate, "skill", mcp.WithTemplateDescription("A file of a skill; SKILL.md is the skill itself.")))
	}
}

// notKept tells a client that knows of it that an answer may be another the next time.
func notKept(ctx context.Context, result mcp.CacheHintSetter) {
	if mcpserver.IsModernRequest(ctx) {
		result.SetCacheHints(0, mcp.CacheScopePrivate)
	}
}

// readNow: a file may be another at any moment.
func (s *Server) readNow(ctx context.Context, _ any, _ *mcp.ReadResourceRequest, result *mcp.ReadResourceResult) {
	notKept(ctx, result)
}

// sessionOf is the session of the client that asks.
func (s *Server) sessionOf(ctx context.Context) *tools.Session {
	if r := requestFrom(ctx); r != nil {
		return r.session
	}
	return s.plain
}

// GetSessionResources makes mcp-go find the resource that this request is for, if
// there can be one with its URI; whether there is, its handler finds out.
func (r *request) GetSessionResources() map[string]mcpserver.ServerResource {
	if r.method != string(mcp.MethodResourcesRead) || r.uri == "" {
		return nil
	}
	return map[string]mcpserver.ServerResource{r.uri: {Resource: mcp.Resource{URI: r.uri}, Handler: r.readResource}}
}

// SetSessionResources does nothing: resources are not kept here.
func (r *request) SetSessionResources(map[string]mcpserver.ServerResource) {}

func (r *request) readResource(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	c, err := r.session.ReadResource(ctx, req.Params.URI)
	if err != nil {
		r.own = r.resourceError(req.Params.URI, err)
		return nil, err
	}
	if c.Bytes != nil {
		return []mcp.ResourceContents{mcp.BlobResourceContents{URI: req.Params.URI, MIMEType: c.MIMEType, Blob: base64.StdEncoding.EncodeToString(c.Bytes)}}, nil
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: c.MIMEType, Text: c.Text}}, nil
}

// resourceError tells why a resource cannot be read, with the code of the revision.
func (r *request) resourceError(uri string, err error) *rpcError {
	e := &rpcError{Code: mcp.INTERNAL_ERROR, Message: "The resource cannot be read: " + err.Error(), Data: map[string]string{"uri": uri}}
	if errors.Is(err, tools.ErrNoResource) {
		e.Code, e.Message = mcp.RESOURCE_NOT_FOUND, "There is no such resource, or it may not be read"
		if r.modern {
			e.Code = mcp.INVALID_PARAMS
		}
	}
	return e
}

// completer completes the arguments of prompts and of resource templates.
type completer struct{ srv *Server }

// CompletePromptArgument has nothing to offer: a skill's arguments are free text.
func (c completer) CompletePromptArgument(context.Context, string, mcp.CompleteArgument, mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{}}, nil
}

// CompleteResourceArgument completes paths of files and names of skills.
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	session := c.srv.sessionOf(ctx)
	var out mcp.Completion
	switch {
	case uri == fileTemplate && arg.Name == "path":
		out.Values, out.HasMore = session.CompletePath(ctx, arg.Value)
	case strings.HasPrefix(uri, "skill://") && arg.Name == "name":
		out.Values, out.HasMore = session.CompleteSkill(ctx, arg.Value)
	}
	return &out, nil
}
