package token

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Kept is what is known of an endpoint's token, as processes share it. Without a sealed token and a reason, a process
// is asking for the token. It decides until then, and is nothing afterwards.
type Kept struct {
	Of     string          `dynamodbav:"of"`    // the credentials
	Claim  string          `dynamodbav:"claim"` // of the process that asked: no other claim has it
	Asked  time.Time       `dynamodbav:"asked"`
	Until  int64           `dynamodbav:"until"` // Unix milliseconds, which a condition compares
	Sealed []byte          `dynamodbav:"sealed,omitempty"`
	Reason delivery.Reason `dynamodbav:"reason,omitempty"` // why there is none
}

// Stands reports whether it decides about these credentials at a time.
func (k Kept) Stands(of string, now time.Time) bool { return k.Of == of && now.UnixMilli() < k.Until }

// Key opens what processes share of an endpoint's token. It is made from its secrets, so whoever may open them may open
// the token, and nobody else: no right of KMS is needed, and no call.
type Key struct {
	of   string
	aead cipher.AEAD
}

// Secrets are what a key is made from. The signing secret has the entropy that a client secret, which is chosen
// elsewhere, may lack. Sealed are both as they are stored: a rotation of either makes another key.
type Secrets struct {
	TenantID, EndpointID string
	Signing, Client      string
	Sealed               [][]byte
}

// NewKey makes the key.
func NewKey(s Secrets) (Key, error) {
	name := sha256.New()
	for _, sealed := range append([][]byte{[]byte(s.TenantID), []byte(s.EndpointID)}, s.Sealed...) {
		sum := sha256.Sum256(sealed)
		_, _ = name.Write(sum[:]) // of a hash: cannot fail
	}
	of := hex.EncodeToString(name.Sum(nil)[:16])
	const bytes = 32
	key, err := hkdf.Key(sha256.New, []byte(s.Signing+"\n"+s.Client), nil, "herald access token "+of, bytes)
	if err != nil {
		return Key{}, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return Key{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return Key{of, aead}, err
}

// Of names the credentials.
func (k Key) Of() string { return k.of }

// Seal seals a token.
func (k Key) Seal(token string) []byte {
	return k.aead.Seal(nil, nil, []byte(token), []byte(k.of)) //nolint:gosec // it makes the nonce itself
}

var errSeal = errors.New("the token does not open")

// Open opens a sealed token. What was written by somebody else is none that could be sent.
func (k Key) Open(sealed []byte) (string, error) {
	plain, err := k.aead.Open(nil, nil, sealed, []byte(k.of))
	if err != nil || !sendable(string(plain)) {
		return "", errSeal
	}
	return string(plain), nil
}
