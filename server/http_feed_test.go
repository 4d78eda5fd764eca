package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// over says whether nothing more comes on a feed.
func (f *feed) over() bool {
	select {
	case <-f.ended:
		return true
	default:
		return false
	}
}

// waiting are the lines that nobody has read yet.
func (f *feed) waiting() string {
	var all strings.Builder
	for len(f.lines) > 0 {
		all.Write(<-f.lines)
	}
	return all.String()
}

func TestLinesGoToTheStreamThereIs(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps func(s *feedSlot) *feed
		over  bool
		want  string // what waits on the stream that was returned
	}{
		{"in their order", func(s *feedSlot) *feed { f := s.open(); s.send([]byte("a")); s.send([]byte("b")); return f }, false, "ab"},
		{"without one they are dropped", func(s *feedSlot) *feed { s.send([]byte("a")); return s.open() }, false, ""},
		{"a second one replaces the first", func(s *feedSlot) *feed { f := s.open(); s.open(); s.send([]byte("a")); return f }, true, ""},
		{"and gets what is sent from then on", func(s *feedSlot) *feed { s.open(); s.send([]byte("a")); f := s.open(); s.send([]byte("b")); return f }, false, "b"},
		{"closed, it gets no more", func(s *feedSlot) *feed { f := s.open(); s.send([]byte("a")); s.close(); s.send([]byte("b")); return f }, true, "a"},
		{"closing when there is none any more does nothing", func(s *feedSlot) *feed { f := s.open(); s.leave(f); s.close(); return f }, true, ""},
		{"closing twice does nothing more", func(s *feedSlot) *feed { f := s.open(); s.close(); s.close(); return f }, true, ""},
		{"left, it gets no more", func(s *feedSlot) *feed { f := s.open(); s.leave(f); s.send([]byte("b")); return f }, true, ""},
		{"leaving twice does nothing more", func(s *feedSlot) *feed { f := s.open(); s.leave(f); s.leave(f); return f }, true, ""},
		{"leaving one that was replaced does not end the new one", func(s *feedSlot) *feed { old := s.open(); f := s.open(); s.leave(old); s.send([]byte("a")); return f }, false, "a"},
		{"nor does leaving one again", func(s *feedSlot) *feed {
			old := s.open()
			s.leave(old)
			f := s.open()
			s.leave(old)
			s.send([]byte("a"))
			return f
		}, false, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := c.steps(new(feedSlot))
			assert.Equal(t, c.over, f.over())
			assert.Equal(t, c.want, f.waiting())
		})
	}
}

func TestAClientThatDoesNotReadLosesItsStreamAndHoldsUpNobody(t *testing.T) {
	var s feedSlot
	f := s.open()
	for i := range maxFeed {
		s.send([]byte{byte(i)})
		require.False(t, f.over(), "%d lines may wait", i+1)
	}
	s.send([]byte("x")) // would it wait, the test would not end
	assert.True(t, f.over())
	assert.Len(t, f.waiting(), maxFeed, "the line too many is dropped, as those before it are not")

	s.send([]byte("y"))
	again := s.open()
	s.send([]byte("z"))
	assert.False(t, again.over(), "its client may ask anew")
	assert.Equal(t, "z", again.waiting())
}

func TestAClientThatReadsKeepsItsStream(t *testing.T) {
	var s feedSlot
	f := s.open()
	for range 10 * maxFeed {
		s.send([]byte("x"))
		require.Equal(t, "x", f.waiting())
	}
	assert.False(t, f.over())
}

func TestStreamsAreOpenedClosedAndSentToAtOnce(t *testing.T) {
	var s feedSlot
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			for range 100 {
				switch i % 4 {
				case 0:
					f := s.open()
					select {
					case <-f.lines:
					case <-f.ended:
					}
					s.leave(f)
				case 1:
					s.close()
				default:
					s.send([]byte("x"))
				}
			}
		})
	}
	released := make(chan struct{})
	go func() { all.Wait(); close(released) }()
	for {
		select {
		case <-released:
			assert.Nil(t, s.now)
			return
		default:
			s.close() // lets go whoever waits
		}
	}
}

// stream is a client that has asked for the stream of its session, inside a
// synctest bubble.
type stream struct {
	*httptest.ResponseRecorder
	hangUp context.CancelFunc
	ended  chan struct{}
	mu     sync.Mutex // of the body
}

func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ResponseRecorder.Write(b)
}

func getStream(h *HTTP, id string) *stream {
	ctx, hangUp := context.WithCancel(context.Background())
	s := &stream{ResponseRecorder: httptest.NewRecorder(), hangUp: hangUp, ended: make(chan struct{})}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/mcp", nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set(headerSession, id)
	go func() { defer close(s.ended); h.ServeHTTP(s, r) }()
	synctest.Wait()
	return s
}

func (s *stream) over() bool {
	synctest.Wait()
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// news is what came since it was last asked for.
func (s *stream) news() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.Body.String()
	s.Body.Reset()
	return text
}

// fed runs play in a bubble with a session and its stream.
func fed(t *testing.T, play func(t *testing.T, h *HTTP, c *session, id string, s *stream)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture().server().NewHTTP(HTTPOptions{})
		defer h.cancel(context.Canceled)
		c := h.sessions.candidate("")
		id, fail := h.sessions.open(c)
		require.Nil(t, fail)
		h.sessions.release(c)
		s := getStream(h, id)
		defer s.hangUp()
		require.Equal(t, http.StatusOK, s.Code)
		play(t, h, c, id, s)
	})
}

func TestAStreamThatHasNothingToSaySaysThatItIsAlive(t *testing.T) {
	fed(t, func(t *testing.T, _ *HTTP, c *session, _ string, s *stream) {
		assert.Equal(t, "text/event-stream", s.Header().Get("Content-Type"))
		assert.Equal(t, ":\n\n", s.news(), "at once")
		time.Sleep(keepAlive - 1)
		assert.Empty(t, s.news())
		time.Sleep(1)
		assert.Equal(t, ":\n\n", s.news())
		c.notify([]byte("{}\n"))
		assert.Equal(t, "event: message\ndata: {}\n\n", s.news(), "and what it has to say is not held back")
		time.Sleep(time.Hour)
		assert.Equal(t, int(time.Hour/keepAlive), strings.Count(s.news(), ":\n\n"))
		assert.False(t, s.over())
	})
}

func TestAStreamEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(h *HTTP, c *session, id string, s *stream)
	}{
		{"when its client hangs up", func(_ *HTTP, _ *session, _ string, s *stream) { s.hangUp() }},
		{"when its session is ended", func(h *HTTP, c *session, _ string, _ *stream) { h.sessions.end(c) }},
		{"when its client opens another", func(h *HTTP, _ *session, id string, _ *stream) { getStream(h, id).hangUp() }},
		{"when the server is told to stop", func(h *HTTP, _ *session, _ string, _ *stream) { h.endStreams() }},
		{"when the server must stop", func(h *HTTP, _ *session, _ string, _ *stream) { h.cancel(context.Canceled) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			fed(t, func(t *testing.T, h *HTTP, own *session, id string, s *stream) {
				require.False(t, s.over())
				require.Equal(t, 1, own.uses, "the session is in use")
				c.end(h, own, id, s)
				assert.True(t, s.over())
				assert.Zero(t, own.uses)
				assert.Nil(t, own.feed.now)
			})
		})
	}
}

func TestAStreamKeepsItsSession(t *testing.T) {
	fed(t, func(t *testing.T, h *HTTP, c *session, _ string, s *stream) {
		time.Sleep(10 * idleAfter)
		h.sessions.sweep()
		assert.Equal(t, 1, h.sessions.count())
		s.hangUp()
		require.True(t, s.over())
		h.sessions.sweep()
		assert.Equal(t, 1, h.sessions.count(), "its idle time begins then")
		time.Sleep(emptyAfter)
		h.sessions.sweep()
		assert.Zero(t, h.sessions.count())
	})
}

// holding has a request in flight that ends when the gate of the fixture opens.
func holding(c *session) {
	c.message([]byte(call("1", "hold", `{"text":"gate"}`)), origin{send: func([]byte) bool { return false }, reply: func(response) bool { return true }})
}

func TestASessionInUseIsNeverPutAway(t *testing.T) {
	for _, c := range []struct {
		name  string
		begin func(h *hall, own *session, id string)
		end   func(f *fixture, h *hall, own *session)
	}{
		{"by an HTTP request",
			func(h *hall, _ *session, id string) { _, _ = h.find(id, "a") },
			func(_ *fixture, h *hall, own *session) { h.release(own) }},
		{"by one of two",
			func(h *hall, own *session, id string) { _, _ = h.find(id, "a"); _, _ = h.find(id, "a"); h.release(own) },
			func(_ *fixture, h *hall, own *session) { h.release(own) }},
		{"by a request that goes on when its HTTP request was cut off",
			func(_ *hall, own *session, _ string) { holding(own) },
			func(f *fixture, _ *hall, _ *session) { close(f.gate("gate")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				h := newHall(t, f, 1)
				own, id := h.begin("a")
				c.begin(h, own, id)
				time.Sleep(100 * idleAfter)
				h.sweep()
				require.Equal(t, 1, h.count())
				require.NoError(t, own.base.Err())
				c.end(f, h, own)
				synctest.Wait()
				time.Sleep(idleAfter)
				h.sweep()
				assert.Zero(t, h.count(), "but then it is")
			})
		})
	}
}

// TestIdleTimeBeginsWhenTheLastRequestHasEnded: its client is about to come back
// for the answer that it missed.
func TestIdleTimeBeginsWhenTheLastRequestHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := newHall(t, f, 1)
		own, _ := h.begin("a")
		holding(own)
		time.Sleep(idleAfter)
		h.sweep()
		close(f.gate("gate"))
		synctest.Wait()
		require.Zero(t, own.load.count())
		time.Sleep(sweepEvery)
		h.sweep()
		assert.Equal(t, 1, h.count())
	})
}

// TestASessionThatHasEndedHasNoStream: a GET finds the session, and before it has
// opened its stream the session is ended.
func TestASessionThatHasEndedHasNoStream(t *testing.T) {
	fed(t, func(t *testing.T, h *HTTP, c *session, id string, s *stream) {
		found, fail := h.sessions.find(id, "")
		require.Nil(t, fail)
		require.Same(t, c, found)
		defer h.sessions.release(found)
		h.sessions.end(c)
		assert.True(t, found.feed.open().over(), "nobody would ever end it")
	})
}

// TestNoStreamBeginsWhileStopping: it would hold up the end until all other
// patience has run out.
func TestNoStreamBeginsWhileStopping(t *testing.T) {
	fed(t, func(t *testing.T, h *HTTP, c *session, id string, s *stream) {
		h.loads.calls.close()
		h.endStreams()
		require.True(t, s.over())
		late := getStream(h, id)
		defer late.hangUp()
		assert.True(t, late.over())
	})
}

func TestEachSessionHasAStreamOfItsOwn(t *testing.T) {
	fed(t, func(t *testing.T, h *HTTP, c *session, _ string, s *stream) {
		other := h.sessions.candidate("")
		id, fail := h.sessions.open(other)
		require.Nil(t, fail)
		theirs := getStream(h, id)
		defer theirs.hangUp()
		for i, one := range []*session{c, other} {
			one.notify(fmt.Appendf(nil, "%d\n", i))
		}
		assert.Equal(t, ":\n\nevent: message\ndata: 0\n\n", s.news())
		assert.Equal(t, ":\n\nevent: message\ndata: 1\n\n", theirs.news())
	})
}
