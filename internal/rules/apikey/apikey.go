// Package apikey makes the secret that a tenant's server shows to the management API, with its scopes and stored
// form.
//
// It promises that a key is "hk_", an id without underscore, "_" and 43 base64url characters of 32 random bytes, that
// only a SHA-256 of the text is stored (256 random bits need no slow hash), and that a comparison takes the same time
// for every guess. It never keeps the text, and only New returns it. A key counts its requests in each minute.
package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Scope is a permission of a key.
type Scope string

// The scopes of the management API. Neither implies the other.
const (
	Read  Scope = "webhooks:read"
	Write Scope = "webhooks:write"
)

// Scopes returns all scopes, the default of a new key.
func Scopes() []Scope { return []Scope{Read, Write} }

// Key is the record of an API key. The tags name its attributes in the table ApiKeys.
type Key struct {
	// ID is a ULID, so that ids sort by time of issue.
	ID string `dynamodbav:"key_id"`

	TenantID    string  `dynamodbav:"tenant_id"`
	Scopes      []Scope `dynamodbav:"scopes"`
	Description string  `dynamodbav:"description,omitempty"`

	// Hash is the SHA-256 of the whole text.
	Hash []byte `dynamodbav:"hash"`

	CreatedAt time.Time `dynamodbav:"created_at"`

	// RevokedAt is zero while the key is valid.
	RevokedAt time.Time `dynamodbav:"revoked_at,omitempty"`

	LastUsedAt time.Time `dynamodbav:"last_used_at,omitempty"`

	// SpentMinute is the minute of the key's last request, counted since 1970. Spent is the use in that minute.
	SpentMinute int64 `dynamodbav:"spent_minute,omitempty"`
	Spent       int   `dynamodbav:"spent,omitempty"`
}

// Minute is the minute, since 1970, that a time is in.
func Minute(t time.Time) int64 { return t.Unix() / 60 }

const (
	prefix     = "hk_"
	secretSize = 32 // bytes
	secretText = 43 // base64url characters
)

// New makes a key and its text, which is not to be had again. The caller fills in tenant,
// scopes and description.
func New(now time.Time) (key Key, text string) {
	id := ulid.MustNew(ulid.Timestamp(now), rand.Reader).String()
	var secret [secretSize]byte
	_, _ = rand.Read(secret[:]) // never fails
	text = prefix + id + "_" + base64.RawURLEncoding.EncodeToString(secret[:])
	return Key{ID: id, Hash: hash(text), CreatedAt: now.UTC().Truncate(time.Millisecond)}, text
}

// ValidID reports whether id has the form of a key id.
func ValidID(id string) bool {
	parsed, err := ulid.ParseStrict(id)
	return err == nil && parsed.String() == id // upper case only
}

// ParseID returns the id within a key's text; ok is false for anything that New cannot have
// made, which needs no look-up.
func ParseID(text string) (id string, ok bool) {
	rest, found := strings.CutPrefix(text, prefix)
	if !found {
		return "", false
	}
	id, secret, found := strings.Cut(rest, "_")
	if !found || len(secret) != secretText || !ValidID(id) {
		return "", false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	return id, err == nil && len(raw) == secretSize
}

// Accepts reports whether text is this key and the key is not revoked.
func (k Key) Accepts(text string) bool {
	same := subtle.ConstantTimeCompare(hash(text), k.Hash) == 1
	return same && k.RevokedAt.IsZero()
}

// Affords reports whether the key has so many units left of its budget for the minute of now. A minute that
// another process has begun a little earlier counts.
func (k Key) Affords(units, budget int, now time.Time) bool {
	return k.SpentMinute < Minute(now) || k.Spent+units <= budget
}

// Allows reports whether the key has the scope.
func (k Key) Allows(s Scope) bool { return slices.Contains(k.Scopes, s) }

func hash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}
