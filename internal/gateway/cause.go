package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"syscall"

	"callgate/internal/http1"
	"callgate/internal/upstream"
)

// logged says in a few fixed words why an upstream failed. The errors themselves name hosts and
// addresses, which stand in no log.
func logged(err error) string {
	var (
		dns         *net.DNSError
		authority   x509.UnknownAuthorityError
		hostname    x509.HostnameError
		certificate x509.CertificateInvalidError
		record      tls.RecordHeaderError
		number      syscall.Errno
	)
	switch {
	case errors.Is(err, upstream.ErrForbiddenAddress):
		return "its address may not be called"
	case errors.As(err, &dns):
		return "its name was not resolved"
	case http2Only(err):
		return "it speaks HTTP/2 only"
	case errors.As(err, &authority):
		return "its certificate is signed by an unknown authority"
	case errors.As(err, &hostname):
		return "its certificate is for another name"
	case errors.As(err, &certificate):
		return "its certificate is not valid"
	case remoteAlert(err) != nil, errors.As(err, &record):
		return "TLS failed"
	case timedOut(err):
		return "it took too long"
	case errors.Is(err, errAnswer):
		return "its response head was malformed"
	case errors.As(err, &number):
		return number.Error() // connection refused, reset, no route: no address in it
	case connectionEnded(err):
		return "it closed the connection before it answered"
	case errors.Is(err, context.Canceled):
		return "the call was cut"
	}
	return "it cannot be called"
}

// http2Only tells whether an upstream failed because it speaks nothing that the gateway does.
func http2Only(err error) bool {
	alert := remoteAlert(err)
	return errors.Is(err, http1.ErrHTTP2) || alert != nil && alert.Error() == "tls: no application protocol" // RFC 7301
}

// remoteAlert is the TLS alert that the upstream sent, if it did. Its type has no name outside its package.
func remoteAlert(err error) error {
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Op == "remote error" {
		return operation.Err
	}
	return nil
}
