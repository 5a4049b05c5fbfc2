package signature_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/signature"
)

func TestNewSecret_isThirtyTwoBytesInBase64URL(t *testing.T) {
	for random, want := range map[string]string{
		strings.Repeat("\x00", 32): "whs_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		strings.Repeat("\xff", 32): "whs___________________________________________8",
	} {
		got, err := signature.NewSecret(strings.NewReader(random + "and more"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("secret (-want +got):\n%s", diff)
		}
	}
}

func TestNewSecret_differsEachTime(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		secret, err := signature.NewSecret(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		seen[secret] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d different secrets of 1000", len(seen))
	}
}

func TestNewSecret_failsWithoutEnoughRandomness(t *testing.T) {
	for _, random := range []string{"", strings.Repeat("x", 31)} {
		if secret, err := signature.NewSecret(strings.NewReader(random)); err == nil {
			t.Errorf("%d bytes make %q", len(random), secret)
		}
	}
}
