package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// entered is a load that requests of these sizes have entered.
func entered(t *testing.T, l *load, sizes ...int) *load {
	t.Helper()
	for _, size := range sizes {
		require.Nil(t, l.enter(size))
	}
	return l
}

// within3 takes three requests of a hundred bytes in all.
func within3() *load {
	return &load{whose: "this test", most: 3, weight: 100, status: http.StatusTooManyRequests}
}

// gone is the end of a request.
func (l *load) gone(size int) {
	l.free(size)
	l.leave()
}

func TestWhatALoadTakesIsBoundedByCountAndByWeight(t *testing.T) {
	for _, c := range []struct {
		name  string
		there []int
		next  int
		taken bool
	}{
		{"the first", nil, 1, true},
		{"an empty message counts as a request", []int{0, 0, 0}, 0, false},
		{"the last that is allowed", []int{1, 1}, 1, true},
		{"one more than is allowed, however small", []int{1, 1, 1}, 0, false},
		{"exactly the weight", []int{60}, 40, true},
		{"a byte more than the weight", []int{60}, 41, false},
		{"one without weight where all of it is used", []int{100}, 0, true},
		{"a heavy one when nothing else runs", nil, 101, true},
		{"a heavy one when something runs", []int{0}, 101, false},
		{"a light one beside a heavy one", []int{101}, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := entered(t, within3(), c.there...)
			fail := l.enter(c.next)
			if c.taken {
				assert.Nil(t, fail)
				assert.Equal(t, len(c.there)+1, l.count())
				return
			}
			require.NotNil(t, fail)
			assert.Equal(t, len(c.there), l.count(), "what is refused does not count")
			assert.Equal(t, codeBusy, fail.Code)
			assert.Equal(t, http.StatusTooManyRequests, fail.status)
		})
	}
}

func TestAPlaceIsFreeWhenOneHasLeft(t *testing.T) {
	l := entered(t, within3(), 10, 10, 80)
	require.NotNil(t, l.enter(1))
	l.gone(80)
	require.NotNil(t, l.enter(81), "its weight is free, and no more")
	require.Nil(t, l.enter(80))
	for _, size := range []int{10, 10, 80} {
		l.gone(size)
	}
	assert.Zero(t, l.count())
	assert.Zero(t, l.held)
}

func TestTheLimitsOfAllClientsHoldForEachSession(t *testing.T) {
	newAll := func() *load {
		return &load{whose: "all clients", most: 4, weight: 150, status: http.StatusServiceUnavailable}
	}
	for _, c := range []struct {
		name       string
		mine, rest []int // what this session and the others have in flight
		next       int
		status     int
		want       string
	}{
		{"the session has too many", []int{1, 1, 1}, nil, 1, http.StatusTooManyRequests, "Server busy: 3 requests of this test are running; wait for an answer"},
		{"the session holds too much", []int{50, 50}, nil, 1, http.StatusTooManyRequests, "Server busy: the messages in work for this test are too large together; wait for an answer"},
		{"all have too many", []int{1, 1}, []int{1, 1}, 1, http.StatusServiceUnavailable, "Server busy: 4 requests of all clients are running; wait for an answer"},
		{"all hold too much", []int{60}, []int{60}, 40, http.StatusServiceUnavailable, "Server busy: the messages in work for all clients are too large together; wait for an answer"},
		{"the session's own limit is told first", []int{1, 1, 1}, []int{1}, 1, http.StatusTooManyRequests, "Server busy: 3 requests of this test are running; wait for an answer"},
		{"a heavy one passes in its session, but not beside others", nil, []int{0}, 151, http.StatusServiceUnavailable, "Server busy: the messages in work for all clients are too large together; wait for an answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, mine, rest := newAll(), within3(), within3()
			mine.parent, rest.parent = all, all
			entered(t, mine, c.mine...)
			entered(t, rest, c.rest...)
			before, weight := all.count(), all.held

			fail := mine.enter(c.next)
			require.NotNil(t, fail)
			assert.Equal(t, c.want, fail.Message)
			assert.Equal(t, c.status, fail.status)
			assert.Equal(t, []int{len(c.mine), before, weight}, []int{mine.count(), all.count(), all.held}, "nothing is kept of it")

			for _, size := range c.mine {
				mine.gone(size)
			}
			for _, size := range c.rest {
				rest.gone(size)
			}
			assert.Zero(t, all.count(), "all was given back")
			assert.Zero(t, all.held)
			assert.Nil(t, mine.enter(c.next))
		})
	}
}

func TestAClosedLoadRefusesEverything(t *testing.T) {
	for _, c := range []struct {
		name  string
		close func(own, all *load)
	}{
		{"its own", func(own, _ *load) { own.close() }},
		{"that of all clients", func(_, all *load) { all.close() }},
		{"both, and more than once", func(own, all *load) { own.close(); all.close(); all.close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			own, all := within3(), within3()
			own.parent = all
			entered(t, own, 1)
			require.Nil(t, own.refuses())
			c.close(own, all)
			for _, fail := range []*rpcError{own.refuses(), own.enter(1)} {
				require.NotNil(t, fail)
				assert.Equal(t, "The server is shutting down", fail.Message)
				assert.Equal(t, codeBusy, fail.Code)
				assert.Equal(t, http.StatusServiceUnavailable, fail.status)
			}
			assert.Equal(t, 1, own.count(), "what is at work may go on")
			own.gone(1)
			assert.Zero(t, own.count())
			assert.Zero(t, all.count())
		})
	}
}

func TestAFullLoadRefusesNothingForGood(t *testing.T) {
	l := entered(t, within3(), 1, 1, 1)
	assert.Nil(t, l.refuses(), "what needs no place is served")
}

func TestIdleIsWhenAllHaveLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := func(c <-chan struct{}) bool {
			synctest.Wait()
			select {
			case <-c:
				return true
			default:
				return false
			}
		}
		own, all := within3(), within3()
		own.parent = all
		entered(t, own, 1, 2)
		own.run(func() { time.Sleep(time.Minute) })
		own.close()
		all.close()
		ownIdle, allIdle := own.idle(), all.idle()
		own.gone(1)
		assert.False(t, closed(ownIdle), "a request is at work")
		assert.False(t, closed(allIdle), "a request is at work")
		own.free(2)
		assert.Zero(t, own.count()+all.count(), "its place is free")
		assert.Equal(t, time.Now(), own.lastFreed())
		assert.False(t, closed(ownIdle), "but it is not answered yet")
		assert.False(t, closed(allIdle), "but it is not answered yet")
		own.leave()
		assert.False(t, closed(ownIdle), "work of our own goes on")
		assert.True(t, closed(allIdle), "which is none of all clients' requests")
		time.Sleep(time.Minute)
		assert.True(t, closed(ownIdle))
		assert.True(t, closed(own.idle()), "whenever it is asked for")
	})
}

func TestWorkOfOurOwn(t *testing.T) {
	for _, c := range []struct {
		name string
		load func() *load
		runs bool
	}{
		{"runs", within3, true},
		{"runs whatever the limits", func() *load { return entered(t, within3(), 99, 1, 0) }, true},
		{"is not begun when nothing is taken any more", func() *load { l := within3(); l.close(); return l }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, ran := c.load(), false
				running := l.count()
				l.run(func() { ran = true })
				synctest.Wait()
				assert.Equal(t, c.runs, ran)
				assert.Equal(t, running, l.count(), "it is no request")
			})
		})
	}
}

func TestManyEnterAndLeaveAtOnce(t *testing.T) {
	all := &load{whose: "all clients", most: 20, weight: 500, status: http.StatusServiceUnavailable}
	sessions := make([]*load, 8)
	for i := range sessions {
		sessions[i] = within3()
		sessions[i].parent = all
	}
	var wg sync.WaitGroup
	var now, taken, refused, works atomic.Int64
	for i := range 200 {
		wg.Go(func() {
			l, size := sessions[i%len(sessions)], i%60
			for range 50 {
				l.run(func() { works.Add(1) })
				if fail := l.enter(size); fail != nil {
					assert.Equal(t, codeBusy, fail.Code)
					refused.Add(1)
					continue
				}
				assert.LessOrEqual(t, now.Add(1), int64(20), "at once")
				taken.Add(1)
				_ = l.count() + all.count()
				_ = l.refuses()
				now.Add(-1)
				l.gone(size)
			}
		})
	}
	wg.Wait()
	all.close()
	<-all.idle()
	for _, l := range append(sessions, all) {
		l.close()
		<-l.idle()
		assert.Zero(t, l.count())
		assert.Zero(t, l.held)
	}
	assert.Equal(t, int64(200*50), taken.Load()+refused.Load())
	assert.Equal(t, int64(200*50), works.Load())
	assert.Positive(t, taken.Load())
}

// TestClosingAmidRequests: whoever was let in before is waited for, and nobody is
// let in after.
func TestClosingAmidRequests(t *testing.T) {
	all := &load{whose: "all clients", most: 1000, weight: 1 << 20, status: http.StatusServiceUnavailable}
	var wg sync.WaitGroup
	var inside atomic.Int64
	start := make(chan struct{})
	for range 100 {
		own := within3()
		own.parent = all
		wg.Go(func() {
			<-start
			for own.enter(1) == nil {
				inside.Add(1)
				inside.Add(-1)
				own.gone(1)
			}
			fail := own.enter(1)
			if assert.NotNil(t, fail) {
				assert.Equal(t, stopping().Message, fail.Message)
			}
		})
	}
	close(start)
	all.close()
	<-all.idle()
	assert.Zero(t, inside.Load())
	wg.Wait()
	assert.Zero(t, all.count())
}

func TestAPrincipalHasItsShareOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newFixture(), 2)
		refused := func(fail *rpcError) {
			t.Helper()
			require.NotNil(t, fail)
			assert.Equal(t, "Server busy: 2 sessions are open; end one with DELETE, or wait until one was unused for a minute or, if it has read files, 30", fail.Message)
			assert.Equal(t, []int{codeBusy, http.StatusServiceUnavailable}, []int{fail.Code, fail.status})
			assert.Equal(t, 2, len(h.owner("a").live), "it takes no place")
		}
		more := func() *rpcError {
			c := h.candidate("a")
			id, fail := h.open(c)
			if fail != nil {
				assert.Empty(t, id)
				c.close(context.Canceled)
			}
			return fail
		}
		first, firstID := h.begin("a")
		h.begin("a")
		refused(more())
		assert.Same(t, first, h.use(firstID, "a"), "what is open can be used")
		b, _ := h.begin("b")
		assert.NotNil(t, b, "another principal is not affected")

		c, _ := h.find(firstID, "a")
		h.end(c)
		h.release(c)
		_, lastID := h.begin("a") // in place of the one that was ended
		refused(more())

		time.Sleep(emptyAfter)
		h.sweep()
		assert.Zero(t, h.count())
		require.Nil(t, more(), "places are free when unused sessions were put away")
		require.Nil(t, more())
		refused(more())
		found, fail := h.find(lastID, "a")
		assert.Nil(t, found)
		refused(fail) // it takes a place to be opened again
		h.each(func(c *session) { h.end(c) })
		assert.Zero(t, h.count())
		assert.NotNil(t, h.use(lastID, "a"), "which it may as soon as there is one")
	})
}

func TestTheShareOfAPrincipal(t *testing.T) {
	for _, c := range []struct {
		name             string
		principals, want int
	}{
		{"all, where nobody is asked", 0, maxSessions},
		{"all, for the only one", 1, maxSessions},
		{"as much as the others", 3, maxSessions / 3},
		{"one, where there are as many as can be", 1000, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o HTTPOptions
			var lines strings.Builder
			for i := range c.principals {
				for key := range min(2, 1000/c.principals) { // being replaced
					fmt.Fprintf(&lines, "p%d:%d-secret-abcdefghijklmnopqrstuvwxyz-%d\n", i, key, i)
				}
			}
			if c.principals > 0 {
				var err error
				o.Tokens, err = ParseTokens(strings.NewReader(lines.String()))
				require.NoError(t, err)
			}
			assert.Equal(t, c.want, newFixture().server().NewHTTP(o).sessions.most)
		})
	}
}

func TestUnusedSessionsAreLookedForUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newFixture(), 2)
		ctx, stop := context.WithCancel(t.Context())
		go h.sweeping(ctx)
		h.begin("a")
		time.Sleep(emptyAfter - 1)
		require.Equal(t, 1, h.count())
		time.Sleep(sweepEvery)
		assert.Zero(t, h.count())
		h.begin("a")
		stop()
		time.Sleep(time.Hour)
		assert.Equal(t, 1, h.count())
	})
}
