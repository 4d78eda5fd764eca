package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// guardedCall is a request and what a guard is to make of it.
type guardedCall struct {
	method  string // empty: POST
	host    string
	local   string // the address of the connection; empty: none
	origins []string
	headers map[string]string
	tls     bool
}

// through sends c through a guard and returns the answer and whether the handler
// behind the guard saw the request.
func (c guardedCall) through(o guardOptions) (*http.Response, bool) {
	if c.method == "" {
		c.method = http.MethodPost
	}
	r := httptest.NewRequest(c.method, "/mcp", errorBody{})
	r.Host = c.host
	if c.tls {
		r.TLS = new(tls.ConnectionState)
	}
	if c.local != "" {
		addr := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.local))
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
	}
	for k, v := range c.headers {
		r.Header.Set(k, v)
	}
	if c.origins != nil {
		r.Header["Origin"] = c.origins
	}
	passed := false
	w := httptest.NewRecorder()
	newGuard(o, func(http.ResponseWriter, *http.Request, string) { passed = true }).ServeHTTP(w, r)
	return w.Result(), passed
}

// errorBody is a body that a guard has no reason to read.
type errorBody struct{}

func (errorBody) Read([]byte) (int, error) { panic("the body was read") }

func bodyOf(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(b)
}

func TestHostsThatAreAllowed(t *testing.T) {
	for _, c := range []struct{ name, host, local, allow string }{
		{"the name of this machine", "localhost", "", ""},
		{"with a port", "localhost:8811", "", ""},
		{"names have no case", "LocalHost:8811", "", ""},
		{"a complete name", "localhost.:8811", "", ""},
		{"loopback", "127.0.0.1:8811", "", ""},
		{"all of 127.0.0.0/8 is loopback", "127.255.0.9", "", ""},
		{"loopback of IPv6", "[::1]:8811", "", ""},
		{"loopback of IPv6 at length", "[0:0:0:0:0:0:0:1]", "", ""},
		{"loopback mapped to IPv6", "[::ffff:127.0.0.1]", "", ""},
		{"the address of the connection", "192.0.2.7:8811", "192.0.2.7:8811", ""},
		{"whatever the port, for it may be forwarded", "192.0.2.7", "192.0.2.7:8811", ""},
		{"of a socket for both families", "192.0.2.7", "[::ffff:192.0.2.7]:8811", ""},
		{"of IPv6", "[2001:DB8::7]:8811", "[2001:db8::7]:8811", ""},
		{"whatever the zone, for it is the client's", "[fe80::7%25en0]", "[fe80::7%eth0]:8811", ""},
		{"a name that was allowed", "tools.example", "", "tools.example"},
		{"with any port", "tools.example:8811", "", "tools.example"},
		{"in any case", "TOOLS.example", "", "Tools.Example"},
		{"complete or not", "tools.example.", "", "tools.example"},
		{"with the port that was allowed", "tools.example:8811", "", "tools.example:8811"},
		{"with the port that goes without saying", "tools.example", "", "tools.example:80"},
		{"an address that was allowed", "192.0.2.7:1", "", "192.0.2.7"},
		{"an address of IPv6 that was allowed", "[2001:db8::7]:1", "", "[2001:DB8:0::7]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, passed := guardedCall{host: c.host, local: c.local}.through(guardOptions{hosts: []string{c.allow}})
			assert.True(t, passed, bodyOf(t, resp))
		})
	}
}

func TestHostsThatAreRefused(t *testing.T) {
	const local, allow = "192.0.2.7:8811", "tools.example:8811"
	for _, c := range []struct{ name, host, want string }{
		{"a foreign name", "evil.example:8811", `Host "evil.example:8811" is not allowed here. Start the server with --allow-host evil.example if`},
		{"a foreign address", "192.0.2.8", `--allow-host 192.0.2.8 if`},
		{"a foreign address of IPv6", "[2001:db8::8]:1", `Host "[2001:db8::8]:1" is not allowed here. Start the server with --allow-host [2001:db8::8] if`},
		{"a name that begins with ours", "localhost.evil.example", `--allow-host localhost.evil.example if`},
		{"a name that ends with ours", "notlocalhost", `--allow-host notlocalhost if`},
		{"a name below ours", "evil.localhost", `--allow-host evil.localhost if`},
		{"a name that begins with our address", "127.0.0.1.evil.example", `--allow-host 127.0.0.1.evil.example if`},
		{"a name below one that is allowed", "a.tools.example:8811", `--allow-host a.tools.example if`},
		{"another port than is allowed", "tools.example:8812", `--allow-host tools.example if`},
		{"the default port where another is allowed", "tools.example", `--allow-host tools.example if`},
		{"a very long name, which is shortened", strings.Repeat("a", 200), `Host "` + strings.Repeat("a", 97) + `..." is not`},
		{"a short form of an address", "127.1", `Host "127.1" is not allowed here. Call the server by localhost`},
		{"an octal form of an address", "0177.0.0.1", "Call the server by localhost"},
		{"a hexadecimal form of an address", "0x7f000001", "Call the server by localhost"},
		{"an address with a dot at its end", "127.0.0.1.", "Call the server by localhost"},
		{"the address of any interface", "0.0.0.0:8811", `Host "0.0.0.0:8811" is not allowed here. Call`},
		{"the address of any interface in IPv6", "[::]", `Host "[::]" is not allowed here. Call`},
		{"too many dots", "localhost..", "Call the server by localhost"},
		{"only a dot", ".", "Call the server by localhost"},
		{"none", "", "The request has no Host."},
		{"only a port", ":8811", "Host of the request is malformed."},
		{"an empty port", "localhost:", "Host of the request is malformed."},
		{"no such port", "localhost:65536", "Host of the request is malformed."},
		{"port 0", "localhost:0", "Host of the request is malformed."},
		{"a port with a sign", "localhost:+80", "Host of the request is malformed."},
		{"a port with many zeros", "localhost:000080", "Host of the request is malformed."},
		{"a user, who may be a secret", "me:" + aliceToken + "@localhost", "Host of the request is malformed."},
		{"our name as user", "localhost@evil.example", "Host of the request is malformed."},
		{"a path", "localhost/x", "Host of the request is malformed."},
		{"a blank", "localhost evil.example", "Host of the request is malformed."},
		{"a control character", "localhost\x00", "Host of the request is malformed."},
		{"two hosts", "localhost,evil.example", "Host of the request is malformed."},
		{"IPv6 without brackets", "::1", "Host of the request is malformed."},
		{"IPv4 in brackets", "[127.0.0.1]", "Host of the request is malformed."},
		{"an open bracket", "[::1:80", "Host of the request is malformed."},
		{"something after the bracket", "[::1]evil.example", "Host of the request is malformed."},
		{"a name in brackets", "[localhost]", "Host of the request is malformed."},
		{"a zone with more than a name", "[::1%/@evil.example]", "Host of the request is malformed."},
		{"letters outside ASCII", "ｌocalhost", "Host of the request is malformed."},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := guardOptions{hosts: []string{allow, "0.0.0.0", "::1"}}
			for _, at := range []string{"0.0.0.0:8811", "[::]:8811", ""} {
				_, passed := guardedCall{host: c.host, local: at}.through(o)
				assert.False(t, passed, "at local address %q", at)
			}
			resp, passed := guardedCall{host: c.host, local: local}.through(o)
			assert.False(t, passed)
			assert.Equal(t, http.StatusForbidden, resp.StatusCode)
			body := bodyOf(t, resp)
			assert.Contains(t, body, c.want)
			assert.NotContains(t, body, aliceToken)
			if _, flag, found := strings.Cut(body, "--allow-host "); found && strings.Contains(body, "Start the server") && !strings.Contains(body, "...") {
				name, _, _ := strings.Cut(flag, " ")
				assert.NoError(t, CheckAllowHost(name), "advice must be good")
			}
		})
	}
}

var hostForm = regexp.MustCompile(`^(?:\[([0-9A-Fa-f:.]+)(?:%[\w.%-]+)?\]|([\w.-]+))(?::(\d{1,5}))?$`)

// ours says slowly and from other parts whether host is one of this server at
// 192.0.2.7 that may be called tools.example.
func ours(host string) bool {
	m := hostForm.FindStringSubmatch(host)
	if m == nil {
		return false
	}
	if port, err := strconv.Atoi(m[3]); m[3] != "" && (err != nil || port < 1 || port > 65535) {
		return false
	}
	switch strings.ToLower(m[2]) {
	case "localhost", "localhost.", "tools.example", "tools.example.":
		return true
	}
	ip := net.ParseIP(m[1] + m[2])
	return ip != nil && (m[1] == "" || strings.Contains(m[1], ":")) && (ip.IsLoopback() || ip.Equal(net.IPv4(192, 0, 2, 7)))
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"localhost", "tools.example.:80", "127.0.0.1:8811", "[::1]", "[::ffff:192.0.2.7]:1", "[fe80::1%25x]", "192.0.2.7", "127.1", "localhost.evil.example", "a@localhost", "", ".", "[::1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		_, passed := guardedCall{host: host, local: "192.0.2.7:8811"}.through(guardOptions{hosts: []string{"tools.example"}})
		if passed || !strings.Contains(host, "%") { // which zones are read is no question of safety
			require.Equal(t, ours(host), passed, "%q", host)
		}
	})
}

func TestOrigins(t *testing.T) {
	const here = "127.0.0.1:8811"
	pages := []string{"https://app.example", "vscode-webview://1ab2", "http://[2001:DB8::7]:3000", "*", "null", "https://*.example", "https://x.example/"}
	for _, c := range []struct {
		name, host string
		tls        bool
		origins    []string
		refused    string // empty: it is allowed
	}{
		{"no browser sent it", here, false, nil, ""},
		{"a page of this server", here, false, []string{"http://127.0.0.1:8811"}, ""},
		{"origins have no case", "LOCALHOST:8811", false, []string{"HTTP://localhost:8811"}, ""},
		{"the default port need not be said", "localhost:80", false, []string{"http://localhost"}, ""},
		{"nor the one of https", "localhost", true, []string{"https://localhost:443"}, ""},
		{"a page that was allowed", here, false, []string{"https://app.example"}, ""},
		{"with its default port", here, false, []string{"https://APP.example:443"}, ""},
		{"a page of an editor", here, false, []string{"vscode-webview://1AB2"}, ""},
		{"an address that was allowed", here, false, []string{"http://[2001:db8::7]:3000"}, ""},
		{"a foreign page", here, false, []string{"http://evil.example"}, `Origin "http://evil.example" is not allowed. Start the server with --allow-origin http://evil.example if that page may use the tools.`},
		{"a page of another server on this machine", here, false, []string{"http://localhost:9999"}, "--allow-origin http://localhost:9999 "},
		{"another name of this server, for it is another origin", here, false, []string{"http://localhost:8811"}, "--allow-origin http://localhost:8811 "},
		{"the same host by another scheme", here, false, []string{"https://127.0.0.1:8811"}, "--allow-origin "},
		{"the same host by another scheme under TLS", here, true, []string{"http://127.0.0.1:8811"}, "--allow-origin "},
		{"another port of a page that was allowed", here, false, []string{"https://app.example:8443"}, "--allow-origin "},
		{"another scheme of a page that was allowed", here, false, []string{"http://app.example"}, "--allow-origin "},
		{"a name below a page that was allowed", here, false, []string{"https://a.app.example"}, "--allow-origin "},
		{"a wildcard allows nothing", here, false, []string{"https://b.example"}, "--allow-origin "},
		{"what could be any file", here, false, []string{"null"}, `Origin "null" is not allowed`},
		{"two origins", here, false, []string{"http://127.0.0.1:8811", "http://127.0.0.1:8811"}, "more than one Origin"},
		{"an empty origin", here, false, []string{""}, "Origin of the request is malformed"},
		{"a wildcard", here, false, []string{"*"}, "Origin of the request is malformed"},
		{"no scheme", here, false, []string{"127.0.0.1:8811"}, "Origin of the request is malformed"},
		{"an empty scheme", here, false, []string{"://127.0.0.1:8811"}, "Origin of the request is malformed"},
		{"no scheme name", here, false, []string{"1h://127.0.0.1:8811"}, "Origin of the request is malformed"},
		{"a scheme with a blank", here, false, []string{"ht tp://127.0.0.1:8811"}, "Origin of the request is malformed"},
		{"a path", here, false, []string{"http://127.0.0.1:8811/"}, "Origin of the request is malformed"},
		{"a user", here, false, []string{"http://127.0.0.1:8811@evil.example"}, "Origin of the request is malformed"},
		{"a list", here, false, []string{"http://127.0.0.1:8811 http://evil.example"}, "Origin of the request is malformed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, behind := range []bool{true, false} { // TLS of the connection, or only by option
				call := guardedCall{host: c.host, origins: c.origins, tls: c.tls && !behind}
				resp, passed := call.through(guardOptions{origins: pages, tls: c.tls && behind})
				body := bodyOf(t, resp)
				assert.Equal(t, c.refused == "", passed, body)
				if c.refused == "" && c.origins != nil {
					assert.Equal(t, c.origins, resp.Header["Access-Control-Allow-Origin"], "as it was sent")
					assert.Equal(t, []string{"Origin"}, resp.Header["Vary"])
					assert.Contains(t, resp.Header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id")
					assert.NotContains(t, resp.Header, "Access-Control-Allow-Credentials")
					continue
				}
				assertNoCORS(t, resp)
				if c.refused != "" {
					assert.Equal(t, http.StatusForbidden, resp.StatusCode)
					assert.Contains(t, body, c.refused)
				}
			}
		})
	}
}

func assertNoCORS(t *testing.T, resp *http.Response) {
	t.Helper()
	for name := range resp.Header {
		assert.False(t, strings.HasPrefix(name, "Access-Control-"), name)
	}
}

func TestEveryMethodIsGuarded(t *testing.T) {
	tokens := tokenList(t, "alice:"+aliceToken)
	open := func(string) bool { return true } // paths without a token are no less guarded
	preflight := map[string]string{"Access-Control-Request-Method": "POST", "Authorization": "Bearer " + aliceToken}
	for _, method := range []string{"GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD", "TRACE", "CONNECT", "MADE-UP"} {
		t.Run(method, func(t *testing.T) {
			for name, c := range map[string]guardedCall{
				"a foreign Host":               {host: "evil.example"},
				"a foreign Host's own page":    {host: "evil.example", origins: []string{"http://evil.example"}},
				"a foreign Origin":             {host: "localhost", origins: []string{"http://evil.example"}},
				"a foreign Host and good page": {host: "evil.example", origins: []string{"https://app.example"}},
			} {
				c.method, c.headers = method, preflight
				resp, passed := c.through(guardOptions{tokens: tokens, open: open, origins: []string{"https://app.example"}})
				assert.False(t, passed, name)
				assert.Equal(t, http.StatusForbidden, resp.StatusCode, name)
				assertNoCORS(t, resp)
			}
			resp, passed := guardedCall{method: method, host: "localhost", origins: []string{"http://localhost"}}.through(guardOptions{tokens: tokens})
			assert.False(t, passed)
			assert.Equal(t, http.StatusUnauthorized, resp.StatusCode, "no token")
			assert.Equal(t, "http://localhost", resp.Header.Get("Access-Control-Allow-Origin"), "a page may read why")
			_, passed = guardedCall{method: method, host: "localhost", origins: []string{"http://localhost"}, headers: preflight}.through(guardOptions{})
			assert.Equal(t, method != "OPTIONS", passed, "only OPTIONS is a preflight")
		})
	}
}

func TestPreflightIsAnsweredWithoutAToken(t *testing.T) {
	const always = "Authorization, Content-Type, Accept, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID"
	for _, c := range []struct{ name, asked, allowed string }{
		{"nothing asked", "", always},
		{"what is always allowed", "content-type, mcp-name", always},
		{"parameters of tools", "mcp-param-path,Mcp-Param-Line_2 , x", always + ", mcp-param-path, Mcp-Param-Line_2"},
		{"not what merely holds the prefix", "X-Mcp-Param-A, Mcp-Params", always},
		{"not what is no header name", "Mcp-Param-a b, Mcp-Param-\x01, Mcp-Param-ö, Mcp-Param-:", always},
		{"at most 32", strings.Repeat("Mcp-Param-A,", 33), always + strings.Repeat(", Mcp-Param-A", 32)},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := guardedCall{method: "OPTIONS", host: "localhost", origins: []string{"https://app.example"}, headers: map[string]string{
				"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": c.asked}}
			resp, passed := call.through(guardOptions{tokens: tokenList(t, "alice:"+aliceToken), origins: []string{"https://app.example"}})
			assert.False(t, passed)
			assert.Equal(t, http.StatusNoContent, resp.StatusCode)
			assert.Empty(t, bodyOf(t, resp))
			assert.Equal(t, http.Header{
				"Access-Control-Allow-Origin":   {"https://app.example"},
				"Access-Control-Expose-Headers": {"Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"},
				"Access-Control-Allow-Methods":  {"GET, POST, DELETE"},
				"Access-Control-Allow-Headers":  {c.allowed},
				"Access-Control-Max-Age":        {"600"},
				"Vary":                          {"Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"},
			}, resp.Header)
		})
	}
}

func TestRefusalsAreLoggedBriefly(t *testing.T) {
	var log bytes.Buffer
	g := newGuard(guardOptions{log: slog.New(slog.NewJSONHandler(&log, nil))}, func(http.ResponseWriter, *http.Request, string) {})
	r := httptest.NewRequest(strings.Repeat("M", 40), "http://evil.example/%0A%1b[2J%E2%80%AE%ff"+strings.Repeat("p", 300)+"?token="+aliceToken, nil)
	r.Header.Set("Authorization", "Bearer "+bobToken)
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)

	var line map[string]string
	require.NoError(t, json.Unmarshal(log.Bytes(), &line))
	delete(line, "time")
	assert.Equal(t, map[string]string{
		"level": "INFO", "msg": "refused a request", "remote": r.RemoteAddr, "method": strings.Repeat("M", 29) + "...",
		"path":   "/[2J" + strings.Repeat("p", 200-len("/\n\x1b[2J\u202e\xff...")) + "...",
		"reason": `Host "evil.example" is not allowed here. Start the server with --allow-host evil.example if clients reach it by that name.`,
	}, line)
	assert.Equal(t, line["reason"]+"\n", w.Body.String())
	assert.Equal(t, http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"no-store"}}, w.Header())
}

func TestLocalAddressOfARealConnection(t *testing.T) {
	seen := make(chan netip.Addr, 1)
	s := httptest.NewServer(newGuard(guardOptions{}, func(_ http.ResponseWriter, r *http.Request, _ string) { seen <- localAddr(r.Context()) }))
	defer s.Close()
	resp, err := s.Client().Get(s.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, s.Listener.Addr().(*net.TCPAddr).AddrPort().Addr(), <-seen)
}

func TestFlagsOfTheGuard(t *testing.T) {
	for _, c := range []struct {
		check       func(string) error
		value, want string // empty: it is good
	}{
		{CheckAllowHost, "tools.example", ""},
		{CheckAllowHost, "Tools_1.example.:8811", ""},
		{CheckAllowHost, "192.0.2.7:8811", ""},
		{CheckAllowHost, "[2001:db8::7]", ""},
		{CheckAllowHost, "2001:db8::7", "write [2001:db8::7]"},
		{CheckAllowHost, "https://tools.example:8811/mcp?x#y", "write tools.example:8811"},
		{CheckAllowHost, "me:secret@tools.example", "write tools.example"},
		{CheckAllowHost, "tools.example/mcp", "write tools.example"},
		{CheckAllowHost, "*.example", "has a wildcard: write each name by itself"},
		{CheckAllowHost, "", "write the name or IP address by which clients reach the server"},
		{CheckAllowHost, "0.0.0.0", "write the name or IP address"},
		{CheckAllowHost, "[::ffff:0.0.0.0]", "write the name or IP address"},
		{CheckAllowHost, ".example", "write the name or IP address"},
		{CheckAllowHost, "127.1", "write the name or IP address"},
		{CheckAllowHost, "tools.example:99999", "write the name or IP address"},
		{CheckAllowHost, "bücher.example", "write the name or IP address"},
		{CheckAllowOrigin, "https://app.example", ""},
		{CheckAllowOrigin, "http://localhost:3000", ""},
		{CheckAllowOrigin, "vscode-webview://1ab2", ""},
		{CheckAllowOrigin, "*", "would let every web page use the tools"},
		{CheckAllowOrigin, "null", "is the origin of every file and sandboxed frame"},
		{CheckAllowOrigin, "https://app.example/", "write https://app.example"},
		{CheckAllowOrigin, "https://me@app.example:8443/x", "write https://app.example:8443"},
		{CheckAllowOrigin, "app.example", "write https://app.example"},
		{CheckAllowOrigin, "https://*.example", "write each by itself as SCHEME://HOST"},
		{CheckAllowOrigin, "1x://app.example", "write each by itself as SCHEME://HOST"},
		{CheckAllowOrigin, "", "write each by itself as SCHEME://HOST"},
	} {
		t.Run(c.value, func(t *testing.T) {
			err := c.check(c.value)
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			assert.True(t, strings.HasPrefix(err.Error(), strconv.Quote(c.value)), err)
		})
	}
}
