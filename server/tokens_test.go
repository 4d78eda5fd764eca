package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	aliceToken = "5ef1c0a9d3b27846900d8cc1e7ab42f3"
	spareToken = "Zm9v/YmFy+cXV1.eC~x_1-2Q=="
	bobToken   = "0b7d2e4f6a8c91035577e9bdf1c3a5e8"
	shortToken = "a1b2c3d4e5f6g7h8i9j0k" // 21 characters
	roomyName  = "n"                     // as short as a name can be: the line is for the token
)

func tokenList(t *testing.T, list string) *Tokens {
	t.Helper()
	tokens, err := ParseTokens(strings.NewReader(list))
	require.NoError(t, err)
	return tokens
}

func TestTokenListsThatAreRead(t *testing.T) {
	for _, c := range []struct {
		name, list string
		principals []string
	}{
		{"one line", "alice:" + aliceToken, []string{"alice"}},
		{"names are sorted", "bob:" + bobToken + "\nalice:" + aliceToken + "\n", []string{"alice", "bob"}},
		{"a name with two tokens is one name", "alice:" + aliceToken + "\nalice:" + spareToken, []string{"alice"}},
		{"comments and blank lines", "# x:y\n\n  # indented\n \t\nalice:" + aliceToken, []string{"alice"}},
		{"saved by an editor for Windows", "\ufeffalice:" + aliceToken + "\r\n\r\nbob:" + bobToken + "\r\n", []string{"alice", "bob"}},
		{"blanks around both parts", " \talice : " + aliceToken + "\t ", []string{"alice"}},
		{"all that a name may have", "A.b_c@d-9:" + aliceToken, []string{"A.b_c@d-9"}},
		{"the longest name", strings.Repeat("n", 64) + ":" + aliceToken, []string{strings.Repeat("n", 64)}},
		{"all that a token may have", "bob:" + spareToken, []string{"bob"}},
		{"the shortest token", "bob:" + shortToken + "l", []string{"bob"}},
		{"the longest line", roomyName + ":" + aliceToken + strings.Repeat("0", maxTokenLine-len(roomyName)-1-len(aliceToken)) + "\r\n", []string{roomyName}},
		{"the largest list", "alice:" + aliceToken + "\n" + strings.Repeat("\n", maxTokenFile-len(aliceToken)-len("alice:\n")), []string{"alice"}},
		{"the most tokens", manyTokens(maxTokens), []string{"crowd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.principals, tokenList(t, c.list).Principals())
		})
	}
}

func manyTokens(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "crowd:%s%04d\n", aliceToken, i)
	}
	return b.String()
}

func TestTokenListsThatAreRefused(t *testing.T) {
	guess := "can be guessed: want at least 22 random characters; make one with: openssl rand -hex 32"
	for _, c := range []struct{ name, list, secret, want string }{
		{"no colon, so it may be a token alone", "# ours\n" + aliceToken, aliceToken, "line 2: it has no colon"},
		{"no name", "\n\n:" + aliceToken, aliceToken, "line 3: what stands before the colon is no name"},
		{"a name with a blank", "al ice:" + aliceToken, aliceToken, "line 1: what stands before the colon is no name"},
		{"a name outside ASCII", "ålice:" + aliceToken, aliceToken, "line 1: what stands before the colon is no name"},
		{"a name that is too long", strings.Repeat("n", 65) + ":" + aliceToken, aliceToken, "line 1: what stands before the colon is no name"},
		{"no token", "alice:", aliceToken, "line 1: the token of alice " + guess},
		{"a token one character too short", "alice:" + shortToken, shortToken, "line 1: the token of alice " + guess},
		{"a token that is long only by its padding", "alice:" + shortToken + "==", shortToken, "line 1: the token of alice " + guess},
		{"a token of seven characters again and again", "alice:" + strings.Repeat("abcdefg", 9), "abcdefg", "line 1: the token of alice " + guess},
		{"a token with a colon, for only the first one parts", "alice:" + aliceToken + ":x", aliceToken, "line 1: the token of alice has characters"},
		{"a token with a blank", "alice:Bearer " + aliceToken, aliceToken, "line 1: the token of alice has characters"},
		{"a token with padding within", "alice:ab=" + aliceToken, aliceToken, "line 1: the token of alice has characters"},
		{"a token outside ASCII", "alice:ö" + aliceToken, aliceToken, "line 1: the token of alice has characters"},
		{"a token with a line end of old", "alice:" + aliceToken + "\rbob:" + bobToken, aliceToken, "line 1: the token of alice has characters"},
		{"the wrong way round", aliceToken + ":alice", aliceToken, "line 1: what stands after the colon (want NAME:TOKEN, not TOKEN:NAME) " + guess},
		{"one token twice", "bob:" + bobToken + "\nbob:" + bobToken, bobToken, "line 2: the token of bob is in the list already"},
		{"one token for two", "bob:" + aliceToken + "\n\nalice:" + aliceToken, aliceToken, "line 3: the token of alice is in the list already"},
		{"an empty list", "", aliceToken, "the list of tokens has no token: write a line NAME:TOKEN"},
		{"only comments", "# alice:" + aliceToken + "\n", aliceToken, "the list of tokens has no token: write a line NAME:TOKEN"},
		{"one token too many", manyTokens(maxTokens + 1), aliceToken, "line 1001: the token of crowd is one more than the 1000"},
		{"a line too long", "alice:" + aliceToken + strings.Repeat("0", maxTokenLine), aliceToken, "line 1: it is longer than 4096 bytes"},
		{"a comment too long", "#" + aliceToken + strings.Repeat("0", maxTokenLine), aliceToken, "line 1: it is longer than 4096 bytes"},
		{"a list too large", "alice:" + aliceToken + strings.Repeat("\n", maxTokenFile), aliceToken, "the list of tokens is larger than 1 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tokens, err := ParseTokens(strings.NewReader(c.list))
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), c.secret)
			assert.Nil(t, tokens)
		})
	}
}

func TestTokenListThatCannotBeRead(t *testing.T) {
	_, err := ParseTokens(iotest.ErrReader(assert.AnError))
	assert.ErrorIs(t, err, assert.AnError)
	assert.ErrorContains(t, err, "cannot read the list of tokens")
}

func TestTokensAreKeptAsDigestsOnly(t *testing.T) {
	shown := fmt.Sprintf("%+v", tokenList(t, "alice:"+aliceToken))
	assert.Contains(t, shown, "alice")
	assert.NotContains(t, shown, aliceToken)
}

func TestTokenIsFoundWhereverItStands(t *testing.T) {
	tokens := tokenList(t, "alice:"+aliceToken+"\nbob:"+bobToken+"\nalice:"+spareToken)
	for token, want := range map[string]string{aliceToken: "alice", bobToken: "bob", spareToken: "alice"} {
		name, ok := tokens.principal(token)
		assert.True(t, ok, token)
		assert.Equal(t, want, name)
	}
	for _, token := range []string{"", "alice", aliceToken[1:], strings.ToUpper(aliceToken), bobToken + "=", strings.TrimRight(spareToken, "=")} {
		name, ok := tokens.principal(token)
		assert.False(t, ok, token)
		assert.Empty(t, name)
	}
	_, ok := new(Tokens).principal("")
	assert.False(t, ok, "an empty list accepts nobody")
}

// TestBearer: each request but for its token is one that the guard lets through.
func TestBearer(t *testing.T) {
	const missing, invalid = `Bearer realm="mcp-tools"`, `Bearer realm="mcp-tools", error="invalid_token"`
	tokens := tokenList(t, "alice:"+aliceToken+"\nbob:"+bobToken)
	for _, c := range []struct {
		name, query string
		headers     []string
		principal   string
		challenge   string
	}{
		{name: "an accepted token", headers: []string{"Bearer " + bobToken}, principal: "bob"},
		{name: "schemes have no case", headers: []string{"bearer " + aliceToken}, principal: "alice"},
		{name: "several spaces may part them", headers: []string{"BEARER   " + aliceToken}, principal: "alice"},
		{name: "no header", challenge: missing},
		{name: "an empty header", headers: []string{""}, challenge: invalid},
		{name: "an unknown token", headers: []string{"Bearer " + spareToken}, challenge: invalid},
		{name: "all but the last character", headers: []string{"Bearer " + aliceToken[:31]}, challenge: invalid},
		{name: "all but the first character", headers: []string{"Bearer " + aliceToken[1:]}, challenge: invalid},
		{name: "a character more", headers: []string{"Bearer " + aliceToken + "="}, challenge: invalid},
		{name: "two tokens in one header", headers: []string{"Bearer " + aliceToken + ", Bearer " + bobToken}, challenge: invalid},
		{name: "two headers, for others may read the other one", headers: []string{"Bearer " + aliceToken, "Bearer " + aliceToken}, challenge: invalid},
		{name: "no scheme", headers: []string{aliceToken}, challenge: invalid},
		{name: "no space", headers: []string{"Bearer" + aliceToken}, challenge: invalid},
		{name: "a tab instead of the space", headers: []string{"Bearer\t" + aliceToken}, challenge: invalid},
		{name: "a scheme without a token", headers: []string{"Bearer "}, challenge: invalid},
		{name: "another scheme", headers: []string{"Basic " + aliceToken}, challenge: invalid},
		{name: "in the URL, as RFC 6750 had it", query: "?access_token=" + aliceToken, challenge: missing},
		{name: "in the URL, as some clients do it", query: "?token=" + aliceToken, challenge: missing},
		{name: "in the URL and wrong in the header", query: "?access_token=" + aliceToken, headers: []string{"Bearer x"}, challenge: invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			var passed *http.Request
			var principal string
			g := newGuard(guardOptions{tokens: tokens, log: slog.New(slog.NewTextHandler(&log, nil))},
				func(_ http.ResponseWriter, r *http.Request, who string) { passed, principal = r, who })
			r := httptest.NewRequest("POST", "http://localhost/mcp"+c.query, nil)
			r.Header["Authorization"] = c.headers
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)

			said := fmt.Sprint(w.Header(), w.Body, log.String())
			for _, secret := range []string{aliceToken, bobToken, spareToken, aliceToken[1:31]} {
				assert.NotContains(t, said, secret)
			}
			assert.Equal(t, c.challenge, w.Header().Get("WWW-Authenticate"))
			if c.challenge != "" {
				assert.Equal(t, http.StatusUnauthorized, w.Code)
				assert.Contains(t, w.Body.String(), "--token-file")
				assert.Contains(t, log.String(), "reason=")
				assert.Equal(t, c.query != "" && c.headers == nil, strings.Contains(w.Body.String(), "one in the URL is not accepted"))
				assert.Nil(t, passed)
				return
			}
			require.NotNil(t, passed, w.Body)
			assert.Equal(t, c.principal, principal)
			assert.NotContains(t, passed.Header, "Authorization", "handlers have no use for the token")
			assert.Equal(t, c.headers, r.Header["Authorization"], "the request is another's")
			assert.Empty(t, log.String())
		})
	}
}

func TestNoTokenIsAskedFor(t *testing.T) {
	tokens := tokenList(t, "alice:"+aliceToken)
	open := func(path string) bool { return path == "/healthz" }
	for _, c := range []struct {
		name, path string
		options    guardOptions
		status     int
	}{
		{"where the server has none", "/mcp", guardOptions{}, http.StatusOK},
		{"on an open path", "/healthz", guardOptions{tokens: tokens, open: open}, http.StatusOK},
		{"but on all others", "/healthz/", guardOptions{tokens: tokens, open: open}, http.StatusUnauthorized},
		{"but everywhere where no path is open", "/healthz", guardOptions{tokens: tokens}, http.StatusUnauthorized},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGuard(c.options, func(_ http.ResponseWriter, r *http.Request, principal string) {
				assert.Empty(t, principal)
				assert.Equal(t, http.Header{"Accept": {"*/*"}}, r.Header)
			})
			r := httptest.NewRequest("GET", "http://localhost"+c.path, nil)
			r.Header.Set("Accept", "*/*")
			if c.status == http.StatusOK {
				r.Header.Set("Authorization", "Basic x")
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			assert.Equal(t, c.status, w.Code)
		})
	}
}
