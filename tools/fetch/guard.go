package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
)

// A guard decides which addresses are dialled. It judges the very address that the
// connection is made to, after the name was looked up, at every hop: what a name
// meant a moment before says nothing (DNS rebinding).
type guard struct {
	allow  Allow
	dialer net.Dialer // Control is set per dial
}

// name judges a host and a port by the URL alone, before anything is looked up.
func (g *guard) name(t target) error {
	if g.allow.name(t.host, t.port) {
		return nil
	}
	addr, err := netip.ParseAddr(t.host)
	if err != nil {
		if isPrivateName(t.host) {
			return &RefusedError{Host: t.host, Class: "a name of a private network"}
		}
		return g.port(t)
	}
	if g.allow.addr(addr, t.port) {
		return nil
	}
	if class := classOf(addr); class != "" {
		return &RefusedError{Host: t.host, Addr: addr, Class: "an address of " + class}
	}
	return g.port(t)
}

// port refuses what is not the web; a rule for the address may still allow a port of
// a name, which is seen when it is dialled.
func (g *guard) port(t target) error {
	if t.port == 80 || t.port == 443 || g.mayAllowPort(t.port) {
		return nil
	}
	return &RefusedError{Host: t.host, Port: t.port}
}

func (g *guard) mayAllowPort(port uint16) bool {
	for _, r := range g.allow.rules {
		if r.host == "" && (r.port == 0 || r.port == port) {
			return true
		}
	}
	return false
}

// privateNames are domains that no public name is in: RFC 6761, 6762, 7686, 8375,
// ICANN's reservation of internal, and what home and company networks use.
var privateNames = []string{"localhost", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "onion", "localdomain"}

func isPrivateName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, name := range privateNames {
		if host == name || strings.HasSuffix(host, "."+name) {
			return true
		}
	}
	return !strings.Contains(host, ".") // only search domains make it one of many
}

// dial connects to host:port, if the address it turns out to have may be reached.
func (g *guard) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	d := g.dialer
	d.Control = func(_, address string, _ syscall.RawConn) error { return g.judge(host, address) }
	return d.DialContext(ctx, network, hostport)
}

// judge refuses an address that is about to be dialled for host.
func (g *guard) judge(host, address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return errors.New("the address " + address + " cannot be judged")
	}
	addr, port := at.Addr(), at.Port()
	if g.allow.name(host, port) || g.allow.addr(addr, port) {
		return nil
	}
	if class := classOf(addr); class != "" {
		return &RefusedError{Host: host, Addr: addr, Class: "at an address of " + class}
	}
	if port != 80 && port != 443 {
		return &RefusedError{Host: host, Addr: addr, Port: port}
	}
	return nil
}
