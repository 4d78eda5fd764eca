package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/sandbox"
	"mcp-tools/tools"
)

// hall is sessions and a client that uses them.
type hall struct {
	*sessions
	t testing.TB
}

func newHall(t testing.TB, f *fixture, most int) *hall {
	return &hall{newSessions(context.Background(), f.server(), newLoads(1), most), t}
}

// begin is a new session, not in use.
func (h *hall) begin(principal string) (*session, string) {
	h.t.Helper()
	c := h.candidate(principal)
	c.version = "2025-06-18"
	id, fail := h.open(c)
	require.Nil(h.t, fail)
	h.release(c)
	return c, id
}

// use finds a session and is done with it.
func (h *hall) use(id, principal string) *session {
	h.t.Helper()
	c, fail := h.find(id, principal)
	require.Nil(h.t, fail)
	if c != nil {
		h.release(c)
	}
	return c
}

func decoded(id string) []byte {
	raw, _ := base64.RawURLEncoding.DecodeString(id)
	return raw
}

func TestASessionIDIsRandomAndASCII(t *testing.T) {
	h := newHall(t, newFixture(), 1)
	seen := map[string]bool{}
	var ever, always [16]byte // which bits were set
	for i := range always {
		always[i] = 0xff
	}
	for range 1000 {
		id := h.seal(1, "2025-06-18", "a")
		require.Regexp(t, `^[A-Za-z0-9_-]{55}$`, id)
		require.False(t, seen[id])
		seen[id] = true
		raw := decoded(id)
		require.Len(t, raw, 8+1+16+16)
		for i, b := range raw[9:25] {
			ever[i] |= b
			always[i] &= b
		}
	}
	assert.Equal(t, [16]byte{}, always, "no bit of 128 is always set")
	for _, b := range ever {
		assert.Equal(t, byte(0xff), b, "and none is never")
	}
}

func TestAnIDSaysWhichSessionAndRevision(t *testing.T) {
	h := newHall(t, newFixture(), 1)
	for _, revision := range append(mcp.ValidProtocolVersions, "") {
		for _, number := range []uint64{1, 255, 256, rememberedIDs, math.MaxUint64} {
			for _, principal := range []string{"", "a", "a@b.example", strings.Repeat("p", 64)} {
				n, r, ok := h.unseal(h.seal(number, revision, principal), principal)
				assert.Equal(t, []any{number, revision, true}, []any{n, r, ok}, "%s for %q", revision, principal)
			}
		}
	}
}

func TestAnIDIsGoodOnlyAsItWasGiven(t *testing.T) {
	h := newHall(t, newFixture(), 3)
	c, id := h.begin("a")
	for !strings.ContainsAny(id, "-") || !strings.ContainsAny(id, "_") { // as those below want it
		id = h.seal(c.number, c.version, c.principal)
	}
	raw := decoded(id)
	_, other := h.begin("a")
	elsewhere := newHall(t, newFixture(), 1)
	changed := func(change func(b []byte)) string {
		b := append([]byte(nil), raw...)
		change(b)
		return base64.RawURLEncoding.EncodeToString(b)
	}
	bad := map[string]string{
		"none":                            "",
		"as long, but nothing":            strings.Repeat("A", len(id)),
		"of another process":              elsewhere.seal(c.number, c.version, "a"),
		"in the usual alphabet":           strings.NewReplacer("-", "+", "_", "/").Replace(id),
		"with padding":                    id + "=",
		"in hexadecimal":                  fmt.Sprintf("%x", raw),
		"in lower case":                   strings.ToLower(id),
		"with a blank before":             " " + id,
		"with a blank behind":             id + " ",
		"two, as by two headers":          id + ", " + id,
		"another number":                  changed(func(b []byte) { b[7]++ }),
		"another revision":                changed(func(b []byte) { b[8] ^= 1 }),
		"the MAC of another id":           base64.RawURLEncoding.EncodeToString(append(raw[:25:25], decoded(other)[25:]...)),
		"without a MAC":                   base64.RawURLEncoding.EncodeToString(raw[:25]),
		"with a MAC of zeros":             changed(func(b []byte) { clear(b[25:]) }),
		"one that differs in unused bits": id[:54] + string(id[54]+1),
	}
	for bit := range len(raw) * 8 {
		bad[fmt.Sprint("with bit ", bit, " turned over")] = changed(func(b []byte) { b[bit/8] ^= 1 << (bit % 8) })
	}
	for n := range len(id) {
		bad[fmt.Sprint("cut off after ", n)] = id[:n]
		bad[fmt.Sprint("cut off before ", n)] = id[n+1:]
	}
	for _, more := range "Aa0-_=" {
		bad["with more behind: "+string(more)] = id + string(more)
		bad["with more before: "+string(more)] = string(more) + id
	}
	for name, forged := range bad {
		assert.Nil(t, h.use(forged, "a"), "%s: %q", name, forged)
	}
	assert.Equal(t, 2, h.count())
	assert.Same(t, c, h.use(id, "a"), "the id itself is good")
}

// TestAnIDHasNoLineBreaks: encoding/base64 skips them.
func TestAnIDHasNoLineBreaks(t *testing.T) {
	h := newHall(t, newFixture(), 1)
	_, id := h.begin("a")
	for _, broken := range []string{id + "\n", id[:9] + "\r\n" + id[9:], "\r" + id} {
		assert.Nil(t, h.use(broken, "a"), "%q", broken)
	}
}

func TestAnIDIsGoodOnlyForItsPrincipal(t *testing.T) {
	all := []string{"", "a", "A", "a ", "ab", "b", "1:a", "a:1", ":", "0:"}
	h := newHall(t, newFixture(), 1)
	for _, owner := range all {
		c, id := h.begin(owner)
		for _, thief := range all {
			assert.Equal(t, thief == owner, h.use(id, thief) == c, "of %q, for %q", owner, thief)
		}
	}
}

func FuzzUnseal(f *testing.F) {
	h := newHall(f, newFixture(), 1)
	copy(h.key[:], "known, so that the ids below are good whoever fuzzes them")
	good := func(number byte, principal string) string {
		plain := make([]byte, plainSize, plainSize+macSize)
		plain[7], plain[8], plain[20] = number, 2, 7
		return base64.RawURLEncoding.EncodeToString(append(plain, h.mac(plain, principal)...))
	}
	for i, principal := range []string{"", "a", "b"} {
		_, _, ok := h.unseal(good(byte(i), principal), principal)
		require.True(f, ok)
		f.Add(good(byte(i), principal), principal)
		f.Add(good(byte(i), principal), "c")
		f.Add(good(byte(i), principal)+"=", principal)
	}
	f.Add("", "")
	f.Add(strings.Repeat("A", 55), "a")
	f.Fuzz(func(t *testing.T, id, principal string) {
		number, revision, ok := h.unseal(id, principal)
		if !ok {
			require.Zero(t, number)
			require.Empty(t, revision)
			return
		}
		plain := decoded(id)[:plainSize:plainSize]
		require.Equal(t, base64.RawURLEncoding.EncodeToString(append(plain, h.mac(plain, principal)...)), id, "only what seal makes is good")
	})
}

func TestTheLifeOfASession(t *testing.T) {
	h := newHall(t, newFixture(), 2)
	require.NoError(t, h.candidate("a").base.Err())
	assert.Zero(t, h.count(), "a candidate takes no place")
	c, id := h.begin("a")
	assert.Same(t, c, h.use(id, "a"))
	assert.Same(t, c, h.use(id, "a"), "as often as it likes")
	assert.Zero(t, c.uses)

	one, _ := h.find(id, "a")
	two, _ := h.find(id, "a")
	require.Same(t, c, one)
	require.Same(t, c, two)
	assert.Equal(t, 2, c.uses)
	h.end(one)
	h.release(one)
	assert.Error(t, c.base.Err(), "what ran for it is cancelled")
	for range 2 {
		assert.Nil(t, h.use(id, "a"), "it is not found for ever")
		assert.Zero(t, h.count())
		h.sweep()
		h.end(two) // by whom had found it before
	}
	h.release(two)
	assert.Nil(t, h.use(id, "a"), "nor when the last has left it")

}

// reading is a server with a file, and a read of it by a session.
func reading(t *testing.T) (*fixture, func(*session)) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("text\n"), 0o644))
	ws, err := sandbox.Open([]sandbox.RootSpec{{Dir: dir}}, sandbox.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { ws.Close() })
	f := newFixture()
	f.env = &tools.Env{Tools: tools.NewRegistry(tools.Builtin()...), Workspace: ws}
	return f, func(c *session) {
		result := c.peer.session.Call(context.Background(), "read_file", []byte(`{"file_path":"f"}`))
		require.False(t, result.IsError, result.Text)
		require.True(t, c.peer.session.Remembers())
	}
}

func TestAnUnusedSessionIsPutAway(t *testing.T) {
	f, read := reading(t)
	for _, c := range []struct {
		name  string
		reads bool
		after time.Duration
	}{
		{"that has read something, after half an hour", true, idleAfter},
		{"that remembers nothing, after a minute", false, emptyAfter},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHall(t, f, 1)
				own, id := h.begin("a")
				if c.reads {
					read(own)
				}
				for range 3 { // each use begins the time anew
					time.Sleep(c.after - 1)
					h.sweep()
					require.Same(t, own, h.use(id, "a"))
				}
				time.Sleep(c.after)
				h.sweep()
				assert.Zero(t, h.count())
				assert.Error(t, own.base.Err())
				assert.False(t, own.peer.session.Remembers())

				time.Sleep(1000 * time.Hour)
				again := h.use(id, "a")
				require.NotNil(t, again, "its id is good all the same")
				assert.NotSame(t, own, again)
				assert.False(t, again.peer.session.Remembers(), "but nothing is known of what it read")
				assert.Equal(t, "2025-06-18", again.version)
				assert.True(t, again.greeted.Load(), "it need not say initialize")
				assert.NoError(t, again.base.Err())
				assert.Equal(t, []any{own.number, "a", 1}, []any{again.number, again.principal, h.count()})
				assert.Same(t, again, h.use(id, "a"))
				assert.Nil(t, h.use(id, "b"), "and it is still its own")

				h.end(again)
				assert.Nil(t, h.use(id, "a"))
			})
		})
	}
}

// putAway is what sweep does to a session.
func (h *hall) putAway(c *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owner(c.principal).drop(c)
}

func TestAnOldIDIsTakenForEnded(t *testing.T) {
	for _, c := range []struct {
		name       string
		since      uint64 // how many ids were given out
		live, good bool
	}{
		{"not the latest", 0, false, true},
		{"not the oldest that is remembered", rememberedIDs - 1, false, true},
		{"but the one before", rememberedIDs, false, false},
		{"but one long before", 1 << 40, false, false},
		{"not one that is live, whatever its age", 1 << 40, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHall(t, newFixture(), 10)
			own, id := h.begin("a")
			if !c.live {
				h.putAway(own)
			}
			h.owner("a").next += c.since
			h.owner("b").next += 1 << 40 // ids of another make none older
			assert.Equal(t, c.good, h.use(id, "a") != nil)
		})
	}
}

func TestWhetherAnIDIsEndedIsItsOwn(t *testing.T) {
	h := newHall(t, newFixture(), 10)
	old, oldID := h.begin("a")
	h.end(old)
	h.owner("a").next += rememberedIDs - 1
	c, id := h.begin("a")
	require.Equal(t, old.number%rememberedIDs, c.number%rememberedIDs, "they share a bit")
	assert.Nil(t, h.use(oldID, "a"), "what was ended is not revived")
	h.putAway(c)
	assert.NotNil(t, h.use(id, "a"), "and has not ended another")
}

// TestEndingAnOldSessionEndsNoOther: the bit of a session that lived for so long is
// that of another.
func TestEndingAnOldSessionEndsNoOther(t *testing.T) {
	h := newHall(t, newFixture(), 10)
	old, oldID := h.begin("a")
	h.owner("a").next += rememberedIDs - 1
	c, id := h.begin("a")
	h.end(old)
	assert.Nil(t, h.use(oldID, "a"))
	h.putAway(c)
	assert.NotNil(t, h.use(id, "a"))
}

func TestSessionsBeginAndEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newFixture(), 10)
		var all sync.WaitGroup
		work := func(i, step int, id, principal string) {
			time.Sleep(time.Duration((i+step)%3) * emptyAfter) // sometimes it is put away
			h.sweep()
			c, fail := h.find(id, principal)
			if fail != nil || c == nil {
				return // no place to open it again, or the other has ended it
			}
			assert.Equal(t, principal, c.principal)
			h.each(func(c *session) { _ = c.load.count() })
			if (i+step)%2 == 0 {
				h.end(c)
			}
			h.release(c)
		}
		var opened atomic.Int64
		for i := range 200 {
			all.Go(func() {
				principal := fmt.Sprint(i % 7)
				for step := range 10 {
					c := h.candidate(principal)
					id, fail := h.open(c)
					if fail != nil {
						c.close(context.Canceled)
						h.sweep()
						continue
					}
					opened.Add(1)
					h.release(c)
					var pair sync.WaitGroup
					for k := range 3 {
						pair.Go(func() { work(i, step+k, id, principal) })
					}
					pair.Wait()
				}
			})
		}
		all.Wait()
		assert.Greater(t, opened.Load(), int64(70), "many had a place")
		h.each(func(c *session) { assert.Zero(t, c.uses) })
		time.Sleep(emptyAfter)
		h.sweep()
		assert.Zero(t, h.count())
	})
}
