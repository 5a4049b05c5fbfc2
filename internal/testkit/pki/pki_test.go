package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/pki"
)

func authority(t *testing.T) *pki.CA {
	t.Helper()
	ca, err := pki.New("test")
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func TestCA_Issue(t *testing.T) {
	t.Parallel()
	ca, other, now := authority(t), authority(t), time.Now()
	for name, test := range map[string]struct {
		leaf    pki.Leaf
		host    string
		trusts  *pki.CA
		refused bool
	}{
		"the zero value is for localhost":   {pki.Leaf{}, "localhost", ca, false},
		"the zero value is for 127.0.0.1":   {pki.Leaf{}, "127.0.0.1", ca, false},
		"the zero value is for no one else": {pki.Leaf{}, "example.com", ca, true},
		"a name of its own":                 {pki.Leaf{Hosts: []string{"example.com"}}, "example.com", ca, false},
		"an authority that is not trusted":  {pki.Leaf{}, "localhost", other, true},
		"an expired certificate":            {pki.Leaf{NotAfter: now.Add(-time.Minute)}, "localhost", ca, true},
		"a certificate from tomorrow":       {pki.Leaf{NotBefore: now.Add(24 * time.Hour)}, "localhost", ca, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cert, err := ca.Issue(test.leaf)
			if err != nil {
				t.Fatal(err)
			}
			_, err = cert.Leaf.Verify(x509.VerifyOptions{DNSName: test.host, Roots: test.trusts.Pool()})
			if (err != nil) != test.refused {
				t.Errorf("got %v, want refused %v", err, test.refused)
			}
		})
	}
}

func TestSelfSigned_isTrustedByNoAuthority(t *testing.T) {
	t.Parallel()
	cert, err := pki.SelfSigned(pki.Leaf{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cert.Leaf.Verify(x509.VerifyOptions{DNSName: "localhost", Roots: authority(t).Pool()}); err == nil {
		t.Error("it was trusted")
	}
}

func TestCA_Write_makesFilesThatServeTLS(t *testing.T) {
	t.Parallel()
	files, err := authority(t).Write(filepath.Join(t.TempDir(), "tls"), pki.Leaf{})
	if err != nil {
		t.Fatal(err)
	}
	cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(files.CA)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(text) {
		t.Fatal("the authority's file holds no certificate: ", err)
	}
	if _, err := cert.Leaf.Verify(x509.VerifyOptions{DNSName: "127.0.0.1", Roots: pool}); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(files.Key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, %v", info, err)
	}
}
