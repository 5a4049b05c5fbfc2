package signature_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/signature"
)

func TestNewSecret_isThirtyTwoRandomBytesInBase64URL(t *testing.T) {
	first, varied := signature.NewSecret(), map[int]bool{}
	for range 30 {
		secret := signature.NewSecret()
		for i := range secret {
			if secret[i] != first[i] {
				varied[i] = true
			}
		}
		encoded, found := strings.CutPrefix(secret, "whs_")
		if raw, err := base64.RawURLEncoding.DecodeString(encoded); !found || err != nil || len(raw) != 32 {
			t.Errorf("%q has %d bytes, %v", secret, len(raw), err)
		}
	}
	if len(varied) != 43 {
		t.Errorf("%d characters are random, want 43", len(varied))
	}
}

func TestImportKey_isWhatTheOtherSenderSignedWith(t *testing.T) {
	raw := strings.Repeat("\x00\xff\x80", 8)
	const literal = "the literal text of a key"
	for secret, want := range map[string]string{
		"whsec_AP+AAP+AAP+AAP+AAP+AAP+AAP+AAP+A":     raw,
		"whsec_AP+AAP+AAP+AAP+AAP+AAP+AAP+AAP+A/w==": raw + "\xff",
		"whsec_AP+AAP+AAP+AAP+AAP+AAP+AAP+AAP+A/w":   raw + "\xff",
		literal:                    literal,
		strings.Repeat("é", 8):     strings.Repeat("é", 8),
		"whs_" + literal:           "whs_" + literal,
		strings.Repeat("x", 1024):  strings.Repeat("x", 1024),
		"AP+AAP+AAP+AAP+AAP+AAP+A": "AP+AAP+AAP+AAP+AAP+AAP+A",
	} {
		got, err := signature.ImportKey(secret)
		if err != nil || got != want {
			t.Errorf("%q is %q, %v", secret, got, err)
		}
	}
}

func TestImportKey_refusesWhatIsNoKeyAndDoesNotQuoteIt(t *testing.T) {
	for secret, want := range map[string]string{
		"": "16 to 1024 bytes", "fifteen letters": "16 to 1024 bytes", strings.Repeat("x", 1025): "16 to 1024 bytes",
		"whsec_": "16 to 1024 bytes", "whsec_AP+AAP+A": "16 to 1024 bytes", "whsec_AP+_AP+_AP+_AP+_AP+_AP+_": "Base64",
		"whsec_AP+AAP+AAP+AAP+AAP+AAP+AAP+AAP+A/x==": "Base64", "whsec_AP+AAP+AAP+AAP+AAP+AAP+A\n": "spaces",
		"the literal text of a key\n": "spaces", "whsk_AP+AAP+AAP+AAP+AAP+AAP+A": "asymmetric",
	} {
		got, err := signature.ImportKey(secret)
		if err == nil || got != "" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "AP+") {
			t.Errorf("%q is %q, %v", secret, got, err)
		}
	}
}
