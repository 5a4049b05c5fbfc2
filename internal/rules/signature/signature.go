// Package signature signs deliveries with HMAC-SHA256 (infra/docs/spec.md, "Delivery signing") and, on request, with
// Ed25519. It makes the signing secrets and key pairs, and checks other senders' secrets.
//
// It promises two signatures of one content, id + "." + timestamp + "." + body, each with the scheme version "v1,"
// before it. The key of the first is the text of the secret exactly as issued, as the specification has it. The key of
// the second is the decoded Base64, after "whsec_" or without it, as the libraries of Standard Webhooks have it. A
// third one, "v1a," and an Ed25519 signature of the same content, is verified by a public key. It never parses the body
// and never keeps a secret.
package signature

import (
	"crypto/ed25519"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Prefix starts every signing secret that Herald makes: the rest is standard Base64 with padding, which libraries of
// Standard Webhooks decode.
const Prefix = "whsec_"

const (
	version     = "v1,"
	secretBytes = 32
)

// NewSecret returns "whsec_" and the 44 characters of Base64 of 32 random bytes.
func NewSecret() string {
	var raw [secretBytes]byte
	_, _ = rand.Read(raw[:]) // never fails
	return Prefix + base64.StdEncoding.EncodeToString(raw[:])
}

// The bounds of a key that another sender used. A shorter one can be found out from a delivery.
const (
	minKeyBytes = 16
	maxKeyBytes = 1024
)

// minFIPSKeyBytes are the 112 bits that FIPS 140-3 wants of a key (SP 800-131A). A text of 16 to 18 characters that is
// Base64 by chance, such as 16 hexadecimal digits, stands for fewer.
const minFIPSKeyBytes = 14

// CheckImported says why another sender's secret cannot sign here. The bounds hold for the decoded key of a secret with
// "whsec_", and for the text of any other: that may be Base64 by chance, as hexadecimal is. In FIPS 140-3 mode, the
// decoded key has a bound of its own. The error never quotes the secret.
func CheckImported(secret string) error {
	switch {
	case strings.TrimSpace(secret) != secret:
		return errors.New("must not have spaces around it")
	case strings.ContainsFunc(secret, unicode.IsControl):
		return errors.New("must not have control characters, such as tabs and line breaks")
	case asymmetric(secret):
		return errors.New("is a key of asymmetric signatures, which Herald does not import")
	}
	key, err := decode(secret)
	if err != nil {
		return errors.New("must have Base64 after whsec_")
	}
	bounded := key
	if !strings.HasPrefix(secret, Prefix) {
		bounded = []byte(secret)
	}
	if len(bounded) < minKeyBytes || len(bounded) > maxKeyBytes {
		return fmt.Errorf("must be a key of %d to %d bytes", minKeyBytes, maxKeyBytes)
	}
	if fips140.Enabled() && len(key) < minFIPSKeyBytes {
		return fmt.Errorf("must be a key of at least %d bytes for FIPS 140-3, and its Base64 stands for %d",
			minFIPSKeyBytes, len(key))
	}
	if weak(string(bounded)) || weak(string(key)) {
		return errors.New("must be random: it repeats itself, counts, or has too few different characters")
	}
	return nil
}

// asymmetric reports whether the secret is half of an Ed25519 key pair, or the whole pair: whsk_ or whpk_, or a prefix
// with a version, such as whsk1_, and then the Base64 of 32 or 64 bytes. Such a text could sign as a key of HMAC, but
// its receiver verifies by the other half, and would refuse every delivery. Any other text may be a key of HMAC:
// PayMongo's keys begin with whsk_.
func asymmetric(secret string) bool {
	kind, encoded, _ := strings.Cut(secret, "_")
	kind = strings.TrimRight(kind, "0123456789")
	if kind != "whsk" && kind != "whpk" {
		return false
	}
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	return err == nil && (len(key) == ed25519.SeedSize || len(key) == ed25519.PrivateKeySize)
}

// decode returns the key that the libraries of Standard Webhooks take from a secret: the decoded Base64, with "whsec_"
// before it or without, with its padding or without, whatever bits are behind the last byte. They take no other secret,
// unless it is given to them as a raw key: then it is its own key, and so it is here. The error is of a secret that has
// no Base64 after "whsec_".
func decode(secret string) ([]byte, error) {
	encoded, prefixed := strings.CutPrefix(secret, Prefix)
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil && !prefixed {
		return []byte(secret), nil
	}
	return key, err
}

// Sign returns the value of wh-signature: "v1," and the Base64 HMAC-SHA256 of id.timestamp.body under the bytes of the
// secret's text. timestamp is Unix seconds.
func Sign(secret, id string, timestamp int64, body []byte) string {
	return sign([]byte(secret), id, timestamp, body)
}

// SignDecoded returns the value of webhook-signature: the same, under the key that the libraries of Standard Webhooks
// take from the secret.
func SignDecoded(secret, id string, timestamp int64, body []byte) string {
	key, err := decode(secret)
	if err != nil { // no secret of Herald's, and none that CheckImported took
		key = []byte(secret)
	}
	return sign(key, id, timestamp, body)
}

func sign(key []byte, id string, timestamp int64, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(head(id, timestamp)))
	mac.Write(body)
	return version + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// head is the signed text before the body.
func head(id string, timestamp int64) string {
	return id + "." + strconv.FormatInt(timestamp, 10) + "."
}
