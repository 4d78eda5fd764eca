package server

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-tools/tools"
)

const askMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// asked is a server that asks before mark, and a client of 2026-07-28 that can be asked.
func asked(t *testing.T, play func(t *testing.T, f *fixture, w *wire)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		policy, err := tools.NewPolicy(tools.PolicyOptions{Ask: []string{"mark"}}, f.env.Tools)
		require.NoError(t, err)
		f.env.Policy = policy
		w := dial(t, f.server())
		play(t, f, w)
		w.in.Close()
		require.NoError(t, w.end())
	})
}

// callOf is a call with what the client brings besides.
func callOf(id, tool, args, more string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `,` + more + askMeta + `}}` + "\n"
}

// stateIn is the question's state in an answer.
func stateIn(t *testing.T, line string) string {
	t.Helper()
	var a struct {
		Result struct {
			ResultType    string
			RequestState  string
			InputRequests map[string]struct{ Method string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(line), &a))
	require.Equal(t, "input_required", a.Result.ResultType, line)
	require.Equal(t, "elicitation/create", a.Result.InputRequests[userInput].Method)
	return a.Result.RequestState
}

func said(decision, state string) string {
	return `"inputResponses":{"user":{"action":"accept","content":{"decision":"` + decision + `"}}},"requestState":"` + state + `",`
}

func TestACallEndsWithAQuestionAndComesAgain(t *testing.T) {
	asked(t, func(t *testing.T, f *fixture, w *wire) {
		w.send(callOf("1", "mark", `{"text":"a"}`, ""))
		got := w.got()
		require.Len(t, got, 1)
		state := stateIn(t, got[0])
		assert.Empty(t, f.marks(), "nothing has run")
		w.send(callOf("2", "mark", `{"text":"a"}`, said("yes", state)))
		got = w.got()
		assert.Contains(t, got[0], "marked a")

		w.send(callOf("3", "mark", `{"text":"b"}`, ""))
		state = stateIn(t, w.got()[0])
		w.send(callOf("4", "mark", `{"text":"b"}`, said("no", state)))
		assert.Contains(t, w.got()[0], "Action denied: the user said no")
		assert.Equal(t, []string{"a"}, f.marks())
	})
}

func TestAStateIsGoodForItsCallAlone(t *testing.T) {
	asked(t, func(t *testing.T, f *fixture, w *wire) {
		w.send(callOf("1", "mark", `{"text":"a"}`, ""))
		state := stateIn(t, w.got()[0])
		for name, line := range map[string]string{
			"other arguments":     callOf("2", "mark", `{"text":"b"}`, said("yes", state)),
			"another signature":   callOf("3", "mark", `{"text":"a"}`, said("yes", state[:len(state)-2]+"AA")),
			"a changed state":     callOf("4", "mark", `{"text":"a"}`, said("yes", "x"+state)),
			"no state":            callOf("5", "mark", `{"text":"a"}`, strings.Replace(said("yes", state), `"requestState":"`+state+`",`, "", 1)),
			"an answer to no one": callOf("6", "mark", `{"text":"a"}`, strings.Replace(said("yes", state), `"user"`, `"other"`, 1)),
		} {
			w.send(line)
			got := w.got()
			require.Len(t, got, 1, name)
			assert.Contains(t, got[0], "input_required", name)
		}
		time.Sleep(stateLife + 2*time.Second)
		w.send(callOf("7", "mark", `{"text":"a"}`, said("yes", state)))
		assert.Contains(t, w.got()[0], "input_required", "it has expired")
		assert.Empty(t, f.marks())
	})
}

func TestAStateIsGoodForItsPrincipalAlone(t *testing.T) {
	s := newSealer()
	sealed, err := s.seal(round{Key: "k", Principal: "alice", Expires: time.Now().Add(time.Minute).Unix()})
	require.NoError(t, err)
	got, ok := s.open(sealed, time.Now())
	require.True(t, ok)
	assert.Equal(t, "alice", got.Principal)
	_, ok = newSealer().open(sealed, time.Now())
	assert.False(t, ok, "of another process")
	_, ok = s.open(sealed, time.Now().Add(2*time.Minute))
	assert.False(t, ok)
	for _, bad := range []string{"", ".", "x", sealed + "x", strings.Replace(sealed, ".", "", 1)} {
		_, ok := s.open(bad, time.Now())
		assert.False(t, ok, bad)
	}
}

func TestAClientOf20260728ThatCannotBeAsked(t *testing.T) {
	asked(t, func(t *testing.T, f *fixture, w *wire) {
		w.send(strings.Replace(callOf("1", "mark", `{"text":"a"}`, ""), `{"elicitation":{}}`, `{}`, 1))
		assert.Contains(t, w.got()[0], "this client cannot ask")
		assert.Empty(t, f.marks())
	})
}
