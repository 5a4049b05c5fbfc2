//go:build emulator

package keyring_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestDataKeys_Unwrap_needsTheContextAndTheKey(t *testing.T) {
	cfg := testkit.Moto(t)
	client := kms.NewFromConfig(cfg)
	keys := keyring.NewDataKeys(client, testkit.Key(t, cfg))
	encryption := map[string]string{"purpose": "dead-letter", "delivery_id": "msg_1"}
	plain, wrapped, err := keys.Generate(t.Context(), encryption)
	if err != nil {
		t.Fatal(err)
	}
	if len(plain) != 32 || bytes.Contains(wrapped, plain) {
		t.Fatalf("a key of %d bytes, which its wrapping must not show", len(plain))
	}
	if got, err := keys.Unwrap(t.Context(), encryption, wrapped); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("%x, %v", got, err)
	}
	for name, other := range map[string]map[string]string{
		"another delivery": {"purpose": "dead-letter", "delivery_id": "msg_2"},
		"another purpose":  {"purpose": "signing-secret", "delivery_id": "msg_1"},
		"nothing":          nil,
	} {
		if _, err := keys.Unwrap(t.Context(), other, wrapped); !errors.Is(err, deadletter.ErrUnopenable) {
			t.Errorf("unwrapped for %s: %v", name, err)
		}
	}
	other := keyring.NewDataKeys(client, testkit.Key(t, cfg))
	if _, err := other.Unwrap(t.Context(), encryption, wrapped); err == nil { // the emulator refuses in words of its own
		t.Error("unwrapped under another KMS key")
	}
}
