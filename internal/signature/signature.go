// Package signature signs deliveries with HMAC-SHA256 (infra/docs/spec.md, "Delivery signing") and makes
// the signing secrets.
//
// It promises: the signed content is id + "." + timestamp + "." + body, the key is the text
// of the secret exactly as issued (prefix included), and the header value starts with the
// scheme version "v1,". It never parses the body and never keeps a secret.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
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
// id.timestamp.body under the bytes of secret. timestamp is Unix seconds.
func Sign(secret, id string, timestamp int64, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(id + "." + strconv.FormatInt(timestamp, 10) + "."))
	mac.Write(body)
	return version + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
