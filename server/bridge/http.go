package bridge

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
)

const (
	dialTimeout    = 10 * time.Second
	maxHeaderBytes = 64 << 10
)

// newHTTP is a connection to a server's streamable HTTP address. listen: also for
// what it says unasked, which only revisions up to 2025-11-25 do this way.
func newHTTP(e *Entry, agent string, listen bool) (*transport.StreamableHTTP, func(), error) {
	pool := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        90 * time.Second,
		ForceAttemptHTTP2:      true,
	}
	options := []transport.StreamableHTTPCOption{
		transport.WithHTTPBasicClient(&http.Client{Transport: &visitor{pool, agent, e.Headers}, CheckRedirect: sameServer}),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)), // what fails is told to who asked
	}
	if listen {
		options = append(options, transport.WithContinuousListening())
	}
	t, err := transport.NewStreamableHTTP(e.URL, options...)
	return t, pool.CloseIdleConnections, err
}

// sameServer lets no redirect carry the configured headers elsewhere.
func sameServer(req *http.Request, via []*http.Request) error {
	switch first := via[0].URL; {
	case len(via) >= 5:
		return errors.New("it redirects again and again")
	case req.URL.Host != first.Host || first.Scheme == "https" && req.URL.Scheme != "https":
		return fmt.Errorf("it redirects to %s, another server; put that url into the configuration if it is right", req.URL.Redacted())
	}
	return nil
}

// visitor says who we are in each request, and bounds each answer. It sets the
// configured headers itself, for mcp-go leaves them out of some requests.
type visitor struct {
	http.RoundTripper
	agent   string
	headers map[string]string
}

func (v *visitor) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", v.agent)
	for name, value := range v.headers {
		if http.CanonicalHeaderKey(name) == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	resp, err := v.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	var r io.Reader = &limited{resp.Body, maxMessage}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		r = &bounded{r: resp.Body, events: true}
	}
	resp.Body = &body{r, resp.Body}
	return resp, nil
}

type body struct {
	io.Reader
	io.Closer
}

// limited fails after a number of bytes, where io.LimitReader would end.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("it sent a message of more than %d MiB", maxMessage>>20)
	}
	return n, err
}
