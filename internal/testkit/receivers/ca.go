// Package receivers is the other side of a delivery: TLS receivers with a certificate authority
// of their own, a DNS server whose answers a test writes, and the hostile receivers that the
// outbound client has to survive ([Hostile]), each with the outcome, the reason, the time and the memory it may cost.
//
// It promises that everything listens on loopback only and ends with the test.
// It is imported by tests and by nothing else, and knows nothing of the client it is used against.
package receivers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"
)

// Host is the name that receivers reached through a [DNS] answer to.
const Host = "receiver.test"

// CA is a certificate authority that lives as long as its test.
type CA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Leaf says what a certificate claims. The zero value is valid now for 127.0.0.1, ::1, localhost and [Host].
type Leaf struct {
	Hosts               []string // names and addresses
	NotBefore, NotAfter time.Time
}

// NewCA makes an authority that nobody but the test trusts.
func NewCA(t testing.TB) *CA {
	t.Helper()
	key := newKey(t)
	cert := certify(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "Herald test authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}, nil, key)
	return &CA{cert: cert, key: key}
}

// Pool returns a pool that trusts this authority only.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	return pool
}

// Issue makes a server certificate signed by the authority.
func (ca *CA) Issue(t testing.TB, leaf Leaf) tls.Certificate {
	t.Helper()
	key := newKey(t)
	cert := certify(t, leaf.template(), ca, key)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

// SelfSigned makes a server certificate that vouches for itself.
func SelfSigned(t testing.TB, leaf Leaf) tls.Certificate {
	t.Helper()
	key := newKey(t)
	cert := certify(t, leaf.template(), nil, key)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

func (l Leaf) template() *x509.Certificate {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Herald test receiver"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, NotBefore: l.NotBefore, NotAfter: l.NotAfter,
	}
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-time.Hour)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(12 * time.Hour)
	}
	hosts := l.Hosts
	if hosts == nil {
		hosts = []string{"127.0.0.1", "::1", "localhost", Host}
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return template
}

// certify signs template with ca, or with key itself when there is none.
func certify(t testing.TB, template *x509.Certificate, ca *CA, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	template.SerialNumber = serial
	parent, signer := template, key
	if ca != nil {
		parent, signer = ca.cert, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatalf("receivers: making a certificate: %v", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatalf("receivers: reading a certificate: %v", err)
	}
	return cert
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("receivers: making a key: %v", err)
	}
	return key
}
