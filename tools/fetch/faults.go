package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// Errors of an answer. What net/http says of a broken one repeats parts of it, which
// are a stranger's words: they are never passed on.
var (
	ErrAnswer      = errors.New("what the server answers is not valid HTTP")
	ErrBroken      = errors.New("the server ended the connection before it had answered. It may be busy, or expect https at this port; try again later")
	ErrCertificate = errors.New("the server's certificate is not valid for this host, so nothing was sent to it")
	ErrTLS         = errors.New("no encrypted connection could be made: the server may not speak https at this port")
	ErrUnreachable = errors.New("the server cannot be reached: nobody answers at this address and port")
)

// isOurs: an error whose words are ours.
func isOurs(err error) bool {
	var encoding *EncodingError
	var url *URLError
	var redirect *redirectError
	switch {
	case errors.As(err, &encoding), errors.As(err, &url), errors.As(err, &redirect):
		return true
	case errors.Is(err, ErrScheme), errors.Is(err, ErrUserinfo), errors.Is(err, ErrRedirects), errors.Is(err, ErrDowngrade), errors.Is(err, errBody):
		return true
	}
	return false
}

// plainFault says in our words what went wrong.
func plainFault(err error) error {
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var op *net.OpError
	switch {
	case errors.As(err, &verify), errors.As(err, &invalid), errors.As(err, &host), errors.As(err, &unknown):
		return ErrCertificate
	case errors.As(err, &record), errors.As(err, &alert), strings.Contains(err.Error(), "tls: "):
		return ErrTLS
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), strings.Contains(err.Error(), "server closed"):
		return ErrBroken
	case errors.As(err, &op) && op.Op == "dial":
		return ErrUnreachable
	}
	return ErrAnswer
}
