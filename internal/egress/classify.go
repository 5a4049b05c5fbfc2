package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"syscall"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// classify turns an error into a reason. Where the library has no type for a fault of TLS its
// text is all there is; the hostile-receiver tests hold those texts to account.
func classify(err error) delivery.Reason {
	var blocked *Blocked
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case isShortage(err):
		return delivery.ReasonInternal
	case errors.As(err, &blocked):
		return blocked.Reason
	case errors.As(err, &dns):
		return delivery.ReasonDNS
	case isTimeout(err):
		return delivery.ReasonTimeout
	case errors.Is(err, errHeaderTooLarge):
		return delivery.ReasonHeaderTooLarge
	case isTLS(err):
		return delivery.ReasonTLS
	case errors.As(err, &op) && op.Op == "dial":
		return delivery.ReasonConnect
	}
	return delivery.ReasonProtocol
}

// isShortage reports whether file descriptors ran out, the process's or the machine's. The resolver
// passes on the text alone.
func isShortage(err error) bool {
	var dns *net.DNSError
	resolving := errors.As(err, &dns)
	for _, none := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, none) || resolving && strings.HasSuffix(dns.Err, none.Error()) {
			return true
		}
	}
	return false
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.Canceled)
}

func isTLS(err error) bool {
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var hostname x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var alert *net.OpError
	return errors.Is(err, errHandshakeTooLarge) ||
		errors.As(err, &verification) || errors.As(err, &record) ||
		errors.As(err, &hostname) || errors.As(err, &authority) || errors.As(err, &invalid) ||
		errors.As(err, &alert) && (alert.Op == "local error" || alert.Op == "remote error") ||
		strings.HasPrefix(err.Error(), "tls: ")
}
