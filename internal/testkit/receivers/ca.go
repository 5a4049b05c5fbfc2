// Package receivers is the other side of a delivery: TLS receivers with their certificate authority, a DNS server with
// answers by the test, and the hostile receivers that the outbound client has to survive ([Hostile]). Each of these has
// the outcome, the reason, the time and the memory that it may cost.
//
// It promises that everything listens on loopback only and ends with the test.
// It is imported by tests and by nothing else, and knows nothing of the client it is used against.
package receivers

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"

	"github.com/herald-webhooks/herald/internal/testkit/pki"
)

// Host is the name that receivers reached through a [DNS] answer to.
const Host = "receiver.test"

// CA is a certificate authority that lives as long as its test.
type CA struct{ *pki.CA }

// Leaf has a certificate's claims. CA.Issue makes of the zero value a certificate that is valid now for 127.0.0.1, ::1,
// localhost and [Host].
type Leaf = pki.Leaf

// NewCA makes an authority that only the test trusts.
func NewCA(t Scope) *CA {
	t.Helper()
	ca, err := pki.New("Herald test authority")
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	return &CA{ca}
}

// Issue makes a server certificate signed by the authority.
func (ca *CA) Issue(t Scope, leaf Leaf) tls.Certificate {
	t.Helper()
	if leaf.Hosts == nil {
		leaf.Hosts = []string{"127.0.0.1", "::1", "localhost", Host}
	}
	cert, err := ca.CA.Issue(leaf)
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	return cert
}

// Padding is a certificate of about this many bytes, none like another. Behind a server's own it proves nothing.
func Padding(t Scope, bytes int) []byte {
	t.Helper()
	filler := make([]byte, bytes)
	_, _ = rand.Read(filler) // never fails
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	template := &x509.Certificate{
		SerialNumber:    big.NewInt(1),
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 25, 1}, Value: filler}},
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	return der
}
