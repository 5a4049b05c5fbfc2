// Package sealing is KMS in memory. A ciphertext opens under its encryption context only, and shows its plaintext. The
// package is for tests and is not part of the service.
package sealing

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
)

// KMS answers Encrypt and Decrypt.
type KMS struct{}

// Secrets are signing secrets and headers that KMS seals.
func Secrets() *keyring.Secrets { return keyring.NewSecrets(KMS{}, "key") }

// mark ends the context in a ciphertext.
const mark = " sealed "

// Encrypt writes the context and the plaintext.
func (KMS) Encrypt(_ context.Context, in *kms.EncryptInput, _ ...func(*kms.Options)) (*kms.EncryptOutput, error) {
	return &kms.EncryptOutput{CiphertextBlob: fmt.Appendf(nil, "%v%s%s", in.EncryptionContext, mark, in.Plaintext)}, nil
}

// Decrypt refuses every other context.
func (KMS) Decrypt(_ context.Context, in *kms.DecryptInput, _ ...func(*kms.Options)) (*kms.DecryptOutput, error) {
	bound, plain, _ := strings.Cut(string(in.CiphertextBlob), mark)
	if bound != fmt.Sprint(in.EncryptionContext) {
		return nil, &types.InvalidCiphertextException{}
	}
	return &kms.DecryptOutput{Plaintext: []byte(plain)}, nil
}
