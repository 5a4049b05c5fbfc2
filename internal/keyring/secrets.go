// Package keyring is Herald's use of KMS: signing secrets sealed one by one, and data keys for
// dead letters.
//
// It promises that a ciphertext opens only under the encryption context that it was made with,
// so that none can be moved to another tenant, endpoint, version or delivery. It writes no
// plaintext anywhere.
package keyring

import (
	"container/list"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"golang.org/x/sync/singleflight"
)

// SecretsClient is the part of the KMS client that Secrets calls. The functions' roles allow
// webhooks to encrypt only and deliver to decrypt only.
type SecretsClient interface {
	Encrypt(context.Context, *kms.EncryptInput, ...func(*kms.Options)) (*kms.EncryptOutput, error)
	Decrypt(context.Context, *kms.DecryptInput, ...func(*kms.Options)) (*kms.DecryptOutput, error)
}

// SecretID names one version of one endpoint's signing secret.
type SecretID struct {
	TenantID   string
	EndpointID string
	Version    int
}

// context is the KMS encryption context: a sealed secret moved to another endpoint, tenant or
// version does not open. It appears in CloudTrail: ids only.
func (id SecretID) context() map[string]string {
	return map[string]string{
		"purpose":        "signing-secret",
		"tenant_id":      id.TenantID,
		"endpoint_id":    id.EndpointID,
		"secret_version": strconv.Itoa(id.Version),
	}
}

// maxOpen bounds the plaintexts kept in memory: the least recently used goes. Rotation needs no
// eviction: a new version is a new id, and the old one is not used again.
const maxOpen = 10_000

// Secrets seals signing secrets under one KMS key and opens them, once per process and
// version. It is safe for concurrent use.
type Secrets struct {
	client SecretsClient
	keyARN string

	opening singleflight.Group
	mu      sync.Mutex
	open    map[SecretID]*list.Element
	recent  *list.List // of opened, the most recently used first
}

// opened is a plaintext in memory.
type opened struct {
	id     SecretID
	secret string
}

// NewSecrets returns the signing secrets of keyARN.
func NewSecrets(client SecretsClient, keyARN string) *Secrets {
	return &Secrets{client: client, keyARN: keyARN, open: map[SecretID]*list.Element{}, recent: list.New()}
}

// Seal encrypts the secret. It calls KMS each time.
func (s *Secrets) Seal(ctx context.Context, id SecretID, secret string) ([]byte, error) {
	out, err := s.client.Encrypt(ctx, &kms.EncryptInput{
		KeyId: aws.String(s.keyARN), Plaintext: []byte(secret), EncryptionContext: id.context(),
	})
	if err != nil {
		return nil, fmt.Errorf("calling KMS Encrypt: %w", err)
	}
	return out.CiphertextBlob, nil
}

// Open returns the plaintext of a sealed secret, from memory where it was opened before.
func (s *Secrets) Open(ctx context.Context, id SecretID, sealed []byte) (string, error) {
	if secret, ok := s.remembered(id); ok {
		return secret, nil
	}
	key := id.TenantID + "\x00" + id.EndpointID + "\x00" + strconv.Itoa(id.Version)
	v, err, _ := s.opening.Do(key, func() (any, error) { return s.decrypt(ctx, id, sealed) })
	if err != nil {
		return "", err
	}
	return v.(string), nil
}

func (s *Secrets) decrypt(ctx context.Context, id SecretID, sealed []byte) (string, error) {
	out, err := s.client.Decrypt(ctx, &kms.DecryptInput{
		KeyId: aws.String(s.keyARN), CiphertextBlob: sealed, EncryptionContext: id.context(),
	})
	if err != nil {
		return "", fmt.Errorf("calling KMS Decrypt: %w", err)
	}
	secret := string(out.Plaintext)
	s.remember(id, secret)
	return secret, nil
}

func (s *Secrets) remembered(id SecretID) (secret string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.open[id]
	if e == nil {
		return "", false
	}
	s.recent.MoveToFront(e)
	return e.Value.(opened).secret, true
}

func (s *Secrets) remember(id SecretID, secret string) {
	// An id that was read is part of an answer, of which up to 4 KiB would be kept along with it.
	id.TenantID, id.EndpointID = strings.Clone(id.TenantID), strings.Clone(id.EndpointID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.open[id]; e != nil { // opened twice at the same time
		s.recent.Remove(e)
	}
	s.open[id] = s.recent.PushFront(opened{id, secret})
	if s.recent.Len() > maxOpen {
		delete(s.open, s.recent.Remove(s.recent.Back()).(opened).id)
	}
}
