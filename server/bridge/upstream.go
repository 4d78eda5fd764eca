package bridge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"mcp-tools/tools"
)

const (
	// startWait is how long a server may take to start and tell its tools: some are
	// fetched from the net first.
	startWait = 90 * time.Second
	// listEvery is the least time between two looks at a list that changes.
	listEvery = time.Second
	// steady is how long a server must have lived for its end not to count as one of
	// several in a row, and maxBackoff the longest time until it is tried again.
	steady     = time.Minute
	maxBackoff = time.Minute
	// patience is how long a call waits for the time at which a server is tried again.
	patience = 2 * time.Second
)

// upstream is one server: started when needed, and again when it has ended. Safe for
// concurrent use.
type upstream struct {
	b *Bridge
	e Entry

	mu       sync.Mutex
	trying   *attempt // the last one; nil: none yet
	failures int      // in a row
	retryAt  time.Time
	why      error // of the last failure
	known    bool  // tools are what it told, now or earlier
	oldWay   bool  // it is greeted with initialize at once
	fresh    bool  // they are of this process's own asking
	tools    []*tools.Tool
	byName   map[string]*definition // by our names
	memo     []byte                 // as last kept
	listing  bool                   // a look at the list is under way, or waits for its time
	again    bool                   // and another is wanted
}

// attempt is one try to start the server.
type attempt struct {
	done chan struct{}
	conn *connection // nil with err
	err  error
	born time.Time
}

// begin starts the server unless it runs, is being started, or must wait. It returns
// what is waited for, or how long none may be started.
func (u *upstream) begin() (a *attempt, wait time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if a := u.trying; a != nil {
		select {
		case <-a.done:
			if a.err == nil && a.conn.alive() {
				return a, 0
			}
		default:
			return a, 0
		}
	}
	if wait := time.Until(u.retryAt); wait > 0 {
		return nil, wait
	}
	u.trying = &attempt{done: make(chan struct{}), born: time.Now()}
	go u.try(u.trying)
	return u.trying, 0
}

func (u *upstream) try(a *attempt) {
	defer close(a.done)
	u.b.starts <- struct{}{}
	release := sync.OnceFunc(func() { <-u.b.starts })
	defer release()
	defer time.AfterFunc(startShare, release).Stop() // one that hangs must not hold up others
	ctx, cancel := context.WithTimeout(u.b.ctx, startWait)
	defer cancel()
	u.mu.Lock()
	oldWay := u.oldWay
	u.mu.Unlock()
	c, err := connect(ctx, &u.e, &u.b.settings, oldWay, u.relist)
	if err != nil && !oldWay && u.e.URL == "" && c.died() { // some end at a request before initialize
		if c, err = connect(ctx, &u.e, &u.b.settings, true, u.relist); err == nil {
			u.mu.Lock()
			u.oldWay = true
			u.mu.Unlock()
		}
	}
	if err == nil {
		if err = u.learn(ctx, c); err != nil {
			c.close()
		}
	}
	if err != nil {
		a.err = err
		u.failed(err, time.Second)
		return
	}
	a.conn = c
	go u.watch(a)
}

// watch waits for the end of a connection.
func (u *upstream) watch(a *attempt) {
	<-a.conn.lost()
	why := a.conn.explain(transport.ErrTransportClosed)
	a.conn.close()
	if u.b.ctx.Err() != nil {
		return
	}
	u.b.log.Warn("a server has ended", "server", u.e.Name, "why", why)
	if time.Since(a.born) > steady {
		u.mu.Lock()
		u.failures = 0
		u.mu.Unlock()
	}
	u.failed(why, 0)
}

// failed makes the next try wait: first, and then twice as long each time.
func (u *upstream) failed(why error, first time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	wait := first
	if u.failures > 0 {
		wait = min(time.Second<<min(u.failures-1, 10), maxBackoff)
	}
	u.failures++
	u.why, u.retryAt = why, time.Now().Add(wait)
	u.b.log.Debug("a server failed", "server", u.e.Name, "why", why, "next", wait)
}

// connection is the server, started if need be.
func (u *upstream) connection(ctx context.Context) (*connection, error) {
	if u.e.Broken != "" {
		return nil, errors.New(u.e.Broken)
	}
	for {
		a, wait := u.begin()
		if a == nil {
			if wait > patience {
				u.mu.Lock()
				defer u.mu.Unlock()
				return nil, fmt.Errorf("%w. It is tried again in %d s", u.why, int(wait.Seconds())+1)
			}
			if err := sleep(ctx, wait); err != nil {
				return nil, err
			}
			continue
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		return a.conn, a.err
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// learn asks a connection for the server's tools and registers them.
func (u *upstream) learn(ctx context.Context, c *connection) error {
	list, err := c.list(ctx)
	if err != nil {
		return c.explain(err)
	}
	u.take(list, true)
	u.keep(list)
	u.b.register()
	return nil
}

// take makes tools of the definitions. fresh: the server has just told them.
func (u *upstream) take(list []definition, fresh bool) {
	byName := make(map[string]*definition, len(list))
	var made []*tools.Tool
	for i := range list {
		d := &list[i]
		if !u.e.offers(d.Name) {
			continue
		}
		if old := u.unchanged(d); old != nil {
			byName[old.Name] = d
			made = append(made, old)
			continue
		}
		t := d.tool(&u.e, func(ctx context.Context, s *tools.Session, args json.RawMessage) (tools.Output, error) {
			return u.call(ctx, s, d, args)
		})
		if byName[t.Name] != nil { // the first keeps the name
			continue
		}
		byName[t.Name] = d
		made = append(made, t)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.fresh && !fresh {
		return
	}
	u.tools, u.byName, u.known, u.fresh = made, byName, true, u.fresh || fresh
}

// unchanged is the tool that was already made of the same definition.
func (u *upstream) unchanged(d *definition) *tools.Tool {
	u.mu.Lock()
	defer u.mu.Unlock()
	name, _ := toolName(u.e.Key, d.Name)
	if old := u.byName[name]; old == nil || !reflect.DeepEqual(old, d) {
		return nil
	}
	for _, t := range u.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// relist looks at the list again, soon. It does not wait.
func (u *upstream) relist() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.listing {
		u.again = true
		return
	}
	u.listing = true
	go u.look()
}

func (u *upstream) look() {
	for {
		if sleep(u.b.ctx, listEvery) != nil {
			return
		}
		u.mu.Lock()
		u.again = false
		a := u.trying
		u.mu.Unlock()
		if a != nil {
			<-a.done
			if a.err == nil {
				ctx, cancel := context.WithTimeout(u.b.ctx, startWait)
				if err := u.learn(ctx, a.conn); err != nil {
					u.b.log.Warn("a server's changed list of tools could not be read", "server", u.e.Name, "why", err)
				}
				cancel()
			}
		}
		u.mu.Lock()
		if !u.again {
			u.listing = false
			u.mu.Unlock()
			return
		}
		u.mu.Unlock()
	}
}

// call runs a tool. Errors are sentences for a model.
func (u *upstream) call(ctx context.Context, s *tools.Session, d *definition, args json.RawMessage) (tools.Output, error) {
	late := fmt.Errorf("did not answer within %v, and the call was cancelled; what it did until then is not known", u.e.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, u.e.Timeout, late)
	defer cancel()
	res, err := u.send(ctx, s, d, args)
	switch {
	case err != nil && context.Cause(ctx) == late:
		return tools.Output{}, u.sentence(late)
	case err != nil && ctx.Err() != nil:
		return tools.Output{}, ctx.Err()
	case err != nil:
		return tools.Output{}, u.sentence(err)
	}
	out, err := res.output()
	switch {
	case err != nil:
		return tools.Output{}, u.sentence(fmt.Errorf("failed in this call: %w", err))
	case res.IsError:
		return tools.Output{}, tools.Fail(out)
	}
	return out, nil
}

// send passes a call on. It is sent again only where the server has certainly not
// seen it.
func (u *upstream) send(ctx context.Context, s *tools.Session, d *definition, args json.RawMessage) (*result, error) {
	for again := false; ; again = true {
		c, err := u.connection(ctx)
		if err != nil {
			return nil, fmt.Errorf("cannot be used: %w", err)
		}
		res, err := c.call(ctx, s, d, args)
		var no *refusal
		switch {
		case err == nil:
			return res, nil
		case ctx.Err() != nil:
			return nil, err
		case errors.Is(err, transport.ErrSessionTerminated), c.forgotten(err):
			c.close() // it has forgotten us, and not looked at the call
			if !again {
				continue
			}
		case errors.As(err, &no):
			return nil, fmt.Errorf("refused the call: %w", err)
		}
		return nil, fmt.Errorf("failed in this call: %w. What it did until then is not known; the next call starts it again if it has ended", err)
	}
}

// sentence names the server in an error.
func (u *upstream) sentence(err error) error {
	return fmt.Errorf("the server %s %w", u.e.Name, err)
}

// state says why the server's tools are not there, "" when they are.
func (u *upstream) state() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.known:
		return ""
	case u.e.Broken != "":
		return fmt.Sprintf("the server %s cannot be used: %s", u.e.Name, u.e.Broken)
	case u.why != nil:
		return fmt.Sprintf("the server %s cannot be used: %v", u.e.Name, u.why)
	}
	return fmt.Sprintf("the server %s has not told its tools yet; search again in a moment", u.e.Name)
}

// memoName is where the server's tools are kept from one process to the next. What
// would make it another server makes another name.
func (u *upstream) memoName() string {
	b, _ := json.Marshal([]any{u.e.Command, u.e.Args, u.e.Env, u.e.Dir, u.e.URL, u.e.Headers})
	sum := sha256.Sum256(b)
	return "server-" + hex.EncodeToString(sum[:16])
}

// memo is what is kept.
type memo struct {
	Tools []definition `json:"tools"`
}

// plainJSON is v in JSON, without the escapes that only HTML needs: a schema is to come
// back as it was.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// recall takes what an earlier process has kept.
func (u *upstream) recall() {
	data, err := u.b.state.Memo(u.memoName())
	var m memo
	if err != nil || json.Unmarshal(data, &m) != nil {
		return
	}
	m.Tools = slices.DeleteFunc(m.Tools, func(d definition) bool { return d.Name == "" })
	u.mu.Lock()
	u.memo = data
	u.mu.Unlock()
	u.take(m.Tools, false)
}

// keep keeps the list for later processes. That it could not is no harm.
func (u *upstream) keep(list []definition) {
	data, err := plainJSON(memo{list})
	u.mu.Lock()
	same := bytes.Equal(data, u.memo)
	u.memo = data
	u.mu.Unlock()
	if err != nil || same {
		return
	}
	if err := u.b.state.SetMemo(u.memoName(), data); err != nil {
		u.b.log.Debug("a server's tools could not be kept for later", "server", u.e.Name, "why", err)
	}
}
