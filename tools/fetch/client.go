// Package fetch gets pages of the public internet for a model: guarded, so that no
// URL, name or redirect leads into the user's machine or network, and bounded in
// time, size and redirects. It sends no cookies, credentials or referrers, obeys no
// proxy of the environment, and keeps no connection.
package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// Options shape a Client.
type Options struct {
	Allow     Allow
	UserAgent string
	// Roots are the certificates that are trusted; nil: those of the system.
	Roots *x509.CertPool
	// Resolver looks names up; nil: the system's.
	Resolver *net.Resolver
}

// A Client gets pages. Safe for concurrent use.
type Client struct {
	guard     guard
	transport *http.Transport
	userAgent string
	hosts     hosts
	timeout   time.Duration
}

// New makes a Client.
func New(o Options) *Client {
	c := &Client{
		guard:     guard{allow: o.Allow, dialer: net.Dialer{Resolver: o.Resolver, KeepAlive: -1}},
		userAgent: o.UserAgent,
		timeout:   Timeout,
	}
	// HTTP/1.1 alone: each call has a connection of its own, to an address that was
	// judged for it, and its limits are all there are.
	c.transport = &http.Transport{
		Proxy:                  nil,
		DialContext:            c.guard.dial,
		DisableKeepAlives:      true,
		DisableCompression:     true, // decoded here, with a limit
		MaxResponseHeaderBytes: maxHeader,
		TLSClientConfig:        tlsConfig(o.Roots),
	}
	return c
}

// A Request asks for a page.
type Request struct {
	URL    string
	Accept string // media types; "" for any
	// ETag and LastModified, if not empty, are those of what the caller has: the
	// answer may then be that it has not changed.
	ETag, LastModified string
	// Of is the URL that answered with them: only to it they are sent.
	Of string
	// Permit, if not nil, is asked before each request, those after redirects included;
	// its error ends the call.
	Permit func(*url.URL) error
	// Progress, if not nil, is told now and then how many bytes have come, of how
	// many: -1 if that is not known.
	Progress func(read, total int64)
}

// A Response is a page, or what a server answered instead.
type Response struct {
	URL    *url.URL // that it came from, after redirects
	Status int
	Header http.Header
	Body   []byte // decoded; at most MaxBody
	// Cut says why Body is not all of it; "" where it is.
	Cut string
	// NotModified: what the caller has is still right. Body is empty.
	NotModified bool
	// Moved, if not nil, is another site that the page redirects to. It was not
	// followed; Body is empty.
	Moved *url.URL
	Time  time.Time // of the answer
}

// Get gets a page by GET. An HTTP error is a Response like any other. The call ends
// within [Timeout], waiting for a place at a busy host included.
//
// Errors: those of [ParseURL], [*RefusedError], [ErrTimeout], [ErrRedirects],
// [ErrDowngrade], [ErrHeader], [ErrNotFound], the cause of ctx, what the network
// and TLS say.
func (c *Client) Get(ctx context.Context, r Request) (*Response, error) {
	t, err := parseTarget(r.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, ErrTimeout)
	defer cancel()
	for range maxRedirects + 1 {
		res, next, err := c.hop(ctx, t, r)
		if err != nil {
			return nil, worded(ctx, err)
		}
		if next == nil {
			return res, nil
		}
		if !sameSite(t, *next) {
			return &Response{URL: t.url, Status: res.Status, Header: res.Header, Moved: next.url, Time: res.Time}, nil
		}
		t = *next
	}
	return nil, ErrRedirects
}

// hop makes one request; next is where it redirects to.
func (c *Client) hop(ctx context.Context, t target, r Request) (res *Response, next *target, err error) {
	if err := c.guard.name(t); err != nil {
		return nil, nil, err
	}
	if r.Permit != nil {
		if err := r.Permit(t.url); err != nil {
			return nil, nil, err
		}
	}
	leave, err := c.hosts.enter(ctx, t.url.Host)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	answer, err := c.send(ctx, t, r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	res = &Response{URL: t.url, Status: answer.StatusCode, Header: answer.Header, Time: time.Now()}
	switch {
	case isRedirect(answer.StatusCode):
		next, err = redirectOf(t, answer.Header.Get("Location"))
	case answer.StatusCode == http.StatusNotModified && r.Of == t.url.String():
		res.NotModified = true
	case answer.StatusCode == http.StatusNotModified:
		return nil, nil, ErrAnswer // to what was not asked
	default:
		res.Body, res.Cut, err = readBody(ctx, answer, r.Progress)
	}
	return res, next, err
}

// send sends a request, and once more if the connection broke before any answer: a
// GET may be repeated.
func (c *Client) send(ctx context.Context, t target, r Request) (*http.Response, error) {
	req, err := c.request(ctx, t, r)
	if err != nil {
		return nil, err
	}
	res, err := c.transport.RoundTrip(req)
	if err != nil && ctx.Err() == nil && brokeOff(err) {
		res, err = c.transport.RoundTrip(req.Clone(ctx))
	}
	return res, err
}

func (c *Client) request(ctx context.Context, t target, r Request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url.String(), nil)
	if err != nil {
		return nil, &URLError{"the URL cannot be requested: " + reasonOf(err)}
	}
	accept := r.Accept
	if accept == "" {
		accept = "*/*"
	}
	req.Header = http.Header{
		"Accept":          {accept},
		"Accept-Encoding": {acceptEncoding},
		"Accept-Language": {"en, *;q=0.5"},
		"User-Agent":      {c.userAgent},
	}
	if r.Of != t.url.String() {
		return req, nil
	}
	if r.ETag != "" {
		req.Header.Set("If-None-Match", r.ETag)
	}
	if r.LastModified != "" {
		req.Header.Set("If-Modified-Since", r.LastModified)
	}
	return req, nil
}

// brokeOff: the connection ended before the first byte of an answer.
func brokeOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirectOf is where a Location leads from t. It is judged when it is followed.
func redirectOf(t target, location string) (*target, error) {
	if location == "" {
		return nil, &URLError{"the server redirects and does not say where to"}
	}
	if len(location) > maxURL {
		return nil, &URLError{"the server redirects to a URL that is too long"}
	}
	u, err := t.url.Parse(location)
	if err != nil {
		return nil, &URLError{"the server redirects to a URL that cannot be read"}
	}
	next, err := checkTarget(u)
	if err != nil {
		return nil, &redirectError{err}
	}
	if t.url.Scheme == "https" && next.url.Scheme == "http" {
		return nil, ErrDowngrade
	}
	return &next, nil
}

// A redirectError is a fault of where a server redirects to.
type redirectError struct{ err error }

func (e *redirectError) Error() string {
	return "the server redirects to a URL that is refused: " + e.err.Error()
}
func (e *redirectError) Unwrap() error { return e.err }

// worded makes of what net/http says an error of ours, where there is one.
func worded(ctx context.Context, err error) error {
	var refused *RefusedError
	var dns *net.DNSError
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, ErrAnswer):
		return ErrAnswer
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &dns) && dns.IsNotFound:
		return ErrNotFound
	case isHeaderError(err):
		return ErrHeader
	case isOurs(err):
		return err
	}
	return plainFault(err)
}
