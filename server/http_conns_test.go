package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// atOnce is when a test gives up on what needs no time.
const atOnce = 30 * time.Second

func fewConns(most int) *conns { return newConns(slog.New(slog.DiscardHandler), most) }

func (cs *conns) count() int {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return len(cs.open)
}

// lobby is a listener on loopback that lets in so many.
type lobby struct {
	t     *testing.T
	conns *conns
	addr  string
	in    chan net.Conn // those let in, at the server's end
}

func newLobby(t *testing.T, most int) *lobby {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &lobby{t: t, conns: fewConns(most), addr: l.Addr().String(), in: make(chan net.Conn, 100)}
	limited := b.conns.limit(l)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := limited.Accept()
			if err != nil {
				return
			}
			b.in <- c
		}
	}()
	t.Cleanup(func() { limited.Close(); <-ended })
	return b
}

func (b *lobby) dial() *net.TCPConn {
	b.t.Helper()
	c, err := net.Dial("tcp", b.addr)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { c.Close() })
	require.NoError(b.t, c.SetDeadline(time.Now().Add(atOnce)))
	return c.(*net.TCPConn)
}

// enter is a client that is let in and has asked something: its end and the
// server's.
func (b *lobby) enter() (client *net.TCPConn, server net.Conn) {
	b.t.Helper()
	client, server = b.connect()
	b.conns.state(server, http.StateActive)
	return client, server
}

// connect is a client that is let in and says nothing.
func (b *lobby) connect() (client *net.TCPConn, server net.Conn) {
	b.t.Helper()
	client = b.dial()
	select {
	case server = <-b.in:
	case <-time.After(atOnce):
		require.Fail(b.t, "the connection was not let in")
	}
	require.Equal(b.t, client.LocalAddr().String(), server.RemoteAddr().String())
	b.t.Cleanup(func() { server.Close() })
	return client, server
}

// refused is a client that is not let in: its connection is closed.
func (b *lobby) refused() {
	b.t.Helper()
	_, err := b.dial().Read(make([]byte, 1))
	require.Error(b.t, err)
	require.NotErrorIs(b.t, err, context.DeadlineExceeded)
	require.Empty(b.t, b.in)
}

// requestOn is a request that came in on the connection c.
func requestOn(c net.Conn) *http.Request {
	ctx := context.WithValue(context.Background(), http.LocalAddrContextKey, c.LocalAddr())
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", nil)
	r.RemoteAddr = c.RemoteAddr().String()
	return r
}

func TestOneConnectionTooManyIsClosed(t *testing.T) {
	b := newLobby(t, 3)
	_, first := b.enter()
	b.enter()
	b.enter()
	b.refused()
	b.refused()
	assert.Equal(t, 3, b.conns.count())

	require.NoError(t, first.Close())
	assert.Equal(t, 2, b.conns.count(), "a place is free")
	b.enter()
	b.refused()

	require.Error(t, first.Close(), "it is closed already")
	assert.Equal(t, 3, b.conns.count(), "which frees no other place")
	b.refused()
}

func TestTheOldestConnectionThatSaysNothingMakesRoom(t *testing.T) {
	b := newLobby(t, 3)
	busy, _ := b.enter()
	oldest, _ := b.connect()
	silent, _ := b.connect()
	b.connect()
	_, err := oldest.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, 3, b.conns.count())
	b.conns.mu.Lock()
	require.Len(t, b.conns.places, 2)
	b.conns.mu.Unlock()

	b.connect() // the second goes, never the one that is used
	_, err = silent.Read(make([]byte, 1))
	require.Error(t, err)
	require.NoError(t, busy.SetDeadline(time.Now().Add(10*time.Millisecond)))
	_, err = busy.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "it is open")
}

func TestAClientThatLeavesFreesItsPlaceWhenTheServerHasClosed(t *testing.T) {
	b := newLobby(t, 1)
	client, server := b.enter()
	require.NoError(t, client.Close())
	_, err := server.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, 1, b.conns.count(), "as long as it is open here")
	require.NoError(t, server.Close())
	assert.Zero(t, b.conns.count())
	b.enter()
}

// TestAnOldConnectionDoesNotTakeTheNewOneAlong: the ends of a connection are used
// again as soon as it is closed, which may be before it is forgotten.
func TestAnOldConnectionDoesNotTakeTheNewOneAlong(t *testing.T) {
	cs := fewConns(2)
	one, _ := net.Pipe() // the ends of all pipes have one name
	other, _ := net.Pipe()
	earlier, later := cs.add(one), cs.add(other)
	require.NotNil(t, earlier)
	require.NotNil(t, later)
	require.NoError(t, earlier.Close())
	assert.Same(t, other, cs.open[ends(other.RemoteAddr().String(), other.LocalAddr())])
	require.NoError(t, later.Close())
	assert.Zero(t, cs.count())
}

func TestManyConnectionsComeAndGo(t *testing.T) {
	b := newLobby(t, 8)
	stop, served := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(served)
		var all sync.WaitGroup
		defer all.Wait()
		for {
			select {
			case c := <-b.in:
				all.Go(func() {
					assert.LessOrEqual(t, b.conns.count(), 8)
					_ = b.conns.gone(requestOn(c))
					_, _ = io.Copy(c, c)
					_ = c.Close()
					_ = b.conns.gone(requestOn(c))
					_ = c.Close()
				})
			case <-stop:
				return
			}
		}
	}()
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			for range 10 {
				c, err := net.Dial("tcp", b.addr)
				if !assert.NoError(t, err) {
					return
				}
				_ = c.SetDeadline(time.Now().Add(atOnce))
				_, _ = c.Write([]byte("x"))
				_, _ = c.Read(make([]byte, 1)) // an answer, or the end
				_ = c.Close()
			}
		})
	}
	clients.Wait()
	close(stop)
	<-served
	assert.Zero(t, b.conns.count())
}

func notOnWindows(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" || runtime.GOOS == "js" {
		t.Skip("it cannot be told here that a client has hung up")
	}
}

func TestWhetherAClientHasHungUp(t *testing.T) {
	notOnWindows(t)
	// read waits until so much has come, so that what follows is not too early.
	read := func(c net.Conn, n int) {
		_, err := io.ReadFull(c, make([]byte, n))
		require.NoError(t, err)
	}
	end := func(c net.Conn) {
		_, err := c.Read(make([]byte, 1))
		require.Error(t, err)
	}
	write := func(c net.Conn, s string) {
		_, err := io.WriteString(c, s)
		require.NoError(t, err)
	}
	for _, c := range []struct {
		name string
		play func(client *net.TCPConn, server net.Conn)
		gone bool
	}{
		{"it has said nothing yet", func(*net.TCPConn, net.Conn) {}, false},
		{"it waits for the answer", func(client *net.TCPConn, server net.Conn) { write(client, "ask"); read(server, 3) }, false},
		{"it was answered", func(client *net.TCPConn, server net.Conn) { write(server, "answer"); read(client, 6) }, false},
		{"it does not read its answer", func(_ *net.TCPConn, server net.Conn) { write(server, "answer") }, false},
		{"it has asked more, which nobody has read", func(client *net.TCPConn, server net.Conn) { write(client, "ask, and more"); read(server, 3) }, false},
		{"it reads no more", func(client *net.TCPConn, _ net.Conn) { require.NoError(t, client.CloseRead()) }, false},
		{"it has closed", func(client *net.TCPConn, server net.Conn) { require.NoError(t, client.Close()); end(server) }, true},
		{"it has closed after it asked", func(client *net.TCPConn, server net.Conn) {
			write(client, "ask")
			require.NoError(t, client.Close())
			read(server, 3)
			end(server)
		}, true},
		{"it has closed its half", func(client *net.TCPConn, server net.Conn) { require.NoError(t, client.CloseWrite()); end(server) }, true},
		{"it has torn the connection", func(client *net.TCPConn, server net.Conn) {
			require.NoError(t, client.SetLinger(0))
			require.NoError(t, client.Close())
			end(server)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newLobby(t, 2)
			client, server := b.enter()
			b.enter() // another that lives
			c.play(client, server)
			for range 3 {
				assert.Equal(t, c.gone, b.conns.gone(requestOn(server)))
			}
		})
	}
}

func TestLookingTakesNothing(t *testing.T) {
	b := newLobby(t, 1)
	client, server := b.enter()
	_, err := io.WriteString(client, "abc")
	require.NoError(t, err)
	one := make([]byte, 1)
	for _, want := range "abc" {
		require.False(t, b.conns.gone(requestOn(server)))
		_, err := io.ReadFull(server, one)
		require.NoError(t, err)
		require.Equal(t, string(want), string(one))
	}
}

func TestNothingIsKnownOfOtherConnections(t *testing.T) {
	b := newLobby(t, 1)
	client, server := b.enter()
	require.NoError(t, client.Close())
	r := requestOn(server)
	for _, c := range []struct {
		name string
		r    func() *http.Request
	}{
		{"a request of no connection", func() *http.Request { return r.WithContext(context.Background()) }},
		{"the other end", func() *http.Request { o := r.Clone(r.Context()); o.RemoteAddr = server.LocalAddr().String(); return o }},
		{"another client", func() *http.Request { o := r.Clone(r.Context()); o.RemoteAddr = "127.0.0.1:1"; return o }},
		{"a connection that was closed here", func() *http.Request { require.NoError(t, server.Close()); return r }},
		{"one of which nothing can be told", func() *http.Request {
			one, other := net.Pipe()
			require.NotNil(t, b.conns.add(one))
			require.NoError(t, other.Close())
			return requestOn(one)
		}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.False(t, b.conns.gone(c.r())) })
	}
}

func readForTestOfGone(c net.Conn, n chan<- int) {
	k, _ := c.Read(make([]byte, 1))
	n <- k
}

// TestLookingDoesNotWaitForARead: net/http reads while a request is served.
func TestLookingDoesNotWaitForARead(t *testing.T) {
	b := newLobby(t, 1)
	client, server := b.enter()
	n := make(chan int, 1)
	go readForTestOfGone(server, n)
	require.Eventually(t, func() bool { // until that is in Read
		stacks := make([]byte, 1<<20)
		for one := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if strings.Contains(one, "readForTestOfGone") && strings.Contains(one, "[IO wait") {
				return true
			}
		}
		return false
	}, atOnce, time.Millisecond)

	looked := make(chan bool, 1)
	go func() { looked <- b.conns.gone(requestOn(server)) }()
	select {
	case gone := <-looked:
		assert.False(t, gone)
	case <-time.After(atOnce):
		assert.Fail(t, "it waits for the read")
	}
	assert.Empty(t, n, "which goes on")
	_, err := io.WriteString(client, "x")
	require.NoError(t, err)
	assert.Equal(t, 1, <-n, "and gets what comes")
}

// TestAClientThatHangsUpWithinTLS: closing, TLS sends a last record, which nobody
// has read when it matters.
func TestAClientThatHangsUpWithinTLS(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells of a hang-up behind bytes that nobody has read")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	b := newLobby(t, 1)
	raw, in := b.enter()
	client := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
	server := tls.Server(in, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	shaken := make(chan error, 1)
	go func() { shaken <- server.Handshake() }()
	require.NoError(t, client.Handshake())
	require.NoError(t, <-shaken)

	require.False(t, b.conns.gone(requestOn(server)))
	require.NoError(t, client.Close()) // on loopback it has arrived when this returns
	assert.True(t, b.conns.gone(requestOn(server)))
}
