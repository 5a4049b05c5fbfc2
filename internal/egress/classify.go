package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// classify turns an error into a reason. Where the library has no type for a fault of TLS its
// text is all there is; the hostile-receiver tests hold those texts to account.
func classify(err error) delivery.Reason {
	var blocked *Blocked
	if errors.As(err, &blocked) {
		return blocked.Reason
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return delivery.ReasonDNS
	}
	var op *net.OpError
	switch {
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
	return errors.As(err, &verification) || errors.As(err, &record) ||
		errors.As(err, &hostname) || errors.As(err, &authority) || errors.As(err, &invalid) ||
		errors.As(err, &alert) && (alert.Op == "local error" || alert.Op == "remote error") ||
		strings.HasPrefix(err.Error(), "tls: ")
}
