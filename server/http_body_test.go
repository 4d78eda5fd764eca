package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (b *budget) rest() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

// posting is a POST of body with the right headers.
func posting(body io.Reader) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", body)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// padded is an initialize of n bytes.
func padded(n int) string {
	head, tail, _ := strings.Cut(strings.TrimSpace(initialize("2025-11-25", "{}")), `"clientInfo"`)
	head, tail = head+`"pad":"`, `","clientInfo"`+tail
	return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
}

func TestContentTypes(t *testing.T) {
	const not, packed = "Invalid request: Content-Type must be application/json, in UTF-8", "Invalid request: the body must not be compressed"
	for _, c := range []struct{ name, kind, encoding, want string }{
		{"JSON", "application/json", "", ""},
		{"types have no case", "Application/JSON", "", ""},
		{"with its charset", "application/json; charset=utf-8", "", ""},
		{"in any case", "application/json;charset=UTF-8", "", ""},
		{"quoted", `application/json; charset="utf-8"`, "", ""},
		{"with another parameter", "application/json; profile=x", "", ""},
		{"with blanks around it", "  application/json ; charset=utf-8 ", "", ""},
		{"with an end that says nothing", "application/json;", "", ""},
		{"not compressed, in so many words", "application/json", "Identity", ""},
		{"none", "", "", not},
		{"what a web page may send without asking", "text/plain", "", not},
		{"a form", "application/x-www-form-urlencoded", "", not},
		{"a form of parts", "multipart/form-data; boundary=x", "", not},
		{"what only begins like it", "application/json-rpc", "", not},
		{"what only ends like it", "application/problem+json", "", not},
		{"a kind of JSON that is not ours", "text/json", "", not},
		{"anything", "*/*", "", not},
		{"JSON in a parameter", "text/plain; x=application/json", "", not},
		{"two", "application/json, text/plain", "", not},
		{"two, JSON last", "text/plain, application/json", "", not},
		{"another charset", "application/json; charset=utf-16", "", not},
		{"another charset that is ASCII too", "application/json; charset=iso-8859-1", "", not},
		{"a charset with an underscore", "application/json; charset=utf_8", "", not},
		{"two charsets", "application/json; charset=utf-8; charset=utf-16", "", not},
		{"a parameter that is none", "application/json; charset", "", not},
		{"compressed", "application/json", "gzip", packed},
		{"compressed otherwise", "application/json", "br", packed},
		{"compressed twice", "application/json", "gzip, deflate", packed},
		{"compressed, and then not", "application/json", "gzip, identity", packed},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newFixture().server().NewHTTP(HTTPOptions{})
			r := posting(strings.NewReader(padded(1000)))
			r.Header.Set("Content-Type", c.kind)
			if c.kind == "" {
				r.Header.Del("Content-Type")
			}
			if c.encoding != "" {
				r.Header.Set("Content-Encoding", c.encoding)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if c.want == "" {
				assert.Equal(t, http.StatusOK, w.Code, w.Body)
				return
			}
			assert.Equal(t, http.StatusUnsupportedMediaType, w.Code)
			assert.JSONEq(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":%q}}`, c.want), w.Body.String())
			assert.Equal(t, 1000, remaining(t, r.Body), "nothing of it was read")
			assert.Zero(t, h.sessions.count())
		})
	}
}

// remaining is how much of a body was not read.
func remaining(t *testing.T, body io.Reader) int {
	n, err := io.Copy(io.Discard, body)
	require.NoError(t, err)
	return int(n)
}

// unsized hides from net/http how long a body is, so that it is sent in chunks.
type unsized struct{ io.Reader }

func TestTheLongestMessage(t *testing.T) {
	for _, c := range []struct {
		name   string
		body   func() io.Reader
		status int
	}{
		{"passes", func() io.Reader { return strings.NewReader(padded(maxMessage)) }, http.StatusOK},
		{"passes, and one whose length is not known too", func() io.Reader { return unsized{strings.NewReader(padded(1 << 20))} }, http.StatusOK},
		{"and a byte is too long", func() io.Reader { return strings.NewReader(padded(maxMessage + 1)) }, http.StatusRequestEntityTooLarge},
		{"and a byte is too long in chunks", func() io.Reader { return unsized{strings.NewReader(padded(maxMessage + 1))} }, http.StatusRequestEntityTooLarge},
		{"and what never ends is too long", func() io.Reader { return &many{1 << 40, ' '} }, http.StatusRequestEntityTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newFixture().server().NewHTTP(HTTPOptions{})
			w := httptest.NewRecorder()
			h.ServeHTTP(w, posting(c.body()))
			require.Equal(t, c.status, w.Code, w.Body)
			if c.status == http.StatusRequestEntityTooLarge {
				assert.JSONEq(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: a message is longer than 8388608 bytes"}}`, w.Body.String())
			}
			assert.Equal(t, maxAllHeld, h.bodies.rest(), "what was taken was given back")
		})
	}
}

func TestABodyThatIsAnnouncedTooLongIsNotRead(t *testing.T) {
	h := newFixture().server().NewHTTP(HTTPOptions{})
	r := posting(errorBody{})
	r.ContentLength = maxMessage + 1
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	assert.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
}

// inPieces gives what it has in small pieces, and err at the end.
type inPieces struct {
	left, size int
	err        error
}

func (p *inPieces) Read(b []byte) (int, error) {
	n := copy(b, bytes.Repeat([]byte("x"), min(p.left, p.size)))
	if p.left -= n; p.left == 0 {
		return n, p.err // with what is last, as a reader may
	}
	return n, nil
}

func TestMemoryIsTakenAsABodyComes(t *testing.T) {
	for _, c := range []struct {
		name        string
		size, piece int
		most        int // that may be taken
	}{
		{"nothing", 0, 1, 0},
		{"a short message takes none", 511, 512, 0},
		{"a little more", 513, 1, bodyStep},
		{"a step", bodyStep, 1000, 2 * bodyStep},
		{"a step and a byte", bodyStep + 1, 1000, 2 * bodyStep},
		{"a megabyte", 1 << 20, 4096, 2 << 20},
		{"a byte more", 1<<20 + 1, 4096, 2 << 20},
		{"the longest in one piece", maxMessage, maxMessage, maxMessage + 1},
		{"the longest in small pieces", maxMessage, 999, maxMessage + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &HTTP{bodies: &budget{left: maxAllHeld}}
			text, taken, fail := h.read(&inPieces{c.size, c.piece, io.EOF})
			require.Nil(t, fail)
			require.Len(t, text, c.size)
			assert.Equal(t, maxAllHeld-taken, h.bodies.rest(), "what it says it took is what it took")
			assert.LessOrEqual(t, taken, c.most)
			assert.GreaterOrEqual(t, taken, c.size-512, "all but the first bytes is counted")
			assert.Equal(t, strings.Repeat("x", c.size), string(text))
		})
	}
}

func TestWhoAnnouncesMuchAndSendsLittleTakesLittle(t *testing.T) {
	h := newFixture().server().NewHTTP(HTTPOptions{})
	server := httptest.NewServer(h)
	defer server.Close()
	for _, c := range []struct{ sent, taken int }{{0, 0}, {500, 0}, {100000, 4 * bodyStep}} {
		t.Run(fmt.Sprint(c.sent), func(t *testing.T) {
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			require.NoError(t, err)
			defer conn.Close()
			_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", maxMessage, strings.Repeat(" ", c.sent))
			require.NoError(t, err)
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			answer, err := io.ReadAll(conn)
			require.NoError(t, err)
			assert.Contains(t, string(answer), "408 Request Timeout")
			assert.Contains(t, string(answer), "the body ended too early, or took longer than 30s")
			assert.Equal(t, maxAllHeld, h.bodies.rest(), "what was taken was given back")
		})
		t.Run(fmt.Sprint(c.sent, " while it waits"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &HTTP{bodies: &budget{left: maxAllHeld}}
				body, client := io.Pipe()
				go func() {
					_, _, fail := h.read(body)
					assert.Equal(t, http.StatusRequestTimeout, fail.status)
				}()
				_, _ = io.CopyN(client, &many{c.sent, ' '}, int64(c.sent))
				synctest.Wait()
				assert.GreaterOrEqual(t, h.bodies.rest(), maxAllHeld-c.taken)
				client.CloseWithError(io.ErrUnexpectedEOF)
			})
		})
	}
}

func TestWhatIsTakenIsGivenBack(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		body   io.Reader
		left   int
		status int
		code   int
	}{
		{"of a message that was served", strings.NewReader(padded(100000)), maxAllHeld, http.StatusOK, 0},
		{"of a message that is none", strings.NewReader(strings.Repeat("x", 100000)), maxAllHeld, http.StatusBadRequest, mcp.PARSE_ERROR},
		{"of a message without a session", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + strings.Repeat(" ", 100000)), maxAllHeld, http.StatusBadRequest, mcp.INVALID_REQUEST},
		{"of a body that is too long", &many{maxMessage + 1, ' '}, maxAllHeld, http.StatusRequestEntityTooLarge, mcp.PARSE_ERROR},
		{"of a body that was cut off", &inPieces{100000, 1000, io.ErrUnexpectedEOF}, maxAllHeld, http.StatusRequestTimeout, mcp.PARSE_ERROR},
		{"of a body that cannot be read", &inPieces{100000, 1000, broken}, maxAllHeld, http.StatusRequestTimeout, mcp.PARSE_ERROR},
		{"of a body for which nothing is left", &many{100000, ' '}, bodyStep - 1, http.StatusServiceUnavailable, codeBusy},
		{"of a body for which too little is left", &many{maxMessage, ' '}, 1 << 20, http.StatusServiceUnavailable, codeBusy},
		{"of a body that takes all there is", strings.NewReader(padded(60000)), bodyStep, http.StatusOK, 0},
		{"of a small message, which needs nothing", strings.NewReader(padded(400)), 0, http.StatusOK, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newFixture().server().NewHTTP(HTTPOptions{})
			h.bodies.left = c.left
			w := httptest.NewRecorder()
			h.ServeHTTP(w, posting(c.body))
			assert.Equal(t, c.status, w.Code, w.Body)
			assert.Equal(t, c.left, h.bodies.rest())
			if c.code != 0 {
				assert.Contains(t, w.Body.String(), fmt.Sprintf(`"error":{"code":%d,`, c.code))
			}
			if c.status == http.StatusServiceUnavailable {
				assert.Contains(t, w.Body.String(), "Server busy: the messages in work are too large together; try again")
				assert.Equal(t, "1", w.Header().Get("Retry-After"))
			}
		})
	}
}

func TestManyBodiesShareTheirMemory(t *testing.T) {
	h := &HTTP{bodies: &budget{left: 20 << 20}}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			size := i << 14
			text, taken, fail := h.read(&inPieces{size, 8192, io.EOF})
			defer func() { h.bodies.give(taken) }()
			assert.GreaterOrEqual(t, h.bodies.rest(), 0)
			if fail != nil {
				assert.Equal(t, http.StatusServiceUnavailable, fail.status)
				return
			}
			assert.Len(t, text, size)
		})
	}
	all.Wait()
	assert.Equal(t, 20<<20, h.bodies.rest())
}

// oneConn is a listener with one connection.
type oneConn struct{ conns chan net.Conn }

func (l *oneConn) Accept() (net.Conn, error) {
	if c, ok := <-l.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (l *oneConn) Close() error { close(l.conns); return nil }

func TestASlowClientIsWaitedForABodyAndNoLonger(t *testing.T) {
	for _, c := range []struct {
		name  string
		pause time.Duration // before each byte of the last eleven
		want  string
	}{
		{"in time", bodyWait / 12, "200 OK"},
		{"too late, though it never stops", bodyWait / 10, "408 Request Timeout"},
		{"never", time.Hour, "408 Request Timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newFixture().server().NewHTTP(HTTPOptions{})
				client, server := net.Pipe()
				l := &oneConn{make(chan net.Conn, 1)}
				l.conns <- server
				hs := &http.Server{Handler: h}
				go func() { _ = hs.Serve(l) }()
				text := padded(1000)
				began := time.Now()
				var sender sync.WaitGroup
				sender.Go(func() {
					_, _ = fmt.Fprintf(client, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text[:len(text)-11])
					for _, last := range text[len(text)-11:] {
						time.Sleep(c.pause)
						if _, err := fmt.Fprintf(client, "%c", last); err != nil {
							return
						}
					}
				})
				answer := make([]byte, 4096)
				n, err := client.Read(answer)
				require.NoError(t, err)
				assert.Contains(t, string(answer[:n]), c.want)
				assert.LessOrEqual(t, time.Since(began), bodyWait)
				client.Close()
				hs.Close()
				sender.Wait()
			})
		})
	}
}
