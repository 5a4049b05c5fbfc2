package apikey_test

import (
	"bytes"
	"crypto/rand"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/apikey"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)

func newKey(t *testing.T) (apikey.Key, string) {
	t.Helper()
	key, text, err := apikey.New(now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key, text
}

func TestANewKeyHasTheDesignsFormAndAcceptsItsOwnText(t *testing.T) {
	key, text := newKey(t)
	if !regexp.MustCompile(`^hk_[0-9A-Z]{26}_[A-Za-z0-9_-]{43}$`).MatchString(text) {
		t.Errorf("text has another form: %d characters", len(text))
	}
	if id, ok := apikey.ParseID(text); !ok || id != key.ID {
		t.Errorf("ParseID = %q %v, want %q", id, ok, key.ID)
	}
	if !key.Accepts(text) {
		t.Error("refuses its own text")
	}
	if bytes.Contains(key.Hash, []byte(text[len(text)-10:])) || len(key.Hash) != 32 {
		t.Error("the hash is not a SHA-256")
	}
	if !key.CreatedAt.Equal(now.Truncate(time.Millisecond)) {
		t.Errorf("created at %v", key.CreatedAt)
	}
}

func TestAKeyRefusesEveryOtherTextAndItsOwnOnceRevoked(t *testing.T) {
	key, text := newKey(t)
	_, other := newKey(t)
	sameID := text[:len(text)-43] + other[len(other)-43:]
	for _, bad := range []string{"", other, sameID, text + "A", text[:len(text)-1], strings.ToLower(text)} {
		if key.Accepts(bad) {
			t.Errorf("accepts %q", bad)
		}
	}
	key.RevokedAt = now
	if key.Accepts(text) {
		t.Error("accepts its text though revoked")
	}
}

func TestMalformedTextNeedsNoLookUp(t *testing.T) {
	_, text := newKey(t)
	id := text[3:29]
	for name, bad := range map[string]string{
		"empty":                      "",
		"another prefix":             "sk" + text[2:],
		"no secret":                  "hk_" + id,
		"empty secret":               "hk_" + id + "_",
		"short secret":               text[:len(text)-1],
		"long secret":                text + "A",
		"secret not base64url":       text[:len(text)-1] + "+",
		"secret with spare bits set": text[:len(text)-1] + "B",
		"id in lower case":           "hk_" + strings.ToLower(id) + text[29:],
		"id too short":               "hk_" + id[1:] + text[29:],
		"id with foreign letters":    "hk_" + strings.Repeat("U", 26) + text[29:],
		"id overflowing a ULID":      "hk_8" + id[1:] + text[29:],
		"key id only":                id,
	} {
		if id, ok := apikey.ParseID(bad); ok {
			t.Errorf("%s: ParseID = %q, true", name, id)
		}
	}
}

func TestScopesAreSeparate(t *testing.T) {
	key := apikey.Key{Scopes: []apikey.Scope{apikey.Read}}
	if !key.Allows(apikey.Read) || key.Allows(apikey.Write) {
		t.Error("a read key must read and not write")
	}
	if (apikey.Key{}).Allows(apikey.Read) {
		t.Error("a key without scopes must do nothing")
	}
	for _, s := range apikey.Scopes() {
		if !s.Valid() {
			t.Errorf("%s is not valid", s)
		}
	}
	if apikey.Scope("webhooks:*").Valid() {
		t.Error("webhooks:* is valid")
	}
}
