package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// guardOptions say who may talk to the HTTP server.
type guardOptions struct {
	tokens  *Tokens                // nil: no token is asked for
	hosts   []string               // further names clients may call the server by: HOST or HOST:PORT
	origins []string               // web pages that may call it, such as https://app.example
	tls     bool                   // the server itself speaks TLS
	open    func(path string) bool // paths that need no token; nil: none. It sees the path as sent: compare all of it
	log     *slog.Logger           // nil: refusals are not logged
}

// guard stands before a handler and lets through only what was sent to a name
// of this server, by no foreign web page, and with an accepted token.
type guard struct {
	guardOptions
	names []authority
	pages map[webOrigin]bool
	next  served
}

// served handles a request of the principal whose token it had; "" where none was
// asked for.
type served func(w http.ResponseWriter, r *http.Request, principal string)

// newGuard guards next. Hosts and origins that CheckAllowHost and
// CheckAllowOrigin refuse allow nothing.
func newGuard(o guardOptions, next served) http.Handler {
	g := &guard{guardOptions: o, pages: make(map[webOrigin]bool), next: next}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	for _, h := range o.hosts {
		if a, ok := parseAuthority(h); ok && a.callable() {
			g.names = append(g.names, a)
		}
	}
	for _, s := range o.origins {
		if page, ok := parseOrigin(s); ok {
			g.pages[page] = true
		}
	}
	return g
}

// ServeHTTP asks for the name first: a page whose name was rebound to this
// server's address is same-origin to its browser.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if no := g.checkHost(r); no != nil {
		g.refuse(w, r, no)
		return
	}
	origin, no := g.checkOrigin(r)
	if no != nil {
		g.refuse(w, r, no)
		return
	}
	if origin != "" {
		allowPage(w.Header(), origin)
		// A preflight carries no token, whatever the page is going to send.
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			answerPreflight(w, r)
			return
		}
	}
	principal, no := g.checkBearer(r)
	if no != nil {
		g.refuse(w, r, no)
		return
	}
	g.next(w, withoutToken(r), principal)
}

// denial is why a request goes no further.
type denial struct {
	status    int
	text      string
	challenge string // WWW-Authenticate, unless empty
}

func forbidden(format string, a ...any) *denial {
	return &denial{status: http.StatusForbidden, text: fmt.Sprintf(format, a...)}
}

func (g *guard) refuse(w http.ResponseWriter, r *http.Request, no *denial) {
	g.log.LogAttrs(r.Context(), slog.LevelInfo, "refused a request", slog.String("reason", no.text),
		slog.String("remote", r.RemoteAddr), slog.String("method", brief(r.Method, 32)), slog.String("path", brief(r.URL.Path, 200)))
	if no.challenge != "" {
		w.Header().Set("WWW-Authenticate", no.challenge)
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	plainText(w, no.status, no.text+"\n")
}

// brief makes what a stranger sent fit to be shown: printable, at most limit bytes.
func brief(s string, limit int) string {
	end := ""
	if len(s) > limit {
		end = "..."
		s = s[:limit-len(end)]
	}
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "")) + end
}

const ownNames = " Call the server by localhost, by its IP address or by a name given with --allow-host."

// checkHost refuses what was sent to a name that is not ours: by DNS rebinding a
// page makes its own name lead here. Addresses cannot be rebound. A Host that
// cannot be read is not echoed: it may hold anything.
func (g *guard) checkHost(r *http.Request) *denial {
	if r.Host == "" {
		return forbidden("The request has no Host." + ownNames)
	}
	host, ok := parseAuthority(r.Host)
	if !ok {
		return forbidden("The Host of the request is malformed." + ownNames)
	}
	if g.knows(host, r) {
		return nil
	}
	shown, name := brief(r.Host, 100), brief(host.host(), 100)
	if !host.callable() {
		return forbidden("Host %q is not allowed here."+ownNames, shown)
	}
	return forbidden("Host %q is not allowed here. Start the server with --allow-host %s if clients reach it by that name.", shown, name)
}

func (g *guard) knows(host authority, r *http.Request) bool {
	if host.same(authority{name: "localhost"}) || host.addr.IsLoopback() {
		return true
	}
	// Browsers let pages call 0.0.0.0, so that is no name even for a listener that
	// gives it as the address of its connections.
	if local := plain(localAddr(r.Context())); local.IsValid() && !local.IsUnspecified() && local == plain(host.addr) {
		return true
	}
	port := host.portFor(g.scheme(r))
	return slices.ContainsFunc(g.names, func(a authority) bool {
		return a.same(host) && (a.port == 0 || a.port == port)
	})
}

// localAddr is the address at which the client reached the server; the zero Addr
// where the connection has none.
func localAddr(ctx context.Context) netip.Addr {
	addr, _ := ctx.Value(http.LocalAddrContextKey).(net.Addr)
	if addr == nil {
		return netip.Addr{}
	}
	at, _ := netip.ParseAddrPort(addr.String())
	return at.Addr()
}

func (g *guard) scheme(r *http.Request) string {
	if g.tls || r.TLS != nil {
		return "https"
	}
	return "http"
}

// checkOrigin returns the Origin as it was sent, "" where there is none: then no
// page of another site wrote the request.
func (g *guard) checkOrigin(r *http.Request) (string, *denial) {
	sent := r.Header.Values("Origin")
	if len(sent) == 0 {
		return "", nil
	}
	if len(sent) > 1 {
		return "", forbidden("The request has more than one Origin. Send one, or none if it comes from no web page.")
	}
	if sent[0] == "null" {
		return "", forbidden(`Origin "null" is not allowed: any file or sandboxed frame sends it. Serve the page from an address and start the server with --allow-origin and that.`)
	}
	page, ok := parseOrigin(sent[0])
	if !ok {
		return "", forbidden("The Origin of the request is malformed. Send SCHEME://HOST or SCHEME://HOST:PORT, or none if it comes from no web page.")
	}
	own, _ := parseOrigin(g.scheme(r) + "://" + r.Host)
	if page == own || g.pages[page] {
		return sent[0], nil
	}
	shown := brief(sent[0], 100)
	return "", forbidden("Origin %q is not allowed. Start the server with --allow-origin %s if that page may use the tools.", shown, shown)
}

// allowPage lets the page at origin read the answer, refusals too.
func allowPage(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After")
}

func answerPreflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Access-Control-Request-Method")
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", strings.Join(allowedHeaders(r.Header.Values("Access-Control-Request-Headers")), ", "))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// maxParamHeaders bounds how much of what a page asks for is answered.
const maxParamHeaders = 32

// allowedHeaders are the request headers of the protocol, and of those asked for
// the Mcp-Param- ones: tools name these, so there is no list of them.
func allowedHeaders(asked []string) []string {
	names := []string{"Authorization", "Content-Type", "Accept", "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-ID"}
	all := len(names) + maxParamHeaders
	for name := range strings.SplitSeq(strings.Join(asked, ","), ",") {
		name = strings.Trim(name, " \t")
		if strings.HasPrefix(strings.ToLower(name), "mcp-param-") && only(name, letters+digits+"!#$%&'*+-.^_`|~") && len(names) < all {
			names = append(names, name)
		}
	}
	return names
}

// authority is a host and perhaps a port: either name or addr is set.
type authority struct {
	name string // lower case
	addr netip.Addr
	port uint16 // 0: none was given
}

// parseAuthority reads HOST or HOST:PORT, an IPv6 address in brackets. It takes
// nothing that has another meaning somewhere: no user, no path, no escapes.
func parseAuthority(s string) (a authority, ok bool) {
	host := s
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		port, err := strconv.ParseUint(s[i+1:], 10, 16)
		if err != nil || port == 0 || len(s)-i > len(":65535") {
			return a, false
		}
		host, a.port = s[:i], uint16(port)
	}
	if inner, found := strings.CutPrefix(host, "["); found {
		inner, found = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		a.addr = addr
		return a, found && err == nil && addr.Is6() && only(addr.Zone(), letters+digits+"-_.%")
	}
	if host == "" || !only(host, letters+digits+"-_.") {
		return a, false
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		a.addr = addr
		return a, true
	}
	a.name = strings.ToLower(host)
	return a, true
}

// host is a without the port, in the way parseAuthority reads it.
func (a authority) host() string {
	switch {
	case a.addr.Is6():
		return "[" + a.addr.String() + "]"
	case a.addr.IsValid():
		return a.addr.String()
	}
	return a.name
}

// same: both are one host, whatever the ports. A dot at the end of a name only
// says that it is complete.
func (a authority) same(b authority) bool {
	return plain(a.addr) == plain(b.addr) && strings.TrimSuffix(a.name, ".") == strings.TrimSuffix(b.name, ".")
}

// plain is addr in the one form in which addresses are compared.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// callable: clients can reach a server by it. They may take a name that ends in
// a number for an address, each in its own way.
func (a authority) callable() bool {
	if a.addr.IsValid() {
		return !plain(a.addr).IsUnspecified()
	}
	labels := strings.Split(strings.TrimSuffix(a.name, "."), ".")
	last := labels[len(labels)-1]
	return !slices.Contains(labels, "") && !only(last, digits) && !strings.HasPrefix(last, "0x")
}

func (a authority) portFor(scheme string) uint16 {
	switch {
	case a.port != 0:
		return a.port
	case scheme == "http":
		return 80
	case scheme == "https":
		return 443
	}
	return 0
}

// webOrigin is where a page comes from; equal ones are the same origin.
type webOrigin struct {
	scheme string // lower case
	at     authority
}

// parseOrigin reads SCHEME://HOST or SCHEME://HOST:PORT.
func parseOrigin(s string) (webOrigin, bool) {
	scheme, host, _ := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	at, ok := parseAuthority(host)
	if !ok || scheme == "" || !only(scheme[:1], letters) || !only(scheme, letters+digits+"+-.") {
		return webOrigin{}, false
	}
	at.port = at.portFor(scheme)
	return webOrigin{scheme, at}, true
}

// CheckAllowHost refuses what cannot be the host of a request, and says what to
// write instead.
func CheckAllowHost(h string) error {
	if strings.Contains(h, "*") {
		return fmt.Errorf("%q has a wildcard: write each name by itself, such as tools.example", h)
	}
	if a, ok := parseAuthority(h); ok && a.callable() {
		return nil
	}
	instead, ok := hostWithin(h)
	if !ok {
		instead = "the name or IP address by which clients reach the server, such as tools.example or 192.168.1.5:8811"
	}
	return fmt.Errorf("%q is not a host name or IP address, with or without a port: write %s", h, instead)
}

// CheckAllowOrigin refuses what cannot be the origin of one page, and says what
// to write instead.
func CheckAllowOrigin(o string) error {
	switch o {
	case "*":
		return fmt.Errorf("%q would let every web page use the tools: write each origin by itself, such as https://app.example", o)
	case "null":
		return fmt.Errorf("%q is the origin of every file and sandboxed frame: serve the page from an address and write that, such as https://app.example", o)
	}
	if _, ok := parseOrigin(o); ok {
		return nil
	}
	scheme, _, found := strings.Cut(o, "://")
	if !found {
		scheme = "https"
	}
	instead := "each by itself as SCHEME://HOST or SCHEME://HOST:PORT, such as https://app.example"
	if host, ok := hostWithin(o); ok {
		if _, ok := parseOrigin(scheme + "://" + host); ok {
			instead = scheme + "://" + host
		}
	}
	return fmt.Errorf("%q is not the origin of a web page: write %s", o, instead)
}

// hostWithin guesses which host was meant by a URL or a bare IPv6 address.
func hostWithin(s string) (string, bool) {
	if _, rest, found := strings.Cut(s, "://"); found {
		s = rest
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		s = s[:i]
	}
	s = s[strings.LastIndexByte(s, '@')+1:]
	if addr, err := netip.ParseAddr(s); err == nil && addr.Is6() {
		s = "[" + s + "]"
	}
	a, ok := parseAuthority(s)
	return s, ok && a.callable()
}
