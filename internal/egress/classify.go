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

// classify turns an error of net/http into a reason. Where the library has no type for a
// fault its text is all there is; the hostile-receiver tests hold those texts to account.
func classify(ctx context.Context, err error) delivery.Reason {
	var blocked *Blocked
	if errors.As(err, &blocked) {
		return blocked.Reason
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return delivery.ReasonDNS
	}
	var timeout net.Error
	if ctx.Err() != nil || (errors.As(err, &timeout) && timeout.Timeout()) {
		return delivery.ReasonTimeout
	}
	text := err.Error()
	switch {
	case isTLS(err, text):
		return delivery.ReasonTLS
	case strings.Contains(text, "response headers exceeded"), strings.Contains(text, "response header list larger"),
		strings.Contains(text, "too many 1xx"):
		return delivery.ReasonHeaderTooLarge
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return delivery.ReasonConnect
	}
	return delivery.ReasonProtocol
}

func isTLS(err error, text string) bool {
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var hostname x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verification) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &hostname) || errors.As(err, &authority) || errors.As(err, &invalid) ||
		strings.HasPrefix(text, "tls: ") || strings.Contains(text, "remote error: tls")
}
