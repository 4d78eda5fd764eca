package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chunks counts writes.
type chunks struct {
	mu   sync.Mutex
	each []string
}

func (c *chunks) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each = append(c.each, string(p))
	return len(p), nil
}

// serve runs input to its end and returns what was written.
func serve(t *testing.T, f *fixture, input io.Reader) []string {
	t.Helper()
	var out chunks
	require.NoError(t, f.server().ServeStdio(t.Context(), input, &out))
	return out.each
}

func TestEachLineIsOneWrite(t *testing.T) {
	var in strings.Builder
	for i := range 40 {
		in.WriteString(call(fmt.Sprint(i), "echo", `{"text":"line\none"}`))
	}
	lines := serve(t, newFixture(), strings.NewReader(in.String()))
	require.Len(t, lines, 40)
	for _, line := range lines {
		assert.Equal(t, 1, strings.Count(line, "\n"))
		assert.True(t, strings.HasSuffix(line, "\n"))
		assert.True(t, json.Valid([]byte(line)))
	}
}

// many is n times the same byte, without holding them.
type many struct {
	n int
	b byte
}

func (m *many) Read(p []byte) (int, error) {
	if m.n == 0 {
		return 0, io.EOF
	}
	k := min(m.n, len(p))
	for i := range p[:k] {
		p[i] = m.b
	}
	m.n -= k
	return k, nil
}

func TestOverlongLineIsAParseErrorAndTheNextIsRead(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := io.MultiReader(&many{200 << 20, 'x'}, strings.NewReader("\n"+call("1", "echo", `{"text":"next"}`)), &many{9 << 20, 'x'})
	lines := serve(t, newFixture(), in)
	runtime.ReadMemStats(&after)

	require.Len(t, lines, 3)
	all := strings.Join(lines, "")
	assert.Equal(t, 2, strings.Count(all, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: a message is longer than 8388608 bytes"}}`))
	assert.Contains(t, all, `"id":1,"result":{"content":[{"type":"text","text":"next"}]`)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20), "the whole line was never held")
}

func TestLongestLineIsTaken(t *testing.T) {
	head, tail := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`, `"}}`
	pad := func(n int) string { return head + strings.Repeat("x", n-len(head)-len(tail)) + tail + "\n" }
	lines := serve(t, newFixture(), strings.NewReader(pad(maxMessage)+pad(maxMessage+1)))
	require.Len(t, lines, 2)
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n", lines[0])
	assert.Contains(t, lines[1], "-32700")
}

func TestDeepNestingDoesNotCrash(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, in := range []string{
		deep(1 << 20),
		strings.Repeat(`{"a":`, 1<<20),
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + deep(100000) + `}}`,
		call("1", "echo", `{"text":`+deep(100000)+`}`),
		call("1", "echo", `{"text":`+deep(9000)+`}`),
	} {
		lines := serve(t, newFixture(), strings.NewReader(in+"\n"+`{"jsonrpc":"2.0","id":"p","method":"ping"}`))
		require.Len(t, lines, 2)
		assert.Contains(t, strings.Join(lines, ""), `{"jsonrpc":"2.0","id":"p","result":{}}`)
	}
}

func TestReadErrorEndsServing(t *testing.T) {
	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader(call("1", "echo", `{"text":"x"}`)), errorReader{broken})
	var out chunks
	err := newFixture().server().ServeStdio(t.Context(), in, &out)
	assert.ErrorIs(t, err, broken)
	assert.Len(t, out.each, 1)
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

func TestTooManyCallsAreRefusedAtOnceAndCancellationIsStillRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, newFixture().server())
		for i := range maxRunning {
			w.send(call(fmt.Sprint(i), "hold", `{"text":"a"}`))
		}
		require.Empty(t, w.got())
		w.send(call("9999", "echo", `{}`))
		assert.Equal(t, []string{`{"jsonrpc":"2.0","id":9999,"error":{"code":-32000,"message":"Server busy: 512 requests of this client are running; wait for an answer"}}`}, w.got())
		w.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}` + "\n")
		assert.Equal(t, []string{`{"jsonrpc":"2.0","id":"p","result":{}}`}, w.got())

		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}` + "\n")
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}` + "\n")
		w.send(call("10000", "hold", `{"text":"a"}`))
		assert.Empty(t, w.got(), "a place is free again")
		w.cancel()
		assert.ErrorIs(t, w.end(), context.Canceled)
	})
}

func TestBytesOfCallsInFlightAreBounded(t *testing.T) {
	var out chunks
	c := newFixture().server().newConn(t.Context(), &out)
	defer c.cancel(context.Canceled)
	c.load.running, c.load.held = 1, maxHeld-10 // one call holds all but ten bytes
	c.receive([]byte(call("1", "echo", `{}`)))
	require.Len(t, out.each, 1)
	assert.Contains(t, out.each[0], `"id":1,"error":{"code":-32000`)
	c.receive([]byte(`{"jsonrpc":"2.0","id":2,"method":"ping"}`))
	require.Len(t, out.each, 2)

	c.load.running, c.load.held = 0, 0
	c.receive([]byte(call("3", "echo", `{}`)))
	<-c.load.idle()
	assert.Zero(t, c.load.held)
	assert.Zero(t, c.load.running)
}

func TestProgressOfABurstIsBoundedIncreasingAndEndsWithTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type seen struct {
			at    time.Time
			value float64
		}
		var all []seen
		p := newProgress(json.RawMessage(`"t"`), true, func(line []byte) {
			var n struct{ Params struct{ Progress float64 } }
			require.NoError(t, json.Unmarshal(line, &n))
			all = append(all, seen{time.Now(), n.Params.Progress})
		})
		for i := range 5000 {
			p.report(progressOf(float64(i)))
			p.report(progressOf(float64(i / 2))) // does not grow
			time.Sleep(time.Millisecond)
		}
		p.finish()
		p.report(progressOf(9999))
		time.Sleep(time.Minute)

		require.NotEmpty(t, all)
		assert.Equal(t, 4999.0, all[len(all)-1].value, "the last one is not lost")
		assert.Greater(t, len(all), 40)
		for i, s := range all[1:] {
			assert.Greater(t, s.value, all[i].value)
		}
		for i := 10; i < len(all); i++ {
			assert.GreaterOrEqual(t, all[i].at.Sub(all[i-10].at), time.Second, "at most ten in a second")
		}
	})
}

func TestProgressNeverHoldsUpTheCall(t *testing.T) {
	started, unread := make(chan struct{}), make(chan struct{})
	p := newProgress(json.RawMessage(`1`), true, func([]byte) { close(started); <-unread })
	p.report(progressOf(0))
	<-started // the client does not read
	for i := range 100 {
		p.report(progressOf(float64(i)))
	}
	p.stop(true)
	close(unread)
	p.finish() // sends nothing: started would be closed twice
}

// TestNoGoroutineIsLeft ends connections in every way: a synctest bubble fails
// when a goroutine is left that can never end.
func TestNoGoroutineIsLeft(t *testing.T) {
	for name, end := range map[string]func(*wire){
		"eof":    func(w *wire) { w.in.Close() },
		"stop":   func(w *wire) { w.cancel() },
		"hangup": func(w *wire) { w.out.Close(); w.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"); w.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				f.env.OpenRoots = anyRoots
				w := dial(t, f.server())
				w.send(initialize("2025-11-25", `{"roots":{}}`) + initialized)
				w.send(call("10", "hold", `{"text":"a"}`))
				w.send(call("11", "hold_alone", `{"text":"b"}`))
				w.send(call("12", "mark", `{"text":"c"}`))
				w.send(call("13", "roots", `{}`))
				w.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}` + "\n")
				w.send(`{"jsonrpc":"2.0","id":14,"method":"tools/call","params":{"name":"steps","arguments":{"count":100,"every":100},"_meta":{"progressToken":1}}}` + "\n")
				end(w)
				began := time.Now()
				_ = w.end()
				assert.LessOrEqual(t, time.Since(began), time.Minute)
				time.Sleep(time.Minute) // sleeping steps end
			})
		})
	}
}

func TestManyClientsWithoutOrderOfGoroutines(t *testing.T) {
	s := newFixture().server()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var in bytes.Buffer
			in.WriteString(initialize("2025-06-18", "{}"))
			for i := range 100 {
				in.WriteString(call(fmt.Sprint(i), []string{"echo", "mark", "boom", "nope"}[i%4], `{"text":"x"}`))
				if i%5 == 0 {
					fmt.Fprintf(&in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", i)
				}
			}
			var out chunks
			assert.NoError(t, s.ServeStdio(context.Background(), &in, &out))
			ids := map[string]bool{}
			for _, line := range out.each {
				var m struct{ ID json.RawMessage }
				assert.NoError(t, json.Unmarshal([]byte(line), &m))
				assert.False(t, ids[string(m.ID)], "answered twice: %s", m.ID)
				ids[string(m.ID)] = true
			}
			assert.GreaterOrEqual(t, len(out.each), 81, "all but those cancelled")
		})
	}
	wg.Wait()
}

func BenchmarkCall(b *testing.B) {
	s := newFixture().server()
	w, r, wait := s.Connect(b.Context())
	lines := bufio.NewReaderSize(r, 64<<10)
	text := strings.Repeat("a line of text\\n", 256)
	message := call("1", "echo", `{"text":"`+text+`"}`)
	for b.Loop() {
		_, _ = io.WriteString(w, message)
		_, _ = lines.ReadSlice('\n')
	}
	_ = w.Close()
	_ = wait()
}

func TestConnect(t *testing.T) {
	w, r, wait := newFixture().server().Connect(t.Context())
	_, err := io.WriteString(w, call("1", "echo", `{"text":"in process"}`))
	require.NoError(t, err)
	var m struct{ ID int }
	require.NoError(t, json.NewDecoder(r).Decode(&m))
	assert.Equal(t, 1, m.ID)
	require.NoError(t, w.Close())
	require.NoError(t, wait())
	require.NoError(t, wait())
}
