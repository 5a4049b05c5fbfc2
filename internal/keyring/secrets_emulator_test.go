//go:build emulator

package keyring_test

import (
	"bytes"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/testkit"
)

const secret = "whs_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw_-0123456789"

var id = keyring.SecretID{TenantID: "acme", EndpointID: "webhook_1", Version: 1}

func TestSecrets_Open_needsTheSecretsOwnName(t *testing.T) {
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
