// Package keyring is Herald's use of KMS: signing secrets, owners' headers and client secrets sealed one by one, and
// data keys for dead letters.
//
// It promises that a ciphertext opens only under the encryption context that it was made with, so that none can be
// moved to another tenant, endpoint, version or delivery, and no headers or client secret to another origin. It writes
// no plaintext anywhere.
//
// A secret is sealed under the context {purpose, tenant_id, endpoint_id, secret_version}, and with a key pair also
// public_key: a key that was exchanged in the row opens nothing, so that what receivers are shown is what signs.
// Secret and private key are sealed in one call. Headers are sealed under {purpose, tenant_id, endpoint_id,
// headers_version, origin}, where the origin is scheme, host and port of the URL, and a client secret under {purpose,
// tenant_id, endpoint_id, oauth2_version, origin, token_origin}. The secret before a rotation with an
// overlap keeps its ciphertext, which opens under the version before. By the key's policy webhooks alone encrypts and
// deliver alone decrypts. CloudTrail shows contexts.
package keyring

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"golang.org/x/sync/singleflight"

	"github.com/herald-webhooks/herald/internal/edges/recent"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// SecretsClient is the part of the KMS client that Secrets calls. The functions' roles allow
// webhooks to encrypt only and deliver to decrypt only.
type SecretsClient interface {
	Encrypt(context.Context, *kms.EncryptInput, ...func(*kms.Options)) (*kms.EncryptOutput, error)
	Decrypt(context.Context, *kms.DecryptInput, ...func(*kms.Options)) (*kms.DecryptOutput, error)
}

// ErrUnopenable is wrapped by the error of a secret that will never open: it was sealed under another key, for another
// endpoint, tenant or version, or, if it is headers, for another origin.
var ErrUnopenable = errors.New("unopenable")

// SecretID names one version of one endpoint's signing secret, of its owner's headers, or of the client secret that
// gets its tokens.
type SecretID struct {
	TenantID   string
	EndpointID string
	Version    int    // each kind is counted apart
	PublicKey  string // of the private key that is sealed with a secret; "" where none is
	Headers    bool   // it is headers
	TokenURL   string // where a client secret goes; "": it is none
	URL        string // where headers and tokens go; they open for its origin alone
}

// SecretOf names the signing secret of an endpoint.
func SecretOf(e endpoint.Endpoint) SecretID {
	return SecretID{TenantID: e.TenantID, EndpointID: e.ID, Version: e.SecretVersion, PublicKey: e.PublicKey}
}

// PreviousOf names the signing secret that the last rotation replaced.
func PreviousOf(e endpoint.Endpoint) SecretID {
	return SecretID{TenantID: e.TenantID, EndpointID: e.ID, Version: e.SecretVersion - 1, PublicKey: e.PreviousKey}
}

// HeadersOf names the headers of an endpoint.
func HeadersOf(e endpoint.Endpoint) SecretID {
	return SecretID{TenantID: e.TenantID, EndpointID: e.ID, Version: e.HeadersVersion, Headers: true, URL: e.URL}
}

// ClientSecretOf names the client secret of an endpoint with an OAuth.
func ClientSecretOf(e endpoint.Endpoint) SecretID {
	return SecretID{
		TenantID: e.TenantID, EndpointID: e.ID, Version: e.OAuthVersion, TokenURL: e.TokenURL(), URL: e.URL,
	}
}

// context is the KMS encryption context. CloudTrail shows it: ids, a public key, and the hosts that values go to. With
// the public key in it, a row whose public key was exchanged cannot be opened. So no delivery is signed by another key
// than the one that receivers are shown.
func (id SecretID) context() (map[string]string, error) {
	bound := map[string]string{"tenant_id": id.TenantID, "endpoint_id": id.EndpointID}
	version := strconv.Itoa(id.Version)
	if id.TokenURL != "" {
		return id.clientContext(bound, version)
	}
	if !id.Headers {
		bound["purpose"], bound["secret_version"] = "signing-secret", version
		if id.PublicKey != "" {
			bound["public_key"] = id.PublicKey
		}
		return bound, nil
	}
	origin, err := endpoint.Origin(id.URL)
	bound["purpose"] = "headers"
	bound["headers_version"] = version
	bound["origin"] = origin
	return bound, err
}

// clientContext binds a client secret to the origin of the token URL, which gets it, and to that of the endpoint, which
// gets the tokens.
func (id SecretID) clientContext(bound map[string]string, version string) (map[string]string, error) {
	origin, err := endpoint.Origin(id.URL)
	if err != nil {
		return nil, err
	}
	tokens, err := endpoint.Origin(id.TokenURL)
	bound["purpose"], bound["oauth2_version"] = "client-secret", version
	bound["origin"], bound["token_origin"] = origin, tokens
	return bound, err
}

// opened names a plaintext in memory. The sealed bytes are part of the name: after a rotation, a restore of the table
// and another rotation, one version names two secrets.
type opened struct {
	id     SecretID
	sealed [sha256.Size]byte // their digest
}

// kept is the id without a share in the memory of the answer that it was read from.
func (id SecretID) kept() SecretID {
	id.TenantID = strings.Clone(id.TenantID)
	id.EndpointID = strings.Clone(id.EndpointID)
	id.PublicKey = strings.Clone(id.PublicKey)
	id.TokenURL, id.URL = strings.Clone(id.TokenURL), strings.Clone(id.URL)
	return id
}

// maxOpen bounds the plaintexts kept in memory.
const maxOpen = 10_000

// Secrets seals signing secrets under one KMS key and opens them, once per process and
// version. It is safe for concurrent use.
type Secrets struct {
	client SecretsClient
	keyARN string

	opening singleflight.Group
	open    recent.Memory[opened, string] // plaintexts
}

// NewSecrets returns the signing secrets of keyARN.
func NewSecrets(client SecretsClient, keyARN string) *Secrets {
	s := &Secrets{client: client, keyARN: keyARN}
	s.open.Bound = maxOpen
	return s
}

// Seal encrypts the secret. It calls KMS each time.
func (s *Secrets) Seal(ctx context.Context, id SecretID, secret string) ([]byte, error) {
	bound, err := id.context()
	if err != nil {
		return nil, fmt.Errorf("binding a secret: %w", err)
	}
	out, err := s.client.Encrypt(ctx, &kms.EncryptInput{
		KeyId: aws.String(s.keyARN), Plaintext: []byte(secret), EncryptionContext: bound,
	})
	if err != nil {
		return nil, fmt.Errorf("calling KMS Encrypt: %w", err)
	}
	return out.CiphertextBlob, nil
}

// Open returns the plaintext of a sealed secret, from memory where it was opened before. Its error wraps ErrUnopenable
// where asking again cannot help.
func (s *Secrets) Open(ctx context.Context, id SecretID, sealed []byte) (string, error) {
	name := opened{id, sha256.Sum256(sealed)}
	if secret, known := s.open.Get(name); known {
		return secret, nil
	}
	v, err, _ := s.opening.Do(fmt.Sprintf("%#v", name), func() (any, error) {
		secret, err := s.decrypt(ctx, id, sealed)
		if err != nil {
			return "", err
		}
		s.open.Put(opened{id.kept(), name.sealed}, secret)
		return secret, nil
	})
	if err != nil {
		return "", err
	}
	return v.(string), nil
}

// decrypt calls KMS. A refusal that no later call can change is ErrUnopenable: the row was changed, or is of another
// stack. Any other error may pass.
func (s *Secrets) decrypt(ctx context.Context, id SecretID, sealed []byte) (string, error) {
	bound, err := id.context()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnopenable, err)
	}
	out, err := s.client.Decrypt(ctx, &kms.DecryptInput{
		KeyId: aws.String(s.keyARN), CiphertextBlob: sealed, EncryptionContext: bound,
	})
	if never(err) {
		return "", fmt.Errorf("%w: calling KMS Decrypt: %w", ErrUnopenable, err)
	}
	if err != nil {
		return "", fmt.Errorf("calling KMS Decrypt: %w", err)
	}
	return string(out.Plaintext), nil
}
