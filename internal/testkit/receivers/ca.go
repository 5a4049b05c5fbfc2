// Package receivers is the other side of a delivery: TLS receivers with a certificate authority
// of their own, a DNS server whose answers a test writes, and the hostile receivers that the
// outbound client has to survive ([Hostile]), each with the outcome, the reason, the time and the
// memory it may cost.
//
// It promises that everything listens on loopback only and ends with the test.
// It is imported by tests and by nothing else, and knows nothing of the client it is used against.
package receivers

import (
	"crypto/tls"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/pki"
)

// Host is the name that receivers reached through a [DNS] answer to.
const Host = "receiver.test"

// CA is a certificate authority that lives as long as its test.
type CA struct{ *pki.CA }

// Leaf says what a certificate claims. The zero value is valid now for 127.0.0.1, ::1, localhost and [Host].
type Leaf = pki.Leaf

// NewCA makes an authority that nobody but the test trusts.
func NewCA(t testing.TB) *CA {
	t.Helper()
	ca, err := pki.New("Herald test authority")
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	return &CA{ca}
}

// Issue makes a server certificate signed by the authority.
func (ca *CA) Issue(t testing.TB, leaf Leaf) tls.Certificate {
	t.Helper()
	cert, err := ca.CA.Issue(orOurs(leaf))
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	return cert
}

// selfSigned makes a server certificate that vouches for itself.
func selfSigned(t testing.TB) tls.Certificate {
	t.Helper()
	cert, err := pki.SelfSigned(orOurs(Leaf{}))
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	return cert
}

// orOurs fills in the hosts that receivers answer to.
func orOurs(leaf Leaf) Leaf {
	if leaf.Hosts == nil {
		leaf.Hosts = []string{"127.0.0.1", "::1", "localhost", Host}
	}
	return leaf
}
