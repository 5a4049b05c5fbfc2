package keyring

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// DataKeysClient is the part of the KMS client that a vault calls.
type DataKeysClient interface {
	GenerateDataKey(context.Context, *kms.GenerateDataKeyInput, ...func(*kms.Options)) (*kms.GenerateDataKeyOutput, error)
	Decrypt(context.Context, *kms.DecryptInput, ...func(*kms.Options)) (*kms.DecryptOutput, error)
}

// NewVault returns the vault of dead letters under a KMS key. Nothing is cached: dead letters are the cold path, and
// each has its own data keys, of 256 bits.
func NewVault(client DataKeysClient, keyARN string) deadletter.Vault {
	return deadletter.Vault{Keys: dataKeys{client, keyARN}}
}

type dataKeys struct {
	client DataKeysClient
	keyARN string
}

// Generate makes a data key that only the same encryption context unwraps.
func (k dataKeys) Generate(ctx context.Context, encryption map[string]string) (plain, wrapped []byte, err error) {
	out, err := k.client.GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
		KeyId: aws.String(k.keyARN), KeySpec: types.DataKeySpecAes256, EncryptionContext: encryption,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("calling KMS GenerateDataKey: %w", err)
	}
	return out.Plaintext, out.CiphertextBlob, nil
}

// Unwrap returns the plaintext of a data key that Generate made under the same context. It insists on this KMS key. If
// the data key was wrapped under another key or context, the error wraps deadletter.ErrUnopenable.
func (k dataKeys) Unwrap(ctx context.Context, encryption map[string]string, wrapped []byte) ([]byte, error) {
	out, err := k.client.Decrypt(ctx, &kms.DecryptInput{
		KeyId: aws.String(k.keyARN), CiphertextBlob: wrapped, EncryptionContext: encryption,
	})
	if never(err) {
		return nil, fmt.Errorf("%w: calling KMS Decrypt: %w", deadletter.ErrUnopenable, err)
	}
	if err != nil {
		return nil, fmt.Errorf("calling KMS Decrypt: %w", err)
	}
	return out.Plaintext, nil
}

// never reports whether Decrypt refused a ciphertext itself: it is of another key or context, or damaged.
func never(err error) bool {
	_, ciphertext := errors.AsType[*types.InvalidCiphertextException](err)
	_, key := errors.AsType[*types.IncorrectKeyException](err)
	return ciphertext || key
}
