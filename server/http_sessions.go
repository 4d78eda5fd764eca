package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
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
	// rememberedIDs is how many of the latest ids of a principal are known to be
	// ended or not. All before them are taken for ended.
	rememberedIDs = 1 << 17
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
	srv   *Server
	base  context.Context // of all requests
	loads *loads
	key   [sha256.Size]byte
	most  int // of one principal

	mu     sync.Mutex
	names  uint64 // for the log, where an id has no place: whoever has it has the session
	owners map[string]*owner
}

// owner is a principal with its sessions. There are never more of them than tokens.
type owner struct {
	next  uint64 // number of the next session
	live  map[uint64]*session
	ended []uint64 // a ring of bits, one for each of the latest numbers
}

// session is a client that began with initialize.
type session struct {
	*peer
	number    uint64 // among those of its principal; 0: it is not counted yet
	principal string
	uses      int       // guarded by sessions.mu: HTTP requests at work on it
	used      time.Time // guarded by sessions.mu
	feed      feedSlot
}

func newSessions(base context.Context, srv *Server, loads *loads, most int) *sessions {
	s := &sessions{srv: srv, base: base, loads: loads, most: most, owners: make(map[string]*owner)}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

// owner needs s.mu.
func (s *sessions) owner(principal string) *owner {
	o := s.owners[principal]
	if o == nil {
		o = &owner{next: 1, live: make(map[uint64]*session), ended: make([]uint64, rememberedIDs/64)}
		s.owners[principal] = o
	}
	return o
}

// candidate makes a session that is not yet counted, for a client that says
// initialize: it becomes one with open, or is closed.
func (s *sessions) candidate(principal string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.make(principal)
}

// make needs s.mu.
func (s *sessions) make(principal string) *session {
	s.names++
	log := s.srv.log.With("session", s.names)
	if principal != "" {
		log = log.With("principal", principal)
	}
	c := &session{principal: principal, used: time.Now()}
	c.peer = s.srv.newPeer(s.base, peerOptions{principal: principal, log: log, load: &load{
		whose: "this session", most: maxSessionRunning, weight: maxSessionHeld,
		parent: s.loads.of(principal, false), status: http.StatusTooManyRequests,
	}})
	c.hearsOf(func(line []byte) { c.feed.send(line) })
	return c
}

// open counts a candidate among the sessions and returns its id. Then release.
func (s *sessions) open(c *session) (id string, fail *rpcError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.owner(c.principal)
	c.number = o.next
	if fail := s.add(o, c); fail != nil {
		return "", fail
	}
	o.next++
	o.setEnded(c.number, false)
	c.peer.mu.Lock()
	defer c.peer.mu.Unlock()
	return s.seal(c.number, c.version, c.principal), nil
}

// add needs s.mu.
func (s *sessions) add(o *owner, c *session) *rpcError {
	if len(o.live) >= s.most {
		s.sweepOwner(o, time.Now())
	}
	if len(o.live) >= s.most {
		return &rpcError{
			Code: codeBusy, status: http.StatusServiceUnavailable, retry: emptyAfter,
			Message: fmt.Sprintf("Server busy: %d sessions are open; end one with DELETE, or wait until one was unused for a minute or, if it has read files, %d", s.most, int(idleAfter.Minutes())),
		}
	}
	o.live[c.number] = c
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
	o := s.owner(principal)
	if c := o.live[number]; c != nil {
		c.uses++
		c.used = time.Now()
		return c, nil
	}
	if o.isEnded(number) {
		return nil, nil
	}
	c := s.make(principal)
	c.number, c.version = number, revision
	c.greeted.Store(true)
	if fail := s.add(o, c); fail != nil {
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
	o := s.owner(c.principal)
	o.setEnded(c.number, true)
	o.drop(c)
	s.mu.Unlock()
	c.close(context.Canceled)
	c.feed.close()
	c.log.Debug("a session was ended by its client")
}

// drop needs sessions.mu.
func (o *owner) drop(c *session) {
	if o.live[c.number] == c {
		delete(o.live, c.number)
	}
}

// sweep puts away the sessions that were not used for long enough.
func (s *sessions) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.owners {
		s.sweepOwner(o, time.Now())
	}
}

// sweepOwner needs s.mu.
func (s *sessions) sweepOwner(o *owner, now time.Time) {
	for _, c := range o.live {
		if c.idle(now) {
			o.drop(c)
			c.close(context.Canceled)
			c.log.Debug("an unused session was put away")
		}
	}
}

// idle: it was not used for so long that it is put away. It needs sessions.mu.
func (c *session) idle(now time.Time) bool {
	if c.uses > 0 || c.load.count() > 0 {
		return false
	}
	used := c.used
	if freed := c.load.lastFreed(); freed.After(used) { // by a call whose client had hung up
		used = freed
	}
	after := emptyAfter
	if c.remembers() {
		after = idleAfter
	}
	return now.Sub(used) >= after
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
	for _, o := range s.owners {
		all = slices.AppendSeq(all, maps.Values(o.live))
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
	n := 0
	for _, o := range s.owners {
		n += len(o.live)
	}
	return n
}

// forgotten: the number is none, or so long past that nothing is known of it.
func (o *owner) forgotten(number uint64) bool {
	return number >= o.next || o.next-number > rememberedIDs
}

func (o *owner) setEnded(number uint64, ended bool) {
	if o.forgotten(number) {
		return
	}
	i := number % rememberedIDs
	if ended {
		o.ended[i/64] |= 1 << (i % 64)
		return
	}
	o.ended[i/64] &^= 1 << (i % 64)
}

func (o *owner) isEnded(number uint64) bool {
	if o.forgotten(number) {
		return true
	}
	i := number % rememberedIDs
	return o.ended[i/64]&(1<<(i%64)) != 0
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
	if len(id) != base64.RawURLEncoding.EncodedLen(plainSize+macSize) { // line breaks would be skipped
		return 0, "", false
	}
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
