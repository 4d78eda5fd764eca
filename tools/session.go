package tools

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"

	"mcp-tools/sandbox"
)

// Env is what all sessions share; its fields are set once, before serving.
type Env struct {
	// Tools are the tools there are. Required.
	Tools *Registry
	// Workspace confines all paths; nil: each session uses the roots of its client.
	Workspace *sandbox.Workspace
	// OpenRoots opens the roots a client names (file:// URIs). nil: they are not used.
	OpenRoots func(uris []string) (*sandbox.Workspace, error)
	// State keeps large results. Required.
	State *sandbox.State
	// Shell runs commands. Required by run_shell.
	Shell *sandbox.Shell
	// Policy decides what is permitted.
	Policy Policy
	// Before and After are the hooks around each call.
	Before []BeforeHook
	After  []AfterHook
	// Log may be nil.
	Log *slog.Logger
}

// SessionOptions shape one client's session.
type SessionOptions struct {
	// Stateless: nothing is remembered from one call to the next, as for a client
	// of 2026-07-28 over HTTP; files are then edited by version handle.
	Stateless bool
	// Roots asks the client for its workspace roots, as URIs. It is called when a
	// tool first needs them and the server was started without any. nil: the
	// client has none.
	Roots func(context.Context) ([]string, error)
}

// Session is one client's state: versions read, tools activated, gate. Safe for
// concurrent use.
type Session struct {
	env  *Env
	opts SessionOptions
	gate gate
	seen seen

	rootsMu sync.Mutex
	roots   *sandbox.Workspace
	done    chan struct{}
	close   sync.Once
}

// NewSession makes the state of one client. Close it when the client is gone.
func (e *Env) NewSession(o SessionOptions) *Session {
	return &Session{env: e, opts: o, done: make(chan struct{})}
}

// Close ends the session: its files are closed. Calls still running fail.
func (s *Session) Close() {
	s.close.Do(func() {
		close(s.done)
		s.ForgetRoots()
	})
}

// Visible lists the tools this session is shown, ordered by name.
func (s *Session) Visible() []*Tool { return s.env.Policy.offered(s.env.Tools.All()) }

// Call runs one call to its end. It never returns a Go error: a failure is a
// result. See [Session.Begin] for calls whose order matters.
func (s *Session) Call(ctx context.Context, name string, args json.RawMessage) Result {
	return s.Begin(name, args).Run(ctx)
}

var errNoRoots = errors.New("no workspace: start the server with --root DIR, or use a client that names its roots")

// workspace is what paths of this session are confined to.
func (s *Session) workspace(ctx context.Context) (*sandbox.Workspace, error) {
	if s.env.Workspace != nil {
		return s.env.Workspace, nil
	}
	s.rootsMu.Lock()
	defer s.rootsMu.Unlock()
	if s.roots != nil {
		return s.roots, nil
	}
	if s.opts.Roots == nil || s.env.OpenRoots == nil {
		return nil, errNoRoots
	}
	uris, err := s.opts.Roots(ctx)
	if err != nil {
		return nil, err
	}
	if len(uris) == 0 {
		return nil, errNoRoots
	}
	ws, err := s.env.OpenRoots(uris)
	if err != nil {
		return nil, err
	}
	s.roots = ws
	return ws, nil
}

// ForgetRoots makes the next call ask the client for its roots again, as after
// notifications/roots/list_changed.
func (s *Session) ForgetRoots() {
	s.rootsMu.Lock()
	defer s.rootsMu.Unlock()
	s.roots = nil
}
