package server

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
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

// maxInstructions bounds in bytes what a client is told at its start, and
// maxServerNames what of that is kept for the names of other servers.
const (
	maxInstructions = 2000
	maxServerNames  = 400
)

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
	plain  *tools.Session
	sealer *sealer

	mu    sync.Mutex
	peers map[*peer]bool // that have a list of tools of their own
}

// New makes a server of env, which must be complete. It touches no disk.
func New(env *tools.Env, o Options) *Server {
	s := &Server{env: env, log: o.Log, sealer: newSealer(), peers: make(map[*peer]bool), plain: env.NewSession(tools.SessionOptions{Stateless: true})}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	hooks := &mcpserver.Hooks{}
	hooks.AddAfterListTools(s.list)
	hooks.AddAfterListPrompts(s.listPrompts)
	hooks.AddAfterListResources(s.listResources)
	hooks.AddAfterReadResource(s.readNow)
	hooks.AddAfterListResourceTemplates(s.listTemplates)
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
		mcpserver.WithToolCapabilities(env.HideDeferred || env.Tools.Upstreams() != nil), // else the list never changes
		mcpserver.WithPromptCapabilities(false),
		mcpserver.WithResourceCapabilities(false, false),
		mcpserver.WithCompletions(),
		mcpserver.WithPromptCompletionProvider(completer{s}),
		mcpserver.WithResourceCompletionProvider(completer{s}),
		mcpserver.WithLogging(),
		mcpserver.WithCacheHints(cacheFor.Milliseconds(), mcp.CacheScopePrivate),
		mcpserver.WithInstructions(instructions(cmp.Or(o.Instructions, instructionWords), roots, upstreamNames(env))),
	)
	// One entry stands for all tools: which there are may change at any time, and
	// mcp-go would tell that to every client, those with a constant list included.
	s.mcp.AddTools(mcpserver.ServerTool{Tool: mcp.Tool{Name: anyTool, RawInputSchema: []byte(`{"type":"object"}`)}, Handler: s.call})
	s.mcp.AddPrompt(mcp.Prompt{Name: anyTool}, s.getPrompt)
	env.Tools.Watch(s.toolsChanged)
	return s
}

// anyTool is the name under which mcp-go knows all tools. No client can call it.
const anyTool = "\x00"

// registeredName is the name of the tool as mcp-go knows it: one that does not exist
// it is to refuse.
func (r *request) registeredName() string {
	switch {
	case r.tool != nil:
		return anyTool
	case r.toolName == anyTool:
		return "?"
	}
	return r.toolName
}

// list puts in place of mcp-go's list, which holds everything registered and is
// sorted over all names, what the client is shown, in the order of the registry.
func (s *Server) list(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
	session := s.plain
	r := requestFrom(ctx)
	own := r != nil && !mcpserver.IsModernRequest(ctx)
	if own {
		session = r.session
	}
	if s.listWaits() {
		u := s.env.Tools.Upstreams()
		u.Starts()
		u.Settled(ctx.Done())
		notKept(ctx, result) // other servers' lists change by themselves
	}
	shown := session.Visible()
	if own {
		r.peer.mu.Lock()
		r.peer.shown = shown
		r.peer.mu.Unlock()
		defer r.peer.toolsChanged() // it may have changed in this moment
	}
	result.NextCursor = ""
	result.Tools = make([]mcp.Tool, len(shown))
	for i, t := range shown {
		result.Tools[i] = listed(t)
		if t.Deferred && !s.env.HideDeferred { // a host that can may still leave it out until it is wanted
			result.Tools[i].Meta = &mcp.Meta{AdditionalFields: map[string]any{"defer_loading": true}}
		}
	}
}

// listWaits tells whether the list holds tools of other servers, which may have to
// be asked first.
func (s *Server) listWaits() bool {
	u := s.env.Tools.Upstreams()
	return u != nil && (u.Listed() || !s.env.HideDeferred)
}

func (s *Server) watch(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[p] = true
}

func (s *Server) unwatch(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p)
}

// toolsChanged tells those clients whose list is another now.
func (s *Server) toolsChanged() {
	s.mu.Lock()
	peers := slices.Collect(maps.Keys(s.peers))
	s.mu.Unlock()
	for _, p := range peers {
		p.toolsChanged()
	}
}

// toolsChanged tells the client once that the list it knows is not the list any
// more. One of 2026-07-28 has no list of its own.
func (p *peer) toolsChanged() {
	p.mu.Lock()
	known, notify := p.shown, p.notify
	p.mu.Unlock()
	if known == nil || notify == nil || slices.Equal(known, p.session.Visible()) {
		return
	}
	p.mu.Lock()
	p.shown = nil // it will ask
	p.mu.Unlock()
	notify(listChangedLine)
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

// upstreamNames are the other servers whose tools there are.
func upstreamNames(env *tools.Env) []string {
	if u := env.Tools.Upstreams(); u != nil {
		return u.Names()
	}
	return nil
}

// instructions are the words followed by the roots and the other servers, as many as
// there is room for.
func instructions(words string, roots []sandbox.RootInfo, servers []string) string {
	var dirs []string
	for _, r := range roots {
		line := r.Dir
		if r.ReadOnly {
			line += " (read-only)"
		}
		dirs = append(dirs, line)
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(words, "\n") + "\n")
	room := maxInstructions
	if len(servers) > 0 {
		room -= min(maxServerNames, len(strings.Join(servers, "- \n")))
	}
	writeList(&b, "Roots", dirs, room)
	writeList(&b, "Other servers, whose tools tool_search finds (mcp__server__tool)", servers, maxInstructions)
	return b.String()
}

// writeList adds a titled list, cut where b would be longer than room.
func writeList(b *strings.Builder, title string, lines []string, room int) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n" + title + ":\n")
	for i, line := range lines {
		if b.Len()+len(line)+len("- \n- and 999 more\n") > room {
			fmt.Fprintf(b, "- and %d more\n", len(lines)-i)
			return
		}
		b.WriteString("- " + line + "\n")
	}
}
