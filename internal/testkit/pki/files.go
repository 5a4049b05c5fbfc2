package pki

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Files are an authority's certificate and a server certificate with its key, as PEM.
type Files struct{ CA, Cert, Key string }

// Write issues a server certificate and writes it, its key and the authority's certificate below dir,
// which it makes if need be.
func (ca *CA) Write(dir string, leaf Leaf) (Files, error) {
	f := Files{
		CA: filepath.Join(dir, "ca.pem"), Cert: filepath.Join(dir, "receiver.pem"), Key: filepath.Join(dir, "receiver.key"),
	}
	cert, err := ca.Issue(leaf)
	if err != nil {
		return f, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return f, fmt.Errorf("encoding a key: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return f, fmt.Errorf("making a folder for certificates: %w", err)
	}
	return f, errors.Join(
		write(f.CA, "CERTIFICATE", ca.cert.Raw),
		write(f.Cert, "CERTIFICATE", cert.Leaf.Raw),
		write(f.Key, "PRIVATE KEY", key),
	)
}

func write(file, kind string, der []byte) error {
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		return fmt.Errorf("writing a certificate: %w", err)
	}
	return nil
}
