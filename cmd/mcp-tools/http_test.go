package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const testToken = "0123456789abcdefghijklmnop"

// selfSigned writes a certificate for 127.0.0.1 and its key.
func selfSigned(t *testing.T, dir string) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return cert, key, roots
}

// httpServer is the real binary, serving by HTTP.
type httpServer struct {
	url   string
	cmd   *exec.Cmd
	log   bytes.Buffer  // what it wrote to stderr; complete when ended is closed
	ended chan struct{} // closed when stderr has ended
}

func startHTTP(t *testing.T, args ...string) *httpServer {
	t.Helper()
	home := t.TempDir()
	s := &httpServer{ended: make(chan struct{})}
	s.cmd = exec.Command(buildBinary(t), append([]string{"--http", "127.0.0.1:0", "--state-dir", filepath.Join(home, "state")}, args...)...)
	s.cmd.Env = append(os.Environ(), "HOME="+home)
	stderr, err := s.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	found := make(chan string, 1)
	go func() {
		defer close(s.ended)
		defer close(found)
		for r := bufio.NewReader(stderr); ; {
			line, err := r.ReadString('\n')
			s.log.WriteString(line)
			if m := regexp.MustCompile(`serving (https?://[^/]+)/mcp`).FindStringSubmatch(line); m != nil {
				found <- m[1]
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case s.url = <-found:
		require.NotEmpty(t, s.url, "it does not serve")
	case <-time.After(20 * time.Second):
		t.Fatal("it did not say that it serves")
	}
	return s
}

// post sends a message and returns the status and the whole answer.
func post(t *testing.T, c *http.Client, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), "POST", url+"/mcp", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(text)
}

func TestServingByTLSWithATokenAndStoppingGracefully(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SIGTERM and /proc are of Unix")
	}
	secrets, ws := t.TempDir(), t.TempDir()
	cert, key, roots := selfSigned(t, secrets)
	tokens := filepath.Join(secrets, "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("alice:"+testToken+"\n"), 0o600))
	s := startHTTP(t, "--root", ws, "--token-file", tokens, "--tls-cert", cert, "--tls-key", key, "--log-level", "debug")
	require.True(t, strings.HasPrefix(s.url, "https://"))
	c := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}

	begin := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	r, _ := post(t, c, s.url, begin)
	assert.Equal(t, http.StatusUnauthorized, r.StatusCode)
	r, _ = post(t, c, s.url, begin, "Authorization", "Bearer "+testToken)
	require.Equal(t, http.StatusOK, r.StatusCode)
	assert.Equal(t, 2, r.ProtoMajor, "HTTP/2")
	id := r.Header.Get("Mcp-Session-Id")
	r, _ = post(t, http.DefaultClient, strings.Replace(s.url, "https", "http", 1), begin, "Authorization", "Bearer "+testToken)
	assert.Equal(t, http.StatusBadRequest, r.StatusCode, "nothing is served in the clear")

	// Told to stop, it lets a command that ends soon be answered, and leaves none.
	answer := make(chan string, 1)
	go func() {
		_, text := post(t, c, s.url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_shell","arguments":{"command":"touch begun; sleep 1; echo the end"}}}`,
			"Authorization", "Bearer "+testToken, "Mcp-Session-Id", id)
		answer <- text
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(ws, "begun")); return err == nil }, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	assert.Contains(t, <-answer, "the end")
	<-s.ended
	require.NoError(t, s.cmd.Wait(), "exit code 0")
	assert.NotContains(t, s.log.String(), testToken)
	assert.NotContains(t, s.log.String(), id)
	assert.Contains(t, s.log.String(), "principal=alice")
}

func TestAnAddressInUseIsSaid(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	cmd := exec.Command(buildBinary(t), "--http", l.Addr().String(), "--root", t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.Error(t, cmd.Run())
	assert.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
	assert.Contains(t, stderr.String(), "mcp-tools: listen on "+l.Addr().String()+": bind: address already in use")
}
