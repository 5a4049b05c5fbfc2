//go:build emulator

package keyring_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/names"
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
	if _, err := other.Unwrap(t.Context(), encryption, wrapped); err == nil { // the emulator's error differs from KMS's
		t.Error("unwrapped under another KMS key")
	}
}

func TestSecrets_Open_needsTheSecretsOwnName(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw/+0123456789"
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
		"a public key":     {TenantID: "acme", EndpointID: "webhook_1", Version: 1, PublicKey: "whpk_1"},
	} {
		if _, err := secrets().Open(t.Context(), other, sealed); !errors.Is(err, keyring.ErrUnopenable) {
			t.Errorf("%s opens it: %v", name, err)
		}
	}
}

// A tenant's id is a part of the encryption context as it is.
func TestSecrets_Open_needsTheTenantAsItIsCalled(t *testing.T) {
	cfg := testkit.Moto(t)
	key := testkit.Key(t, cfg)
	tenants := names.Tenants()
	for n, tenant := range tenants {
		id := keyring.SecretID{TenantID: tenant, EndpointID: "webhook_1", Version: 1}
		secrets := keyring.NewSecrets(kms.NewFromConfig(cfg), key)
		sealed, err := secrets.Seal(t.Context(), id, "whsec_"+tenant)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := secrets.Open(t.Context(), id, sealed); err != nil || got != "whsec_"+tenant {
			t.Errorf("%s: %q, %v", tenant, got, err)
		}
		id.TenantID = tenants[(n+1)%len(tenants)]
		if _, err := secrets.Open(t.Context(), id, sealed); !errors.Is(err, keyring.ErrUnopenable) {
			t.Errorf("%s opens what is of %s: %v", id.TenantID, tenant, err)
		}
	}
}

func TestSecrets_Open_needsTheOriginOfHeaders(t *testing.T) {
	cfg := testkit.Moto(t)
	key := testkit.Key(t, cfg)
	secrets := func() *keyring.Secrets { return keyring.NewSecrets(kms.NewFromConfig(cfg), key) }
	headers := func(url string) keyring.SecretID {
		return keyring.SecretID{TenantID: "acme", EndpointID: "webhook_1", Version: 1, Headers: true, URL: url}
	}
	sealed, err := secrets().Seal(t.Context(), headers("https://a.example/hooks"), "X:y\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"https://a.example/hooks", "https://A.example.:443/other?x=y"} {
		if got, err := secrets().Open(t.Context(), headers(url), sealed); err != nil || got != "X:y\n" {
			t.Errorf("at %s: %q, %v", url, got, err)
		}
	}
	for _, url := range []string{
		"https://b.example/hooks", "https://a.example:8443/hooks", "https://a.example.b.example/", "https://b.a.example/",
	} {
		if got, err := secrets().Open(t.Context(), headers(url), sealed); !errors.Is(err, keyring.ErrUnopenable) {
			t.Errorf("at %s: %q, %v", url, got, err)
		}
	}
}
