package server

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

// name is what clients see as the server's name.
const name = "mcp-tools"

//go:embed instructions.md
var instructionWords string

// cacheFor is how long a client of 2026-07-28 may take a list for what it is. It
// changes with the configuration alone, so with a restart.
const cacheFor = 5 * time.Minute

// maxInstructions bounds in bytes what a client is told at its start.
const maxInstructions = 2000

// Options of a server; the zero value works.
type Options struct {
	// Version is reported to clients. "": "dev".
	Version string
	// Instructions are sent to clients in place of the built-in words; the roots
	// are named after them either way.
	Instructions string
	// Log gets what a client must not see, such as the stack of a panic. nil: nothing is logged.
	Log *slog.Logger
}

// Server offers the tools of one environment to MCP clients. Its transports may
// run at the same time. Safe for concurrent use.
type Server struct {
	env *tools.Env
	mcp *mcpserver.MCPServer
	log *slog.Logger
	seq atomic.Uint64 // numbers all requests, so that no two are one to mcp-go
	// observe is told of every call; nil: nobody wants to know.
	observe func(tool string, failed bool, took time.Duration)
	// plain is a client that no call has told anything: what it is shown depends
	// on build and configuration alone, as 2026-07-28 wants tools/list to be.
	plain *tools.Session
}

// New makes a server of env, which must be complete. It touches no disk.
func New(env *tools.Env, o Options) *Server {
	s := &Server{env: env, log: o.Log, plain: env.NewSession(tools.SessionOptions{Stateless: true})}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	hooks := &mcpserver.Hooks{}
	hooks.AddAfterListTools(s.list)
	hooks.AddOnError(func(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
		if r := requestFrom(ctx); r != nil {
			r.failure = err
		}
	})
	var roots []sandbox.RootInfo
	if env.Workspace != nil {
		roots = env.Workspace.Roots()
	}
	s.mcp = mcpserver.NewMCPServer(name, cmp.Or(o.Version, "dev"),
		mcpserver.WithHooks(hooks),
		mcpserver.WithToolCapabilities(env.HideDeferred), // else the list never changes
		mcpserver.WithLogging(),
		mcpserver.WithCacheHints(cacheFor.Milliseconds(), mcp.CacheScopePrivate),
		mcpserver.WithInstructions(instructions(cmp.Or(o.Instructions, instructionWords), roots)),
	)
	s.mcp.AddTools(s.registered()...)
	return s
}

// registered is every tool under every name it answers to. Hiding is the list's
// work: what mcp-go does not know by name it refuses to call.
func (s *Server) registered() []mcpserver.ServerTool {
	var entries []mcpserver.ServerTool
	all := s.env.Tools.All()
	for _, t := range all {
		for _, alias := range t.Aliases {
			entries = append(entries, mcpserver.ServerTool{Tool: mcp.Tool{Name: alias, RawInputSchema: t.Schema()}, Handler: s.handler(t)})
		}
	}
	for _, t := range all { // last: a name wins over another tool's alias
		entries = append(entries, mcpserver.ServerTool{Tool: listed(t), Handler: s.handler(t)})
	}
	return entries
}

// list puts in place of mcp-go's list, which holds everything registered and is
// sorted over all names, what the client is shown, in the order of the registry.
func (s *Server) list(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
	session := s.plain
	if r := requestFrom(ctx); r != nil && !mcpserver.IsModernRequest(ctx) {
		session = r.session
	}
	shown := session.Visible()
	result.NextCursor = ""
	result.Tools = make([]mcp.Tool, len(shown))
	for i, t := range shown {
		result.Tools[i] = listed(t)
		if t.Deferred && !s.env.HideDeferred { // a host that can may still leave it out until it is wanted
			result.Tools[i].Meta = &mcp.Meta{AdditionalFields: map[string]any{"defer_loading": true}}
		}
	}
}

// handle lets mcp-go answer one request. Whatever happens inside, there is an
// answer; and the place of a call in its session's queue is given back.
func (s *Server) handle(ctx context.Context, r *request, message []byte) (result any, fail *rpcError) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("panic in a request", "method", r.method, "panic", v, "stack", string(debug.Stack()))
			result, fail = nil, internalError()
		}
		if call := r.take(); call != nil {
			call.Abandon()
		}
	}()
	switch m := s.mcp.HandleMessage(s.mcp.WithContext(ctx, r), message).(type) {
	case mcp.JSONRPCResponse:
		return m.Result, nil
	case mcp.JSONRPCError:
		return nil, r.refusal(m.Error)
	default:
		s.log.Error("no answer to a request", "method", r.method)
		return nil, internalError()
	}
}

// instructions are the words followed by the roots, as many as there is room for.
func instructions(words string, roots []sandbox.RootInfo) string {
	if len(roots) == 0 {
		return words
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(words, "\n"))
	b.WriteString("\n\nRoots:\n")
	for i, r := range roots {
		line := "- " + r.Dir
		if r.ReadOnly {
			line += " (read-only)"
		}
		if b.Len()+len(line) > maxInstructions {
			fmt.Fprintf(&b, "- and %d more\n", len(roots)-i)
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
