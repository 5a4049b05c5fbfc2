package stack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificates are the files of the stack's own CA and of a server on this machine that it vouches for.
type certificates struct{ caFile, certFile, keyFile string }

// makeCertificates makes a new CA, whose key is kept nowhere, and a server's certificate for localhost.
func makeCertificates(dir string, now time.Time) (certificates, error) {
	c := certificates{
		caFile: filepath.Join(dir, "ca.pem"), certFile: filepath.Join(dir, "receiver.pem"), keyFile: filepath.Join(dir, "receiver.key"),
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return c, fmt.Errorf("making folder for certificates: %w", err)
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, fmt.Errorf("making key: %w", err)
	}
	ca := certificate("Herald local stack CA", now)
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	ca.SerialNumber = big.NewInt(now.UnixNano())
	if err := sign(c.caFile, ca, ca, &caKey.PublicKey, caKey); err != nil {
		return c, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, fmt.Errorf("making key: %w", err)
	}
	leaf := certificate("localhost", now)
	leaf.SerialNumber = big.NewInt(now.UnixNano() + 1)
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf.DNSNames, leaf.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	if err := sign(c.certFile, leaf, ca, &key.PublicKey, caKey); err != nil {
		return c, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return c, fmt.Errorf("encoding key: %w", err)
	}
	return c, writePEM(c.keyFile, "PRIVATE KEY", der, 0o600)
}

func certificate(name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 1, 0),
	}
}

func sign(file string, cert, parent *x509.Certificate, public *ecdsa.PublicKey, by *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, public, by)
	if err != nil {
		return fmt.Errorf("signing certificate: %w", err)
	}
	return writePEM(file, "CERTIFICATE", der, 0o644)
}

func writePEM(file, kind string, der []byte, mode os.FileMode) error {
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode); err != nil {
		return fmt.Errorf("writing certificate: %w", err)
	}
	return nil
}
