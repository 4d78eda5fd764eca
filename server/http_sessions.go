package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxSessions is how many sessions are held at once, shared equally among the
	// principals: one of them must not be able to shut out the others.
	maxSessions = 1000
	// maxSessionRunning and maxSessionHeld bound the requests of one session that
	// are in flight, and the bytes of their messages.
	maxSessionRunning = 64
	maxSessionHeld    = 32 << 20
	// idleAfter is when an unused session loses its memory. Its id stays good.
	idleAfter = 30 * time.Minute
	// emptyAfter is the same for one that has nothing to forget.
	emptyAfter = time.Minute
	// sweepEvery is how often that is looked for.
	sweepEvery = 20 * time.Second
	// rememberedIDs is how many of the latest ids are known to be ended or not. All
	// before them are taken for ended.
	rememberedIDs = 1 << 20
)

// sessions are the clients of revisions to 2025-11-25 over HTTP. Safe for
// concurrent use.
//
// An id is number ‖ revision ‖ 128 random bits ‖ MAC, in base64url. The MAC is
// made with a key that lives as long as the process, and binds the id to its
// principal. So an id needs no memory: a session that was put away for being
// unused is opened anew, with nothing read, when its client comes back; many
// clients cannot start over when told that their session is gone.
type sessions struct {
	srv  *Server
	base context.Context // of all requests
	load *load           // of all clients
	key  [sha256.Size]byte
	most func(principal string) int

	mu    sync.Mutex
	next  uint64
	live  map[uint64]*session
	held  map[string]int // live sessions by principal
	ended []uint64       // a ring of bits, one for each of the latest ids
}

// session is a client that began with initialize.
type session struct {
	*peer
	number    uint64
	principal string
	uses      int       // guarded by sessions.mu: HTTP requests at work on it
	used      time.Time // guarded by sessions.mu
	feed      feedSlot
}

func newSessions(srv *Server, base context.Context, all *load, most func(principal string) int) *sessions {
	s := &sessions{
		srv: srv, base: base, load: all, most: most,
		live: make(map[uint64]*session), held: make(map[string]int), ended: make([]uint64, rememberedIDs/64),
	}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

// candidate makes a session that is not yet counted, for a client that says
// initialize: it becomes one with open, or is closed.
func (s *sessions) candidate(principal string) *session {
	s.mu.Lock()
	s.next++
	number := s.next
	s.setEnded(number, false)
	s.mu.Unlock()
	return s.make(number, principal)
}

func (s *sessions) make(number uint64, principal string) *session {
	log := s.srv.log.With("session", number)
	if principal != "" {
		log = log.With("principal", principal)
	}
	c := &session{number: number, principal: principal, used: time.Now()}
	c.peer = s.srv.newPeer(s.base, peerOptions{log: log, load: &load{
		whose: "this session", most: maxSessionRunning, weight: maxSessionHeld,
		parent: s.load, status: http.StatusTooManyRequests,
	}})
	c.notify = func(line []byte) { c.feed.send(line) }
	return c
}

// open counts a candidate among the sessions and returns its id. Then release.
func (s *sessions) open(c *session) (id string, fail *rpcError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fail := s.add(c); fail != nil {
		return "", fail
	}
	c.peer.mu.Lock()
	defer c.peer.mu.Unlock()
	return s.seal(c.number, c.version, c.principal), nil
}

// add needs s.mu.
func (s *sessions) add(c *session) *rpcError {
	if most := s.most(c.principal); s.held[c.principal] >= most {
		return &rpcError{
			Code: codeBusy, status: http.StatusServiceUnavailable,
			Message: fmt.Sprintf("Server busy: %d sessions are open; end one with DELETE, or wait until one was unused for a minute or, if it has read files, %d", most, int(idleAfter.Minutes())),
		}
	}
	s.live[c.number] = c
	s.held[c.principal]++
	c.uses++
	return nil
}

// find is the session an id names for principal. Then release. nil, nil: there is
// no such session, or none any more.
func (s *sessions) find(id, principal string) (*session, *rpcError) {
	number, revision, ok := s.unseal(id, principal)
	if !ok {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.live[number]; c != nil {
		c.uses++
		c.used = time.Now()
		return c, nil
	}
	if s.isEnded(number) {
		return nil, nil
	}
	c := s.make(number, principal)
	c.version = revision
	c.greeted.Store(true)
	if fail := s.add(c); fail != nil {
		c.close(context.Canceled)
		return nil, fail
	}
	c.log.Debug("a session was opened again")
	return c, nil
}

// release ends one use of a session.
func (s *sessions) release(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.uses--
	c.used = time.Now()
}

// end ends a session for good.
func (s *sessions) end(c *session) {
	s.mu.Lock()
	s.setEnded(c.number, true)
	s.drop(c)
	s.mu.Unlock()
	c.close(context.Canceled)
	c.feed.close()
	c.log.Debug("a session was ended by its client")
}

// drop needs s.mu.
func (s *sessions) drop(c *session) {
	if s.live[c.number] != c {
		return
	}
	delete(s.live, c.number)
	if s.held[c.principal]--; s.held[c.principal] == 0 {
		delete(s.held, c.principal)
	}
}

// sweep puts away the sessions that were not used for long enough.
func (s *sessions) sweep() {
	now := time.Now()
	var unused []*session
	s.mu.Lock()
	for _, c := range s.live {
		if c.uses > 0 || c.load.count() > 0 {
			continue
		}
		idle := now.Sub(c.used)
		if idle >= idleAfter || idle >= emptyAfter && !c.peer.session.Remembers() {
			s.drop(c)
			unused = append(unused, c)
		}
	}
	s.mu.Unlock()
	for _, c := range unused {
		c.close(context.Canceled)
		c.log.Debug("an unused session was put away")
	}
}

// sweeping sweeps until ctx is done.
func (s *sessions) sweeping(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.sweep()
		case <-ctx.Done():
			return
		}
	}
}

// each calls visit for all sessions there are now.
func (s *sessions) each(visit func(*session)) {
	s.mu.Lock()
	var all []*session
	for _, c := range s.live {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		visit(c)
	}
}

// count is how many sessions are held.
func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live)
}

func (s *sessions) setEnded(number uint64, ended bool) {
	i := number % rememberedIDs
	if ended {
		s.ended[i/64] |= 1 << (i % 64)
		return
	}
	s.ended[i/64] &^= 1 << (i % 64)
}

func (s *sessions) isEnded(number uint64) bool {
	if number > s.next || s.next-number >= rememberedIDs {
		return true
	}
	i := number % rememberedIDs
	return s.ended[i/64]&(1<<(i%64)) != 0
}

const (
	plainSize = 8 + 1 + 16
	macSize   = 16
)

// seal makes the id of a session.
func (s *sessions) seal(number uint64, revision, principal string) string {
	id := binary.BigEndian.AppendUint64(make([]byte, 0, plainSize+macSize), number)
	id = append(id, byte(slices.Index(mcp.ValidProtocolVersions, revision)))
	id = id[:plainSize]
	_, _ = rand.Read(id[9:]) // never fails
	return base64.RawURLEncoding.EncodeToString(append(id, s.mac(id, principal)...))
}

// unseal reads an id that seal made for principal.
func (s *sessions) unseal(id, principal string) (number uint64, revision string, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(id)
	if err != nil || len(raw) != plainSize+macSize || !hmac.Equal(raw[plainSize:], s.mac(raw[:plainSize], principal)) {
		return 0, "", false
	}
	if i := int(raw[8]); i < len(mcp.ValidProtocolVersions) {
		revision = mcp.ValidProtocolVersions[i]
	}
	return binary.BigEndian.Uint64(raw), revision, true
}

func (s *sessions) mac(plain []byte, principal string) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write([]byte(strconv.Itoa(len(principal)) + ":" + principal))
	h.Write(plain)
	return h.Sum(nil)[:macSize]
}
