package fetch

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Allow names what may be reached beyond the public internet and ports 80 and 443.
// The zero value allows nothing more.
type Allow struct{ rules []allowed }

// allowed is a name or a range, at one port or at all.
type allowed struct {
	host   string // in lower case, without a dot at the end; "" for a range
	prefix netip.Prefix
	port   uint16 // 0: any
}

// ParseAllow reads rules of the form HOST, HOST:PORT, ADDRESS, [ADDRESS]:PORT, CIDR,
// CIDR:PORT and [CIDR]:PORT. A name stands for all addresses it may have.
func ParseAllow(rules ...string) (Allow, error) {
	var a Allow
	for _, s := range rules {
		r, err := parseAllowed(s)
		if err != nil {
			return Allow{}, fmt.Errorf("%s: %w", s, err)
		}
		a.rules = append(a.rules, r)
	}
	return a, nil
}

func parseAllowed(s string) (allowed, error) {
	host, port, err := splitPort(s)
	if err != nil {
		return allowed{}, err
	}
	var r allowed
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return allowed{}, fmt.Errorf("%q is no port: want 1 to 65535", port)
		}
		r.port = uint16(n)
	}
	if strings.Contains(host, "/") {
		if r.prefix, err = netip.ParsePrefix(host); err != nil {
			return allowed{}, fmt.Errorf("%q is no network: want an address and a length, such as 10.0.0.0/8", host)
		}
		r.prefix = r.prefix.Masked()
		return r, nil
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" || addr.Is4In6() {
			return allowed{}, fmt.Errorf("%q cannot be allowed: write the address itself, without a zone and not as one in another", host)
		}
		r.prefix = netip.PrefixFrom(addr.WithZone(""), addr.BitLen())
		return r, nil
	}
	if !isHostName(host) || endsInNumber(host) {
		return allowed{}, fmt.Errorf("%q is no host name or address", host)
	}
	r.host = strings.ToLower(strings.TrimSuffix(host, "."))
	return r, nil
}

// splitPort parts HOST:PORT. An IPv6 address with a port stands in brackets.
func splitPort(s string) (host, port string, err error) {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		host, port, ok = strings.Cut(rest, "]")
		if !ok || port != "" && !strings.HasPrefix(port, ":") {
			return "", "", fmt.Errorf("want [ADDRESS]:PORT")
		}
		if port == ":" {
			return "", "", fmt.Errorf("the port is missing after the colon")
		}
		return host, strings.TrimPrefix(port, ":"), nil
	}
	if strings.Count(s, ":") != 1 { // none, or a bare IPv6 address
		return s, "", nil
	}
	host, port, _ = strings.Cut(s, ":")
	if port == "" {
		return "", "", fmt.Errorf("the port is missing after the colon")
	}
	return host, port, nil
}

func isHostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !isLabelByte(c) {
				return false
			}
		}
	}
	return true
}

func isLabelByte(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// name tells whether a rule names the host itself, so that all of its addresses are
// fine.
func (a Allow) name(host string, port uint16) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, r := range a.rules {
		if r.host != "" && r.host == host && (r.port == 0 || r.port == port) {
			return true
		}
	}
	return false
}

// addr tells whether a rule has the address. One that hides an IPv4 address in IPv6
// is not that address.
func (a Allow) addr(addr netip.Addr, port uint16) bool {
	if addr.Zone() != "" {
		return false
	}
	for _, r := range a.rules {
		if r.host == "" && r.prefix.Contains(addr) && (r.port == 0 || r.port == port) {
			return true
		}
	}
	return false
}
