package fetch

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

const acceptEncoding = "gzip, deflate, br, zstd"

// maxEncodings is how often a body may be packed.
const maxEncodings = 2

// An EncodingError: the body is packed in a way that is not known.
type EncodingError struct{ Name string }

func (e *EncodingError) Error() string {
	if len(e.Name) > 20 || strings.Trim(e.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "the body is in an encoding that is not known here"
	}
	return fmt.Sprintf("the body is in the encoding %q, which is not known here", e.Name)
}

// errBody begins what is wrong with a body.
var errBody = errors.New("the body")

// readBody reads and unpacks a body up to MaxBody. cut says why it is not all.
func readBody(ctx context.Context, res *http.Response, progress func(read, total int64)) (body []byte, cut string, err error) {
	raw := &counter{r: res.Body, total: res.ContentLength, tell: progress}
	r, closeAll, err := unpacked(raw, res.Header.Values("Content-Encoding"))
	if err != nil {
		switch {
		case ctx.Err() != nil:
			return nil, "", context.Cause(ctx)
		case raw.err != nil:
			return nil, "", fmt.Errorf("%w: the connection ended after %d bytes", errBody, raw.n)
		}
		return nil, "", err
	}
	defer closeAll()
	body, err = io.ReadAll(io.LimitReader(r, MaxBody+1))
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case len(body) > MaxBody:
		size := ""
		if raw.total > 0 {
			size = fmt.Sprintf(" (%d bytes were announced)", raw.total)
		}
		return body[:MaxBody], fmt.Sprintf("it is larger than %d MiB, and only that much was read%s", MaxBody>>20, size), nil
	case err == nil:
		return body, "", nil
	case raw.n == 0 && raw.err == nil:
		return nil, "", nil
	case len(body) == 0:
		return nil, "", fmt.Errorf("%w: it could not be read", errBody)
	case raw.err != nil && raw.total > 0:
		return body, fmt.Sprintf("the connection ended after %d of %d bytes", raw.n, raw.total), nil
	case raw.err != nil:
		return body, fmt.Sprintf("the connection ended early, after %d bytes", raw.n), nil
	}
	return body, fmt.Sprintf("what came is damaged after %d bytes", len(body)), nil
}

// A counter counts what is read and keeps the error that ended it.
type counter struct {
	r     io.Reader
	n     int64
	total int64 // -1: not known
	tell  func(read, total int64)
	err   error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	if c.tell != nil && n > 0 {
		c.tell(c.n, c.total)
	}
	return n, err
}

// unpacked undoes the encodings that the header lists, the last first.
func unpacked(r io.Reader, header []string) (io.Reader, func(), error) {
	var names []string
	for name := range strings.SplitSeq(strings.Join(header, ","), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "" && !noEncoding[name] {
			names = append(names, name)
		}
	}
	if len(names) > maxEncodings {
		return nil, nil, fmt.Errorf("%w: it is packed %d times over, and at most %d are undone", errBody, len(names), maxEncodings)
	}
	closers := []func(){}
	closeAll := func() {
		for _, c := range closers {
			c()
		}
	}
	for i := len(names) - 1; i >= 0; i-- {
		next, done, err := decoder(r, names[i])
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		r = next
		if done != nil {
			closers = append(closers, done)
		}
	}
	return r, closeAll, nil
}

// noEncoding are names of no encoding that servers send by mistake, and mean none.
var noEncoding = map[string]bool{"identity": true, "none": true, "utf-8": true, "utf8": true, "binary": true, "text": true, "null": true, "8bit": true, "7bit": true, "iso-8859-1": true, "us-ascii": true, "ascii": true}

// maxWindow bounds what a decoder of zstd keeps: RFC 8878 asks for 8 MiB at least.
const maxWindow = 8 << 20

func decoder(r io.Reader, name string) (io.Reader, func(), error) {
	switch name {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r)
		return empty(z, err)
	case "deflate":
		return inflater(r)
	case "br":
		return brotli.NewReader(r), nil, nil
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(4*MaxBody))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return nil, nil, &EncodingError{name}
}

// inflater reads "deflate", by which some servers mean zlib (RFC 9110, section
// 8.4.1.2) and some the bare stream.
func inflater(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err != nil && len(head) == 0 {
		return empty(nil, err)
	}
	if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		z, err := zlib.NewReader(b)
		return empty(z, err)
	}
	return flate.NewReader(b), nil, nil
}

// empty takes a body that ends before it begins for an empty one: servers name an
// encoding of an answer without a body.
func empty(r io.Reader, err error) (io.Reader, func(), error) {
	if errors.Is(err, io.EOF) {
		return strings.NewReader(""), nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: it is not in the encoding that its header names", errBody)
	}
	return r, nil, nil
}

func tlsConfig(roots *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// isHeaderError: the header of the answer was too large. net/http has no error of
// its own for it.
func isHeaderError(err error) bool {
	return err != nil && strings.Contains(err.Error(), "server response headers exceeded")
}
