package signature_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// RFC 8037, appendix A: the key of A.1, and its thumbprint of A.3.
func TestNewJWK_isTheRFCsExample(t *testing.T) {
	seed, err := hex.DecodeString("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
	if err != nil {
		t.Fatal(err)
	}
	signer := signature.Signer{Key: ed25519.NewKeyFromSeed(seed)}
	got, err := signature.NewJWK(signer.PublicKey())
	want := signature.JWK{
		Type: "OKP", Curve: "Ed25519", X: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
		ID: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", Use: "sig", Algorithm: "EdDSA",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if signer.KeyID() != want.ID {
		t.Errorf("the signer's key is %s", signer.KeyID())
	}
}

func TestNewJWK_refusesWhatIsNoPublicKey(t *testing.T) {
	whole := signature.NewSigner("").PublicKey()
	for _, text := range []string{
		"", "whpk_", whole[5:], whole[:len(whole)-1], whole + "A", "whsk_" + whole[5:], whole[:20] + "\n" + whole[20:],
		"whpk_" + base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xfb}, 32)),
		"whpk_" + base64.StdEncoding.EncodeToString(make([]byte, 33)),
	} {
		if _, err := signature.NewJWK(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// Whatever a secret is, and also if it has a NUL, its text with a key pair is read as it was written.
func TestParseSigner_readsEverySecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		named := []string{"", "\x00", "a\x00b", "whsec_AAEC", "\x00" + strings.Repeat("A", 86) + "=="}
		secret := rapid.OneOf(rapid.String(), rapid.SampledFrom(named)).Draw(t, "secret")
		keyed := rapid.Bool().Draw(t, "keyed")
		want := signature.Signer{Secret: secret}
		if keyed {
			want = signature.NewSigner(secret)
		}
		got, err := signature.ParseSigner(want.Text(), keyed)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
		if !keyed && (got.PublicKey() != "" || got.KeyID() != "") {
			t.Fatalf("without a key pair: %q, %q", got.PublicKey(), got.KeyID())
		}
	})
}

func TestParseSigner_refusesATextWithoutItsKeyAndQuotesNothing(t *testing.T) {
	text := signature.NewSigner("whsec_AAEC").Text()
	for _, broken := range []string{"", "whsec_AAEC", "whsec_AAEC\x00", text[:len(text)-4], text + "AAAA", text + "\n"} {
		got, err := signature.ParseSigner(broken, true)
		if err == nil || got.Secret != "" || strings.Contains(err.Error(), "AAEC") {
			t.Errorf("%q: %+v, %v", broken, got, err)
		}
	}
}

func TestNewSigner_makesAnotherKeyPairEachTime(t *testing.T) {
	keys := map[string]bool{}
	for range 100 {
		keys[signature.NewSigner("one secret").PublicKey()] = true
	}
	if len(keys) != 100 {
		t.Errorf("%d key pairs of 100", len(keys))
	}
}

var sink string

// The cost of one signature more, for bodies of 1 KB and 256 KB. A key pair is read for each delivery.
func BenchmarkSign(b *testing.B) {
	signer := signature.NewSigner(signature.NewSecret())
	text := signer.Text()
	for name, size := range map[string]int{"1 KB": 1 << 10, "256 KB": 256 << 10} {
		body := bytes.Repeat([]byte("x"), size)
		for version, sign := range map[string]func() string{
			"v1, the text": func() string { return signature.Sign(signer.Secret, "msg_1", 1767225600, body) },
			"v1, decoded":  func() string { return signature.SignDecoded(signer.Secret, "msg_1", 1767225600, body) },
			"v1a": func() string {
				read, err := signature.ParseSigner(text, true)
				if err != nil {
					b.Fatal(err)
				}
				return signature.SignAsymmetric(read.Key, "msg_1", 1767225600, body) + read.KeyID()
			},
		} {
			b.Run(version+" "+name, func(b *testing.B) {
				for b.Loop() {
					sink = sign()
				}
			})
		}
	}
}
