package server

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stopped waits for Serve to return.
func (w *web) stopped() error {
	select {
	case err := <-w.ended:
		w.ended <- err // the cleanup waits too
		return err
	case <-time.After(patience):
		w.t.Fatal("Serve did not return")
		return nil
	}
}

func TestAnswersThatAreFinishedInTimeAreDeliveredWhenStopping(t *testing.T) {
	f := newFixture()
	w := serveWeb(t, f.server(), HTTPOptions{})
	b := w.begun("2025-06-18")
	feed := newEvents(b.do("GET", "/mcp", "").Body)
	answers := make(chan []string, 2)
	go func() { _, said := b.say(call("1", "hold", `{"text":"a"}`)); answers <- said }()
	awaitRunning(t, w, 1)
	w.stop()
	_, more := feed.next()
	assert.False(t, more, "a stream that only the client would end is ended")
	close(f.gate("a"))
	shows(t, <-answers, `"text":"held a"`)
	require.NoError(t, w.stopped())
	_, err := b.request(t.Context(), "GET", "/healthz", "")
	assert.Error(t, err, "nobody listens")
}

func TestCallsThatGoOnAreCancelledWhenStopping(t *testing.T) {
	t.Parallel() // it takes its time
	f := newFixture()
	w := serveWeb(t, f.server(), HTTPOptions{})
	b, m := w.begun("2025-06-18"), w.alone()
	answers := make(chan []string, 2)
	go func() { _, said := b.say(call("1", "hold", `{"text":"a"}`)); answers <- said }()
	go func() { _, said := m.ask("1", "tools/call", `"name":"hold","arguments":{"text":"b"}`); answers <- said }()
	awaitRunning(t, w, 2)
	began := time.Now()
	w.stop()
	shows(t, <-answers, "Error: the call was ended: the server is stopping", `"isError":true`)
	shows(t, <-answers, "Error: the call was ended: the server is stopping", `"isError":true`)
	require.NoError(t, w.stopped())
	assert.GreaterOrEqual(t, time.Since(began), finishWait, "they had their time")
	assert.ElementsMatch(t, []string{"cancelled a", "cancelled b"}, f.marks())
}

func TestACallThatCannotBeEndedDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel() // it takes its time
	f := newFixture()
	w := serveWeb(t, f.server(), HTTPOptions{})
	b := w.begun("2025-06-18")
	go func() { _, _ = b.request(t.Context(), "POST", "/mcp", call("1", "deaf", `{"text":"a"}`)) }()
	awaitRunning(t, w, 1)
	w.stop()
	assert.ErrorIs(t, w.stopped(), errStuck)
	close(f.gate("a"))
}

func TestNothingNewIsTakenWhileStopping(t *testing.T) {
	w := serveWeb(t, newFixture().server(), HTTPOptions{})
	b := w.begun("2025-06-18")
	w.h.loads.calls.close()
	for _, body := range []string{call("1", "echo", `{}`), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, initialize("2025-06-18", "{}")} {
		status, said := b.say(body)
		assert.Equal(t, http.StatusServiceUnavailable, status)
		shows(t, said, `"code":-32000,"message":"The server is shutting down"`)
	}
}

func TestASubscriptionIsAcknowledgedAndOpenUntilTheClientOrTheServerEnds(t *testing.T) {
	f := newFixture(revealing()...)
	f.env.HideDeferred = true // so that there is something to subscribe to
	w := serveWeb(t, f.server(), HTTPOptions{})
	listen := func() *http.Response {
		return w.alone().post(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`, "Mcp-Method", "subscriptions/listen")
	}
	acknowledged := func(r *http.Response) *events {
		assert.Equal(t, "text/event-stream", r.Header.Get("Content-Type"))
		e := newEvents(r.Body)
		first, ok := e.next()
		require.True(t, ok)
		assert.Contains(t, first, `"method":"notifications/subscriptions/acknowledged"`)
		assert.Contains(t, first, `"io.modelcontextprotocol/subscriptionId":"l"`)
		assert.Contains(t, first, `"toolsListChanged":true`)
		return e
	}
	r := listen()
	acknowledged(r)
	open := func() int { return w.h.loads.listening.count() }
	require.Equal(t, 1, open())
	assert.Zero(t, w.h.loads.calls.count(), "it takes no call's place")
	r.Body.Close()
	require.Eventually(t, func() bool { return open() == 0 }, patience, time.Millisecond)

	e := acknowledged(listen())
	w.stop()
	last, ok := e.next()
	require.True(t, ok)
	assert.Contains(t, last, `"id":"l","result":{`)
	require.NoError(t, w.stopped())
}

func TestTheLogNamesSessionPrincipalAndRequest(t *testing.T) {
	var log bytes.Buffer
	f := newFixture()
	s := New(f.env, Options{Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	w := serveWeb(t, s, HTTPOptions{Tokens: twoPrincipals(t)})
	b := w.begun("2025-06-18", "Authorization", "Bearer "+tokenA)
	b.say(call(`"`+strings.Repeat("x", 100)+`"`, "boom", `{"text":"secret text"}`))
	w.stop()
	require.NoError(t, w.stopped())

	var panicked, asked map[string]any
	for line := range strings.Lines(log.String()) {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		switch {
		case m["msg"] == "a call panicked":
			panicked = m
		case m["msg"] == "request" && m["method"] == "tools/call":
			asked = m
		}
	}
	for _, m := range []map[string]any{panicked, asked} {
		require.NotNil(t, m, log.String())
		assert.Equal(t, 1., m["session"])
		assert.Equal(t, "alice", m["principal"])
		assert.Equal(t, 2., m["request"])
		assert.Equal(t, `"`+strings.Repeat("x", maxLoggedID-1)+"…", m["id"])
	}
	assert.NotContains(t, log.String(), tokenA)
	assert.NotContains(t, log.String(), "secret text")
	assert.NotContains(t, log.String(), b.header.Get("Mcp-Session-Id"), "whoever has it has the session")
}
