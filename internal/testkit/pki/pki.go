// Package pki makes certificate authorities and server certificates for this machine: for the
// receivers of tests, local stack, demonstration and benchmark.
//
// It promises certificates that are valid by all of the standard library's rules, and authorities that no client trusts
// unless told to. An authority's key is never written to a file.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime is the default of certificates.
const lifetime = 30 * 24 * time.Hour

// CA is a certificate authority.
type CA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Leaf has the claims of a server's certificate. The zero value is valid now, for 127.0.0.1, ::1 and localhost.
type Leaf struct {
	Hosts               []string // names and addresses
	NotBefore, NotAfter time.Time
}

// New makes an authority of this name.
func New(name string) (*CA, error) {
	template := Leaf{}.template()
	template.Subject.CommonName = name
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageCertSign, nil
	template.DNSNames, template.IPAddresses = nil, nil
	cert, key, err := certify(template, nil)
	if err != nil {
		return nil, err
	}
	return &CA{cert: cert, key: key}, nil
}

// Pool returns a pool that trusts this authority only.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	return pool
}

// Issue makes a server certificate signed by the authority.
func (ca *CA) Issue(leaf Leaf) (tls.Certificate, error) { return issue(leaf, ca) }

// SelfSigned makes a server certificate that vouches for itself.
func SelfSigned(leaf Leaf) (tls.Certificate, error) { return issue(leaf, nil) }

func issue(leaf Leaf, ca *CA) (tls.Certificate, error) {
	cert, key, err := certify(leaf.template(), ca)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}, nil
}

func (l Leaf) template() *x509.Certificate {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "localhost"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, NotBefore: l.NotBefore, NotAfter: l.NotAfter,
	}
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-time.Hour)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(lifetime)
	}
	hosts := l.Hosts
	if hosts == nil {
		hosts = []string{"127.0.0.1", "::1", "localhost"}
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

// certify makes a key and signs template with ca, or with that key when there is none.
func certify(template *x509.Certificate, ca *CA) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, fmt.Errorf("making a serial number: %w", err)
	}
	parent, signer := template, key
	if ca != nil {
		parent, signer = ca.cert, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, nil, fmt.Errorf("making a certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("reading a certificate: %w", err)
	}
	return cert, key, nil
}
