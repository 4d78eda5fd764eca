package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"mcp-tools/sandbox"
	"mcp-tools/tools/fetch"
)

// Env is what all sessions share; its fields are set once, before serving.
type Env struct {
	// Tools are the tools there are. Required.
	Tools *Registry
	// Workspace confines all paths; nil: each session uses the roots of its client.
	Workspace *sandbox.Workspace
	// OpenRoots opens the roots a client names (file:// URIs). nil: they are not used.
	OpenRoots func(uris []string) (*sandbox.Workspace, error)
	// Library holds the user's skills; nil: there are none.
	Library *sandbox.Library
	// State keeps large results. Required.
	State *sandbox.State
	// Shell runs commands. Required by run_shell.
	Shell *sandbox.Shell
	// Fetch gets pages of the web; nil: there is no web.
	Fetch *fetch.Client
	// Policy decides what is permitted. See [Env.SetRules].
	Policy Policy
	// Before and After are the hooks around each call.
	Before []BeforeHook
	After  []AfterHook
	// Audit is told of each call when it has ended; nil: nobody wants to know. It must be
	// safe for concurrent use.
	Audit func(AuditLine)
	// Owners are the principals for whom something else holds.
	Owners map[string]Owner
	// HideDeferred: deferred tools are listed in a session only once they were
	// activated there. Leave it unset where nothing can activate them.
	HideDeferred bool
	// Log may be nil.
	Log *slog.Logger

	changed    atomic.Pointer[Rules] // in place of Policy, those of Owners, and the hooks
	remembered memory                // by all sessions
	pages      fetch.Cache[*webPage]
	found      indexCache
}

// An Owner is a principal with a workspace or rules of its own.
type Owner struct {
	Workspace *sandbox.Workspace // nil: that of all
	Policy    Policy
}

// Rules are what holds at a time, and can be changed while serving.
type Rules struct {
	Policy Policy            // for all
	Owners map[string]Policy // for principals, in its place
	Before []BeforeHook
	After  []AfterHook
}

// SessionOptions shape one client's session.
type SessionOptions struct {
	// Stateless: nothing is remembered from one call to the next, as for a client
	// of 2026-07-28 over HTTP; files are then edited by version handle.
	Stateless bool
	// Principal is who the client is; "": nobody was asked.
	Principal string
	// Roots asks the client for its workspace roots, as URIs. It is called when a
	// tool first needs them and the server was started without any. nil: the
	// client has none.
	Roots func(context.Context) ([]string, error)
	// Log gets what happens in this session, in place of that of the environment.
	Log *slog.Logger
}

// Session is one client's state: versions read, tools activated, gate. Safe for
// concurrent use.
type Session struct {
	env   *Env
	id    string // for hooks and the audit; no client knows it
	opts  SessionOptions
	log   *slog.Logger // may be nil
	gates gates
	seen  seen
	plan  planState
	said  answers

	active  activated
	saved   savedResults
	changes changes
	roots   clientRoots
	closed  sync.Once
}

// NewSession makes the state of one client. Close it when the client is gone.
func (e *Env) NewSession(o SessionOptions) *Session {
	log := o.Log
	if log == nil {
		log = e.Log
	}
	s := &Session{env: e, id: rand.Text(), opts: o, log: log, roots: clientRoots{asking: make(chan struct{}, 1)}}
	s.seen.shared = &e.remembered
	s.plan.on = s.policy().mode == ModePlan
	return s
}

// SetRules makes other rules hold from now on, for the calls under way that have not
// been judged too.
func (e *Env) SetRules(r Rules) { e.changed.Store(&r) }

func (e *Env) hooks() (before []BeforeHook, after []AfterHook) {
	if now := e.changed.Load(); now != nil {
		return now.Before, now.After
	}
	return e.Before, e.After
}

// policy is what decides for this session.
func (s *Session) policy() Policy {
	e := s.env
	if now := e.changed.Load(); now != nil {
		if p, ok := now.Owners[s.opts.Principal]; ok {
			return p
		}
		return now.Policy
	}
	if o, ok := e.Owners[s.opts.Principal]; ok {
		return o.Policy
	}
	return e.Policy
}

// Close ends the session and forgets what it knew. Calls still running go on to
// their own end.
func (s *Session) Close() {
	s.closed.Do(func() {
		s.ForgetRoots()
		s.seen.close()
	})
}

// Remembers says whether closing the session would lose anything that a new one
// of the same client could not know.
func (s *Session) Remembers() bool {
	return s.seen.any() || s.active.any() || s.said.any() || s.plan.active() || s.plan.chosen() != ""
}

// Call runs one call to its end. It never returns a Go error: a failure is a
// result. See [Session.Begin] for calls whose order matters.
func (s *Session) Call(ctx context.Context, name string, args json.RawMessage) Result {
	return s.Begin(name, args).Run(ctx)
}

var errNoRoots = errors.New("no workspace: start the server with --root DIR, or use a client that names its roots (the disk's root and the home directory are not taken by themselves)")

// workspace is what paths of this session are confined to.
func (s *Session) workspace(ctx context.Context) (*sandbox.Workspace, error) {
	if o := s.env.Owners[s.opts.Principal]; o.Workspace != nil {
		return o.Workspace, nil
	}
	if s.env.Workspace != nil {
		return s.env.Workspace, nil
	}
	if s.opts.Roots == nil || s.env.OpenRoots == nil {
		return nil, errNoRoots
	}
	return s.roots.open(ctx, func() (*sandbox.Workspace, error) {
		uris, err := s.opts.Roots(ctx)
		if err != nil {
			return nil, err
		}
		if len(uris) == 0 {
			return nil, errNoRoots
		}
		return s.env.OpenRoots(uris)
	})
}

// ForgetRoots makes the next call ask the client for its roots again, as after
// notifications/roots/list_changed. It never waits.
func (s *Session) ForgetRoots() { s.roots.forget() }

// clientRoots is the workspace of the roots a client named.
type clientRoots struct {
	asking chan struct{} // holds a value while the client is asked

	mu  sync.Mutex
	ws  *sandbox.Workspace
	age uint64 // how often it was forgotten
}

// open returns the workspace, made by ask when there is none. Only one asks at a time.
func (r *clientRoots) open(ctx context.Context, ask func() (*sandbox.Workspace, error)) (*sandbox.Workspace, error) {
	if ws, _ := r.get(); ws != nil {
		return ws, nil
	}
	select {
	case r.asking <- struct{}{}:
		defer func() { <-r.asking }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ws, age := r.get()
	if ws != nil {
		return ws, nil
	}
	ws, err := ask()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.age == age { // else they changed while we asked: good for this call only
		r.ws = ws
	}
	return ws, nil
}

func (r *clientRoots) get() (*sandbox.Workspace, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ws, r.age
}

// forget drops the workspace. Calls that use it still may: its files are closed
// when nobody refers to it any more.
func (r *clientRoots) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ws = nil
	r.age++
}
