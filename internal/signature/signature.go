// Package signature signs deliveries with HMAC-SHA256 (infra/docs/spec.md, "Delivery signing") and makes
// the signing secrets.
//
// It promises: the signed content is id + "." + timestamp + "." + body, the key is the text
// of the secret exactly as issued (prefix included), and the header value starts with the
// scheme version "v1,". It never parses the body and never keeps a secret.
package signature

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"io"
	"strconv"
	"sync"
)

// Prefix starts every signing secret. It is not Standard Webhooks' "whsec_", which promises
// that the rest is Base64 to be decoded before use: ours is used as it stands.
const Prefix = "whs_"

const (
	version     = "v1,"
	secretBytes = 32
)

// NewSecret returns "whs_" and 43 base64url characters of 32 bytes read from random.
func NewSecret(random io.Reader) (string, error) {
	var raw [secretBytes]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return Prefix + base64.RawURLEncoding.EncodeToString(raw[:]), nil
}

// Sign returns the wh-signature header: "v1," and the Base64 HMAC-SHA256 of
// id.timestamp.body under the bytes of secret. timestamp is Unix seconds. It allocates nothing but
// what it returns.
func Sign(secret, id string, timestamp int64, body []byte) string {
	m := macs.Get().(*mac)
	defer macs.Put(m)
	defer m.forget()
	m.text = append(append(m.text[:0], id...), '.')
	m.text = append(strconv.AppendInt(m.text, timestamp, 10), '.')
	sum := m.sign(secret, body)
	m.text = base64.StdEncoding.AppendEncode(append(m.text[:0], version...), sum)
	return string(m.text)
}

// mac has room for one HMAC-SHA256 (RFC 2104) at a time. crypto/hmac would make two hashes for each.
type mac struct {
	hash hash.Hash
	key  [sha256.BlockSize]byte // padded, and with the one mask or the other
	sum  [sha256.Size]byte
	text []byte // what is signed before the body, then the header
}

var macs = sync.Pool{New: func() any { return &mac{hash: sha256.New()} }}

const inner, outer = 0x36, 0x5c // the masks of the key

// sign returns the HMAC of m.text and body, which stands in m.
func (m *mac) sign(secret string, body []byte) []byte {
	if copied := copy(m.key[:], secret); copied < len(secret) { // a key longer than a block is its hash
		sum := sha256.Sum256([]byte(secret))
		clear(m.key[copy(m.key[:], sum[:]):])
	}
	m.mask(inner)
	m.hash.Reset()
	m.hash.Write(m.key[:])
	m.hash.Write(m.text)
	m.hash.Write(body)
	m.hash.Sum(m.sum[:0])
	m.mask(inner ^ outer)
	m.hash.Reset()
	m.hash.Write(m.key[:])
	m.hash.Write(m.sum[:])
	return m.hash.Sum(m.sum[:0])
}

func (m *mac) mask(with byte) {
	for i := range m.key {
		m.key[i] ^= with
	}
}

// forget removes the key, and what the hash has taken of it.
func (m *mac) forget() {
	clear(m.key[:])
	m.hash.Reset()
}
