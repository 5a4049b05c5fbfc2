package egress

import (
	"context"
	"errors"
	"net"
	"regexp"
	"strings"
	"syscall"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// classify turns an error into a reason. A TLS fault without a type in the library is told by its text; the
// hostile-receiver tests check these texts.
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
	case isTLS(err) && (nothingInCommon.MatchString(err.Error()) || ofOurCertificate.MatchString(err.Error())):
		return delivery.ReasonTLSHandshake
	case isTLS(err):
		return delivery.ReasonTLS
	case errors.As(err, &op) && op.Op == "dial":
		return delivery.ReasonConnect
	}
	return delivery.ReasonProtocol
}

// nothingInCommon are the texts of a receiver that finds no version, cipher suite or key exchange in ours, or chooses
// one that was not offered. The alert for a handshake that failed may mean more: of OpenSSL, a missing client
// certificate.
var nothingInCommon = regexp.MustCompile("tls: (handshake failure|insufficient security level|" +
	"protocol version not supported|server chose an unconfigured cipher suite|" +
	"server selected unsupported (protocol version [0-9a-f]+|curve|group))$")

// ofOurCertificate are the texts of the alerts by which a receiver refuses a client without a certificate, or with one
// that it does not take (RFC 8446, 6.2). The only certificate that a receiver judges is ours, and we have none. In TLS
// 1.3 such an alert comes after our side of the handshake has ended, in place of an answer.
var ofOurCertificate = regexp.MustCompile("^remote error: tls: (bad certificate|unsupported certificate|" +
	"unknown certificate|unknown certificate authority|access denied|certificate required)$")

// isShortage reports whether file descriptors ran out while dialling, the process's or the machine's.
// The resolver passes on the text alone.
func isShortage(err error) bool {
	var op *net.OpError
	text := err.Error()
	return errors.As(err, &op) && op.Op == "dial" &&
		(strings.HasSuffix(text, syscall.EMFILE.Error()) || strings.HasSuffix(text, syscall.ENFILE.Error()))
}

// isTimeout finds a deadline that has passed, of the attempt or of the batch around it.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.Canceled)
}

// isTLS finds faults of our side of TLS, and alerts sent or received.
func isTLS(err error) bool {
	var alert *net.OpError
	return strings.HasPrefix(err.Error(), "tls: ") || errors.As(err, &alert) && strings.HasSuffix(alert.Op, " error")
}
