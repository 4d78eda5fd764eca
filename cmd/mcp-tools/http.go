package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"mcp-tools/sandbox"
	"mcp-tools/server"
)

// tokenVariable holds a token where no file is named: TOKEN or PRINCIPAL:TOKEN.
const tokenVariable = "MCP_TOOLS_TOKEN"

// httpConfig is what the flags of serving by HTTP say.
type httpConfig struct {
	addr      string
	tokenFile string
	cert, key string
	insecure  bool
	origins   []string
	hosts     []string
	metrics   bool
}

func (c *httpConfig) register(fs *pflag.FlagSet) {
	fs.StringVar(&c.addr, "http", "", "serve MCP by HTTP at `ADDRESS:PORT`, path /mcp; an address that other\nmachines reach needs --token-file and --tls-cert")
	fs.StringVar(&c.tokenFile, "token-file", "", "let in only who sends a bearer token of `FILE`, lines principal:token\n(or one token in $MCP_TOOLS_TOKEN)")
	fs.StringVar(&c.cert, "tls-cert", "", "speak TLS with the certificate in `FILE` (PEM)")
	fs.StringVar(&c.key, "tls-key", "", "the certificate's private key, in `FILE` (PEM)")
	fs.BoolVar(&c.insecure, "insecure-http", false, "do without TLS where others reach the address: behind a proxy that speaks it")
	fs.StringArrayVar(&c.hosts, "allow-host", nil, "also answer clients that call the server by the name `HOST[:PORT]`, repeatable")
	fs.StringArrayVar(&c.origins, "allow-origin", nil, "also answer web pages of `ORIGIN`, such as https://app.example, repeatable")
	fs.BoolVar(&c.metrics, "metrics", false, "count calls and offer the counts to Prometheus at /metrics")
}

// check refuses what can be refused without touching anything.
func (c *httpConfig) check(stdio bool, given func(flag string) bool) error {
	if c.addr == "" {
		return c.checkUnused(given)
	}
	if stdio {
		return usagef("--stdio and --http exclude each other: start one server for each")
	}
	if c.tokenFile != "" && os.Getenv(tokenVariable) != "" {
		return usagef("--token-file and $%s are both given; use one of them", tokenVariable)
	}
	if token, set := os.LookupEnv(tokenVariable); set && strings.TrimSpace(token) == "" {
		return usagef("$%s is set but empty, so anybody would be let in; give it a token, or unset it", tokenVariable)
	}
	if c.insecure && c.cert != "" {
		return usagef("--insecure-http and --tls-cert exclude each other")
	}
	if (c.cert == "") != (c.key == "") {
		return usagef("--tls-cert and --tls-key belong together")
	}
	for _, h := range c.hosts {
		if err := server.CheckAllowHost(h); err != nil {
			return usagef("--allow-host %s: %v", h, err)
		}
	}
	for _, o := range c.origins {
		if err := server.CheckAllowOrigin(o); err != nil {
			return usagef("--allow-origin %s: %v", o, err)
		}
	}
	_, err := c.listenAddr()
	return err
}

// checkUnused refuses flags that would have no effect: who gave one believes in it.
func (c *httpConfig) checkUnused(given func(flag string) bool) error {
	for _, name := range []string{"token-file", "tls-cert", "tls-key", "insecure-http", "allow-host", "allow-origin", "metrics"} {
		if given(name) {
			return usagef("--%s is for --http ADDRESS:PORT, which is missing", name)
		}
	}
	return nil
}

// listenAddr is where to listen, if what is asked for is safe enough.
func (c *httpConfig) listenAddr() (string, error) {
	host, port, err := net.SplitHostPort(c.addr)
	if err != nil {
		return "", usagef("--http %s: want ADDRESS:PORT, such as 127.0.0.1:8811", c.addr)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", usagef("--http %s: %q is no port: want 0 to 65535", c.addr, port)
	}
	if strings.EqualFold(host, "localhost") {
		host = "127.0.0.1" // without asking: the name might be made to mean anything
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "":
		return "", usagef("--http %s would listen on every address of this machine; write --http 127.0.0.1:%s to serve this machine only, or --http 0.0.0.0:%s with --token-file and --tls-cert to serve others", c.addr, port, port)
	case err != nil:
		return "", usagef("--http %s: %q is no IP address; write one, such as 127.0.0.1:%s", c.addr, host, port)
	case ip.Unmap().IsLoopback():
	case !c.hasTokens():
		return "", usagef("--http %s: other machines reach this address, so who calls must show a token: add --token-file FILE (and --tls-cert, --tls-key), or write 127.0.0.1:%s to serve this machine only", c.addr, port)
	case c.cert == "" && !c.insecure:
		return "", usagef("--http %s: other machines reach this address, so tokens and files must not travel in the clear: add --tls-cert FILE and --tls-key FILE, or --insecure-http behind a proxy that speaks TLS", c.addr)
	}
	return net.JoinHostPort(host, port), nil
}

func (c *httpConfig) hasTokens() bool { return c.tokenFile != "" || os.Getenv(tokenVariable) != "" }

// options opens what the flags name. roots are the workspace's: secrets must not
// lie where every client could read them.
func (c *httpConfig) options(roots []sandbox.RootInfo, log *slog.Logger) (server.HTTPOptions, error) {
	o := server.HTTPOptions{AllowHosts: c.hosts, AllowOrigins: c.origins, Metrics: c.metrics}
	for _, secret := range []struct{ flag, file string }{{"token-file", c.tokenFile}, {"tls-key", c.key}} {
		if secret.file == "" {
			continue
		}
		if err := checkSecret(secret.file, roots, log); err != nil {
			return o, usagef("--%s: %v", secret.flag, err)
		}
	}
	var err error
	if o.Tokens, err = c.tokens(); err != nil {
		return o, err
	}
	if c.cert != "" {
		pair, err := tls.LoadX509KeyPair(c.cert, c.key)
		if err != nil {
			return o, usagef("--tls-cert, --tls-key: %v (want PEM; a key that is protected by a password is not taken)", err)
		}
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	}
	return o, nil
}

// tokens are those of the file, else that of the environment, else nil.
func (c *httpConfig) tokens() (*server.Tokens, error) {
	if c.tokenFile != "" {
		f, err := os.Open(c.tokenFile)
		if err != nil {
			return nil, usagef("--token-file: %v", err)
		}
		defer f.Close()
		t, err := server.ParseTokens(f)
		if err != nil {
			return nil, usagef("--token-file %s: %v", c.tokenFile, err)
		}
		return t, nil
	}
	text := os.Getenv(tokenVariable)
	if text == "" {
		return nil, nil
	}
	if !strings.Contains(text, ":") {
		text = "default:" + text
	}
	t, err := server.ParseTokens(strings.NewReader(text))
	if err != nil {
		return nil, usagef("$%s: %v", tokenVariable, err)
	}
	return t, nil
}

// checkSecret refuses a file with secrets that others could change, or that lies
// in the workspace.
func checkSecret(file string, roots []sandbox.RootInfo, log *slog.Logger) error {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return fmt.Errorf("%s: %s", file, sandbox.Reason(err))
	}
	if real, err = filepath.Abs(real); err != nil {
		return err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", file)
	case runtime.GOOS == "windows": // who may read or change it is not told by the mode
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be changed by others: chmod 600 it", file)
	case info.Mode().Perm()&0o044 != 0:
		log.Warn("others on this machine can read a file with secrets; chmod 600 it", "file", file)
	}
	for _, r := range roots {
		if rel, err := filepath.Rel(r.Dir, real); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("%s lies in the workspace, where every client can read it: keep it elsewhere", file)
		}
	}
	return nil
}

// serveHTTP answers clients until ctx is done.
func serveHTTP(ctx context.Context, srv *server.Server, cfg *config, roots []sandbox.RootInfo, std streams, log *slog.Logger) error {
	addr, err := cfg.http.listenAddr()
	if err != nil {
		return err
	}
	if roots == nil {
		return usagef("--http needs --root DIR: a client that comes over the network does not choose the folder to work in")
	}
	o, err := cfg.http.options(roots, log)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	scheme := "http"
	if o.TLS != nil {
		scheme = "https"
	}
	who := "for who shows a token"
	if o.Tokens == nil {
		who = "for every program and every user of this machine (--token-file limits that)"
	}
	fmt.Fprintf(std.err, "mcp-tools: serving %s://%s/mcp %s\n", scheme, l.Addr(), who)
	return srv.NewHTTP(o).Serve(ctx, l)
}
