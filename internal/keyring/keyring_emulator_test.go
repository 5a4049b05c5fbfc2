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
	keys := keyring.NewVault(client, testkit.Key(t, cfg)).Keys
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
	other := keyring.NewVault(client, testkit.Key(t, cfg)).Keys
	if _, err := other.Unwrap(t.Context(), encryption, wrapped); err == nil { // the emulator refuses in words of its own
		t.Error("unwrapped under another KMS key")
	}
}

func TestSecrets_Open_needsTheSecretsOwnName(t *testing.T) {
	const secret = "whs_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw_-0123456789"
	id := keyring.SecretID{TenantID: "acme", EndpointID: "webhook_1", Version: 1}
	cfg := testkit.Moto(t)
	key := testkit.Key(t, cfg)
	secrets := func() *keyring.Secrets { return keyring.NewSecrets(kms.NewFromConfig(cfg), key) }
	sealed, err := secrets().Seal(t.Context(), id, secret)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte(secret)) {
		t.Error("the sealed secret shows its text")
	}
	if got, err := secrets().Open(t.Context(), id, sealed); err != nil || got != secret {
		t.Errorf("%q, %v", got, err)
	}
	for name, other := range map[string]keyring.SecretID{
		"another tenant":   {TenantID: "evil", EndpointID: "webhook_1", Version: 1},
		"another endpoint": {TenantID: "acme", EndpointID: "webhook_2", Version: 1},
		"another version":  {TenantID: "acme", EndpointID: "webhook_1", Version: 2},
	} {
		if _, err := secrets().Open(t.Context(), other, sealed); err == nil {
			t.Errorf("%s opens it", name)
		}
	}
}
