package signature

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
)

// PublicPrefix starts every public key as owners see it. The rest is the key's 32 bytes in standard Base64 with
// padding, as in Standard Webhooks.
const PublicPrefix = "whpk_"

const asymmetricVersion = "v1a,"

// Signer signs the deliveries of one endpoint.
type Signer struct {
	Secret string             // the text of the signing secret
	Key    ed25519.PrivateKey // nil where the endpoint has no key pair
}

// NewSigner returns a signer with this secret and a new key pair.
func NewSigner(secret string) Signer {
	var seed [ed25519.SeedSize]byte
	_, _ = rand.Read(seed[:]) // never fails
	return Signer{Secret: secret, Key: ed25519.NewKeyFromSeed(seed[:])}
}

// PublicKey is the public half of the key pair as owners see it, "" where there is none.
func (s Signer) PublicKey() string {
	if s.Key == nil {
		return ""
	}
	return PublicPrefix + base64.StdEncoding.EncodeToString(s.Key[ed25519.SeedSize:])
}

// separator stands between secret and key in a text. The Base64 of a key has none.
const separator = "\x00"

// Text is the form in which a signer is sealed, in one piece: the secret and, where there is a key pair, a NUL and the
// Base64 of the private key.
func (s Signer) Text() string {
	if s.Key == nil {
		return s.Secret
	}
	return s.Secret + separator + base64.StdEncoding.EncodeToString(s.Key)
}

// ParseSigner reads the text of a signer. keyed says that there is a key pair: no text tells by itself, since other
// senders choose their secrets. The error quotes nothing.
func ParseSigner(text string, keyed bool) (Signer, error) {
	if !keyed {
		return Signer{Secret: text}, nil
	}
	at := strings.LastIndex(text, separator)
	key, ok := exactly(ed25519.PrivateKeySize, text[at+1:])
	if at < 0 || !ok {
		return Signer{}, errors.New("the text of a signer has no private key")
	}
	return Signer{Secret: text[:at], Key: key}, nil
}

// exactly decodes Base64 of the given size, and takes no other text for the same bytes: Go's decoder skips line ends.
func exactly(size int, encoded string) (decoded []byte, ok bool) {
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	return decoded, err == nil && len(decoded) == size && base64.StdEncoding.EncodeToString(decoded) == encoded
}

// SignAsymmetric returns another value of webhook-signature: "v1a," and the Base64 of the Ed25519 signature (RFC 8032)
// of id.timestamp.body.
func SignAsymmetric(key ed25519.PrivateKey, id string, timestamp int64, body []byte) string {
	content := slices.Concat([]byte(head(id, timestamp)), body)
	return asymmetricVersion + base64.StdEncoding.EncodeToString(ed25519.Sign(key, content))
}

// JWK is a public key in a JSON Web Key Set (RFC 7517, RFC 8037).
type JWK struct {
	Type      string `json:"kty"`
	Curve     string `json:"crv"`
	X         string `json:"x"` // base64url of the 32 bytes
	ID        string `json:"kid"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
}

// NewJWK returns a public key, as owners see it, for a key set. Its id is its thumbprint (RFC 7638).
func NewJWK(public string) (JWK, error) {
	encoded, found := strings.CutPrefix(public, PublicPrefix)
	key, ok := exactly(ed25519.PublicKeySize, encoded)
	if !found || !ok {
		return JWK{}, errors.New("no public key of Herald's")
	}
	return newJWK(key), nil
}

// KeyID is the id that a public key has in a key set.
func (s Signer) KeyID() string {
	if s.Key == nil {
		return ""
	}
	return newJWK(s.Key[ed25519.SeedSize:]).ID
}

func newJWK(key []byte) JWK {
	x := base64.RawURLEncoding.EncodeToString(key)
	thumbprint := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return JWK{
		Type: "OKP", Curve: "Ed25519", X: x, ID: base64.RawURLEncoding.EncodeToString(thumbprint[:]), Use: "sig",
		Algorithm: "EdDSA",
	}
}
