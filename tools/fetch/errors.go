package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Errors of [Client.Get] that callers tell apart. All others say what the network said.
var (
	ErrScheme    = errors.New("only http(s) URLs are supported")
	ErrTimeout   = fmt.Errorf("Request timed out (%v)", Timeout)
	ErrUserinfo  = errors.New("URLs with a user name or password are not allowed")
	ErrRedirects = fmt.Errorf("more than %d redirects", maxRedirects)
	ErrDowngrade = errors.New("the page redirects from https to http, which is not followed")
	ErrHeader    = fmt.Errorf("the answer's header is larger than %d KiB", maxHeader>>10)
	ErrNotFound  = errors.New("there is no host of that name")
)

// Limits of a call.
const (
	Timeout      = 30 * time.Second // for all of it
	MaxBody      = 10 << 20         // bytes of a body, decoded
	maxHeader    = 64 << 10         // bytes
	maxRedirects = 5
	maxURL       = 8 << 10 // bytes
	maxPerHost   = 2       // calls at a time
)

// A RefusedError says that an address is not of the public internet, or a port not
// of the web. Nothing was sent to it.
type RefusedError struct {
	Host  string     // as the URL has it
	Addr  netip.Addr // that the host has; the zero value where the name alone decided
	Port  uint16     // not 0: the port is why
	Class string     // what the address is one of
}

func (e *RefusedError) Error() string {
	if e.Port != 0 {
		return fmt.Sprintf("port %d of %s is not reached, only 80 and 443 are. The user can allow it with --fetch-allow %s", e.Port, e.Host, joinPort(e.Host, e.Port))
	}
	if addr, err := netip.ParseAddr(e.Host); err == nil && (addr.Zone() != "" || addr.Is4In6()) {
		return fmt.Sprintf("%s is %s, not the public internet, and is not reached", e.Host, e.Class)
	}
	return fmt.Sprintf("%s is %s, not the public internet, and is not reached. The user can allow it with --fetch-allow %s", e.Host, e.Class, e.Host)
}

func joinPort(host string, port uint16) string {
	if _, err := netip.ParseAddr(host); err == nil && host[0] != '[' {
		return netip.AddrPortFrom(netip.MustParseAddr(host), port).String()
	}
	return fmt.Sprintf("%s:%d", host, port)
}

// A URLError says what is wrong with a URL.
type URLError struct{ Reason string }

func (e *URLError) Error() string { return e.Reason }
