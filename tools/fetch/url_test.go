package fetch

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestURLsAsPeopleAndModelsWriteThem(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.org":                   "https://example.org",
		" <https://example.org/a b> ":           "https://example.org/a%20b",
		"\"HTTPS://EXAMPLE.org/A?q=1#part\"":    "https://example.org/A?q=1",
		"http://example.org:80/":                "http://example.org/",
		"https://example.org:443/x":             "https://example.org/x",
		"https://example.org:8443/x":            "https://example.org:8443/x",
		"https://bücher.example/ü":              "https://xn--bcher-kva.example/%C3%BC",
		"https://a_b.example.org/":              "https://a_b.example.org/",
		"http://[2606:4700::1111]:8080/":        "http://[2606:4700::1111]:8080/",
		"https://example.org/a%2Fb?x=%20&y=a+b": "https://example.org/a%2Fb?x=%20&y=a+b",
		"https://example.org./":                 "https://example.org./",
		"https://１２７.example.org/":              "https://127.example.org/",
	} {
		u, err := ParseURL(in)
		if assert.NoError(t, err, in) {
			assert.Equal(t, want, u.String(), in)
		}
	}
}

func TestURLsThatAreRefusedByTheirText(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "the URL is empty",
		"example.org":                   "begin it with https://",
		"/etc/passwd":                   "begin it with https://",
		"ftp://example.org/":            "only http(s) URLs are supported",
		"file:///etc/passwd":            "only http(s) URLs are supported",
		"gopher://127.0.0.1:1/_x":       "only http(s) URLs are supported",
		"data:text/html,x":              "only http(s) URLs are supported",
		"javascript:alert(1)":           "only http(s) URLs are supported",
		"unix:///var/run/docker.sock":   "only http(s) URLs are supported",
		"localhost:80/x":                "only http(s) URLs are supported",
		"http://user@example.org/":      "user name or password",
		"http://user:pw@example.org/":   "user name or password",
		"http://127.0.0.1@example.org/": "user name or password",
		"http:///x":                     "no host",
		"http:example.org":              "no host",
		"http://example.org:0/":         "port \"0\"",
		"http://example.org:99999/":     "port \"99999\"",
		"http://example.org:80:80/":     "cannot be read",
		"http://exa\nmple.org/":         "control characters",
		"http://example.org/\x00":       "control characters",
		"http://-a.org/":                "no valid name",
		"http://a..org/":                "no valid name",
		"http://exa%mple.org/":          "cannot be read",
		"http://0x7f000001/":            "is a number",
		"http://2130706433/":            "is a number",
		"http://127.1/":                 "is a number",
		"http://0/":                     "is a number",
		"http://0177.0.0.1/":            "is a number",
		"http://127.0.0.0x1/":           "is a number",
		"http://127.0.0.1./":            "is a number",
	} {
		_, err := ParseURL(in)
		assert.ErrorContains(t, err, want, in)
	}
}

// Nothing is dialled in this test: the guard answers what it would.
func TestWhatTheGuardRefuses(t *testing.T) {
	refusal := func(g *guard, raw string, address string) error {
		u, err := parseTarget(raw)
		if err != nil {
			return err
		}
		if err := g.name(u); err != nil || address == "" {
			return err
		}
		return g.judge(u.host, netip.AddrPortFrom(netip.MustParseAddr(address), u.port).String())
	}
	allowing := func(rules ...string) *guard {
		a, err := ParseAllow(rules...)
		require.NoError(t, err)
		return &guard{allow: a}
	}
	for _, row := range []struct {
		why     string
		g       *guard
		url     string
		address string // that the name turns out to have
		want    string // in the error; "" where it may pass
	}{
		{"a public name", allowing(), "https://example.org/", "93.184.216.34", ""},
		{"a name that leads inside", allowing(), "https://example.org/", "10.0.0.1", "example.org is at an address of a private network"},
		{"a name that leads to this machine", allowing(), "https://example.org/", "127.0.0.1", "--fetch-allow example.org"},
		{"a mapped address", allowing(), "https://example.org/", "::ffff:93.184.216.34", "IPv4 address inside"},
		{"an address", allowing(), "http://127.0.0.1/", "", "127.0.0.1 is an address of this machine"},
		{"an address in other digits", allowing(), "http://１２７.0.0.1/", "", "127.0.0.1 is an address of this machine"},
		{"an address with other dots", allowing(), "http://127。0。0。1/", "", "127.0.0.1 is an address of this machine"},
		{"an IPv6 address", allowing(), "http://[::1]/", "", "this machine"},
		{"a mapped address in brackets", allowing("127.0.0.1"), "http://[::ffff:7f00:1]/", "", "IPv4 address inside"},
		{"6to4", allowing("127.0.0.1"), "http://[2002:7f00:1::]/", "", "IPv4 address inside"},
		{"a zone", allowing(), "http://[fe80::1%25lo]/", "", "network interface"},
		{"localhost", allowing(), "http://localhost/", "", "a name of a private network"},
		{"below localhost", allowing(), "http://a.localhost/", "", "a name of a private network"},
		{"a metadata service by name", allowing(), "http://metadata.google.internal/", "", "a name of a private network"},
		{"one label", allowing(), "http://intranet/", "", "a name of a private network"},
		{"another port", allowing(), "http://example.org:8080/", "93.184.216.34", "port 8080 of example.org is not reached"},
		{"another port of an address", allowing(), "http://93.184.216.34:22/", "", "port 22"},
		{"https on 80 is the web", allowing(), "https://example.org:80/", "93.184.216.34", ""},

		{"allowed by name", allowing("localhost"), "http://localhost:8080/", "127.0.0.1", ""},
		{"allowed by name at a port", allowing("example.org:8080"), "http://example.org:8080/", "10.0.0.1", ""},
		{"the name at another port", allowing("example.org:8080"), "http://example.org:8081/", "10.0.0.1", "port 8081"},
		{"allowed by name in another case", allowing("Example.org."), "http://EXAMPLE.org/", "10.0.0.1", ""},
		{"another name at that address", allowing("example.org"), "http://evil.example/", "10.0.0.1", "evil.example is at an address of a private network"},
		{"allowed by range", allowing("10.0.0.0/8"), "http://example.org:9000/", "10.1.2.3", ""},
		{"out of range", allowing("10.0.0.0/8"), "http://example.org/", "11.0.0.1", ""},
		{"another port out of range", allowing("10.0.0.0/8"), "http://example.org:9000/", "11.0.0.1", "port 9000"},
		{"allowed by range and port", allowing("10.0.0.0/8:9000"), "http://10.0.0.1:9000/", "10.0.0.1", ""},
		{"in range at another port", allowing("10.0.0.0/8:9000"), "http://10.0.0.1/", "", "a private network"},
		{"allowed IPv6", allowing("[fd00::/8]:80"), "http://[fd00::1]/", "fd00::1", ""},
		{"a zone is never allowed", allowing("fe80::/10"), "http://[fe80::1%25lo]/", "", "network interface"},
		{"a private name that leads into an allowed range is not looked up", allowing("10.0.0.0/8"), "http://intranet/", "10.0.0.1", "a name of a private network"},
	} {
		err := refusal(row.g, row.url, row.address)
		if row.want == "" {
			assert.NoError(t, err, row.why)
			continue
		}
		assert.ErrorContains(t, err, row.want, row.why)
	}
}

func TestParseAllow(t *testing.T) {
	for _, ok := range []string{"localhost", "example.org", "example.org:8080", "a_b-c.example.org.", "127.0.0.1", "127.0.0.1:1", "10.0.0.0/8",
		"10.0.0.0/8:443", "::1", "fd00::/8", "[::1]", "[::1]:80", "[fd00::/8]:80"} {
		_, err := ParseAllow(ok)
		assert.NoError(t, err, ok)
	}
	for _, bad := range []string{"", ":80", "example.org:", "example.org:0", "example.org:65536", "example.org:x", "http://example.org", "*.example.org",
		"::ffff:127.0.0.1", "fe80::1%lo", "2130706433", "127.1", "-a.org", "a..org", "10.0.0.0/33", "fd00::/129", "[::1", "[::1]80", "[::1]:", "a b", "user@host"} {
		_, err := ParseAllow(bad)
		assert.Error(t, err, bad)
	}
}

// However a URL is spelled, what is dialled is judged, and the URL is one that a
// parser reads the same way.
func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"https://example.org/a?b#c", "http://127.0.0.1#@example.com/", "http://[::1]:80/", "http://１２７。0.0.1", "http://a%00b/", "http://0x7f.1/", "//x", "http://a\\@b/", "http://xn--a/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		one, err := parseTarget(s)
		if err != nil {
			return
		}
		two, err := parseTarget(one.url.String())
		if err != nil || two.host != one.host || two.port != one.port || two.url.String() != one.url.String() {
			t.Fatalf("%q is read as %v, that as %v, %v", s, one.url, two.url, err)
		}
		if one.url.User != nil || one.url.Fragment != "" || one.url.Hostname() != one.host {
			t.Fatalf("%q: %+v", s, one.url)
		}
		if addr, err := netip.ParseAddr(one.host); err == nil && classOf(addr) != "" && (&guard{}).name(one) == nil {
			t.Fatalf("%q passes", s)
		}
	})
}
