package fetch

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// A target is where a request goes.
type target struct {
	url  *url.URL // host in ASCII and lower case, no fragment
	host string   // without port and brackets
	port uint16
}

// ParseURL reads a URL as people and models write it, and gives the one that is
// asked for: without blanks and brackets around it, host in ASCII (UTS 46), no
// fragment. Errors: [ErrScheme], [ErrUserinfo], [*URLError].
func ParseURL(s string) (*url.URL, error) {
	t, err := parseTarget(s)
	if err != nil {
		return nil, err
	}
	return t.url, nil
}

func parseTarget(s string) (target, error) {
	s = strings.Trim(s, " \t\r\n\"'`<>")
	switch {
	case s == "":
		return target{}, &URLError{"the URL is empty"}
	case len(s) > maxURL:
		return target{}, &URLError{"the URL is longer than " + strconv.Itoa(maxURL) + " bytes"}
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return target{}, &URLError{"the URL holds control characters"}
	}
	u, err := url.Parse(strings.ReplaceAll(s, " ", "%20"))
	if err != nil {
		return target{}, &URLError{"the URL cannot be read: " + reasonOf(err)}
	}
	return checkTarget(u)
}

// reasonOf is what is wrong, without the URL itself.
func reasonOf(err error) string {
	if bad, ok := err.(*url.Error); ok {
		return bad.Err.Error()
	}
	return err.Error()
}

// checkTarget judges a URL by its text alone.
func checkTarget(u *url.URL) (target, error) {
	scheme := strings.ToLower(u.Scheme)
	if scheme == "" && u.Host == "" {
		return target{}, &URLError{"the URL has no scheme: begin it with https://"}
	}
	if scheme != "http" && scheme != "https" {
		return target{}, ErrScheme
	}
	if u.User != nil {
		return target{}, ErrUserinfo
	}
	if u.Opaque != "" || u.Hostname() == "" {
		return target{}, &URLError{"the URL has no host"}
	}
	host, err := hostOf(u.Hostname())
	if err != nil {
		return target{}, err
	}
	port, err := portOf(u.Port(), scheme)
	if err != nil {
		return target{}, err
	}
	clean := *u
	clean.Scheme, clean.Fragment, clean.RawFragment = scheme, "", ""
	clean.RawQuery = escapedQuery(u.RawQuery)
	clean.Host = hostPort(host, port, scheme)
	return target{&clean, host, port}, nil
}

// escapedQuery is a query with all but ASCII, and what no URL holds, as percent escapes
// (WHATWG URL, query percent-encode set).
func escapedQuery(q string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(q) {
		if c := q[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>'`", c) >= 0 {
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// hostOf is a host in ASCII. An address in a spelling that only some programs take
// for one (0x7f.1, 127.1, 2130706433) is no host: who reads it decides where it leads.
func hostOf(name string) (string, error) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.String(), nil
	}
	host, err := idna.Lookup.ToASCII(name)
	if err != nil || !isHostName(host) {
		// Names with an underscore are against the rules, and in use.
		if !isHostName(name) {
			return "", &URLError{"the URL's host is no valid name"}
		}
		host = strings.ToLower(name)
	}
	if addr, err := netip.ParseAddr(host); err == nil { // from other digits or dots
		return addr.String(), nil
	}
	if endsInNumber(host) {
		return "", &URLError{"the URL's host is a number, not a name; write an address as four decimal numbers with dots"}
	}
	return host, nil
}

// endsInNumber tells whether the last part of a host is a number, as the URL
// standard has it (WHATWG URL, "ends in a number"): then it is meant as an address.
func endsInNumber(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(last, "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}

func portOf(s, scheme string) (uint16, error) {
	switch {
	case s != "":
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil || n == 0 {
			return 0, &URLError{"the URL's port " + strconv.Quote(s) + " is none"}
		}
		return uint16(n), nil
	case scheme == "http":
		return 80, nil
	}
	return 443, nil
}

// hostPort is the host of a URL, with its port where that is not the scheme's own.
func hostPort(host string, port uint16, scheme string) string {
	if strings.Contains(host, ":") {
		host = "[" + strings.ReplaceAll(host, "%", "%25") + "]"
	}
	if own, _ := portOf("", scheme); port == own {
		return host
	}
	return host + ":" + strconv.Itoa(int(port))
}

// sameSite tells whether a redirect stays where the user sent us: the same host, with
// or without "www.", at the same port, or from http to https at their own ports.
func sameSite(from, to target) bool {
	bare := func(t target) string { return strings.TrimPrefix(strings.TrimSuffix(t.host, "."), "www.") }
	if bare(from) != bare(to) {
		return false
	}
	return from.port == to.port || from.port == 80 && to.port == 443 && to.url.Scheme == "https"
}
