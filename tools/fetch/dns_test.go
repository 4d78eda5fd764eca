package fetch

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers on this machine: every name has the address that comes next.
func nameServer(t *testing.T, addresses ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	var asked atomic.Int32
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative = true, true
			m.Additionals = nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				i := int(asked.Add(1)) - 1
				addr := netip.MustParseAddr(addresses[min(i, len(addresses)-1)])
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: addr.As4()},
				}}
			}
			if b, err := m.Pack(); err == nil {
				conn.WriteTo(b, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// The name leads to this machine by the time it is dialled, whatever it meant before;
// here it is found out with a real lookup.
func TestANameThatLeadsInsideIsNotDialled(t *testing.T) {
	var hits atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/end", http.StatusFound)
			return
		}
		io.WriteString(w, "inside")
	}))
	defer s.Close()
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]

	for _, address := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254"} {
		c := New(Options{Resolver: nameServer(t, address)})
		_, err := c.Get(t.Context(), Request{URL: "http://rebind.example/"})
		var refused *RefusedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, address, refused.Addr.String())
		require.Equal(t, "rebind.example", refused.Host)
	}

	// A name that the user allows is reached, whatever it means.
	allow, err := ParseAllow("allowed.example:" + port)
	require.NoError(t, err)
	c := New(Options{Allow: allow, Resolver: nameServer(t, "127.0.0.1", "127.0.0.1", "10.0.0.1")})
	res, err := c.Get(t.Context(), Request{URL: fmt.Sprintf("http://allowed.example:%s/again", port)})
	require.NoError(t, err)
	require.Equal(t, "inside", string(res.Body))
	_, err = c.Get(t.Context(), Request{URL: fmt.Sprintf("http://other.example:%s/", port)})
	require.ErrorContains(t, err, "port "+port+" of other.example is not reached")
	require.EqualValues(t, 2, hits.Load())

	// One that leads elsewhere at the next hop is judged anew.
	allow, err = ParseAllow("127.0.0.1:" + port)
	require.NoError(t, err)
	c = New(Options{Allow: allow, Resolver: nameServer(t, "127.0.0.1", "127.0.0.2")})
	_, err = c.Get(t.Context(), Request{URL: fmt.Sprintf("http://rebind.example:%s/again", port)})
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "127.0.0.2", refused.Addr.String())
	require.EqualValues(t, 3, hits.Load(), "the second hop was not sent")
}
