//go:build emulator

package testkit_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestKey_demandsItsEncryptionContext(t *testing.T) {
	cfg := testkit.Moto(t)
	client := kms.NewFromConfig(cfg)
	key := testkit.Key(t, cfg)
	context := map[string]string{"purpose": "test"}
	sealed, err := client.Encrypt(t.Context(),
		&kms.EncryptInput{KeyId: &key, Plaintext: []byte("secret"), EncryptionContext: context})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := client.Decrypt(t.Context(),
		&kms.DecryptInput{CiphertextBlob: sealed.CiphertextBlob, EncryptionContext: context})
	if err != nil || string(opened.Plaintext) != "secret" {
		t.Fatalf("decrypt gave %v, %v", opened, err)
	}
	if _, err := client.Decrypt(t.Context(), &kms.DecryptInput{CiphertextBlob: sealed.CiphertextBlob}); err == nil {
		t.Error("decrypt without the encryption context succeeded")
	}
}
