// Package signature signs deliveries with HMAC-SHA256 (infra/docs/spec.md, "Delivery signing"), makes the signing
// secrets, and reads other senders'.
//
// It promises: the signed content is id + "." + timestamp + "." + body, the key of a secret that Herald made is its
// text exactly as issued (prefix included), and the header value starts with the scheme version "v1,". It never parses
// the body and never keeps a secret.
package signature

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Prefix starts every signing secret. It is not Standard Webhooks' "whsec_", which promises
// that the rest is Base64 to be decoded before use: ours is used as it stands.
const Prefix = "whs_"

const (
	version     = "v1,"
	secretBytes = 32
)

// NewSecret returns "whs_" and 43 base64url characters of 32 random bytes.
func NewSecret() string {
	var raw [secretBytes]byte
	_, _ = rand.Read(raw[:]) // never fails
	return Prefix + base64.RawURLEncoding.EncodeToString(raw[:])
}

// The bounds of a key that another sender used. A shorter one can be found out from a delivery.
const (
	minKeyBytes = 16
	maxKeyBytes = 1024
)

// ImportKey returns the HMAC key of another sender's secret: the bytes of the Base64 after "whsec_" (Standard
// Webhooks), or else its literal text. The error never quotes it.
func ImportKey(secret string) (key string, err error) {
	switch {
	case strings.TrimSpace(secret) != secret:
		return "", errors.New("must not have spaces around it")
	case strings.HasPrefix(secret, "whsk_") || strings.HasPrefix(secret, "whpk_"):
		return "", errors.New("is a key of asymmetric signatures, which Herald does not make")
	}
	if encoded, found := strings.CutPrefix(secret, "whsec_"); found {
		raw, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(encoded, "="))
		if err != nil {
			return "", errors.New("must have Base64 after whsec_")
		}
		secret = string(raw)
	}
	if len(secret) < minKeyBytes || len(secret) > maxKeyBytes {
		return "", fmt.Errorf("must be a key of %d to %d bytes", minKeyBytes, maxKeyBytes)
	}
	if weak(secret) {
		return "", errors.New("must be random: it repeats itself, counts, or has too few different characters")
	}
	return secret, nil
}

// Sign returns the wh-signature header: "v1," and the Base64 HMAC-SHA256 of
// id.timestamp.body under the bytes of secret. timestamp is Unix seconds.
func Sign(secret, id string, timestamp int64, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(id + "." + strconv.FormatInt(timestamp, 10) + "."))
	mac.Write(body)
	return version + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
