package apikey_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

var now = time.Date(2026, 3, 1, 13, 0, 0, 123_456_789, time.FixedZone("CET", 3600))

func TestNew_keepsTheHashOfTheTextItReturns(t *testing.T) {
	key, text := apikey.New(now)
	id, ok := apikey.ParseID(text)
	if !ok || !strings.HasPrefix(id, "01KJMMA2KV") {
		t.Errorf("the id of %s is %s", text, id)
	}
	hash := sha256.Sum256([]byte(text))
	want := apikey.Key{ID: id, Hash: hash[:], CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 123_000_000, time.UTC)}
	if diff := cmp.Diff(want, key); diff != "" {
		t.Errorf("key (-want +got):\n%s", diff)
	}
	varied := map[int]bool{}
	for range 30 {
		_, other := apikey.New(now)
		for i := range other {
			if other[i] != text[i] {
				varied[i] = true
			}
		}
	}
	if want := 16 + 43; len(varied) != want { // of the id, and the secret
		t.Errorf("%d characters are random, want %d", len(varied), want)
	}
}

func TestKey_Accepts_itsOwnTextAlone(t *testing.T) {
	key, text := apikey.New(now)
	_, other := apikey.New(now)
	for name, row := range map[string]struct {
		text string
		want bool
	}{
		"its own":                     {text, true},
		"nothing":                     {"", false},
		"another key's":               {other, false},
		"another secret under its id": {text[:len(text)-43] + other[len(other)-43:], false},
		"one character more":          {text + "A", false},
		"one character less":          {text[:len(text)-1], false},
		"the same in lower case":      {strings.ToLower(text), false},
	} {
		if got := key.Accepts(row.text); got != row.want {
			t.Errorf("%s: accepted %v, want %v", name, got, row.want)
		}
	}
	if key.RevokedAt = now; key.Accepts(text) {
		t.Error("a revoked key accepts its text")
	}
}

func TestParseID_refusesWhatNewCannotHaveMade(t *testing.T) {
	key, text := apikey.New(now)
	id := text[3:29]
	if got, ok := apikey.ParseID(text); got != key.ID || !ok {
		t.Errorf("ParseID = %q, %v, want %q", got, ok, key.ID)
	}
	for name, bad := range map[string]string{
		"nothing":                    "",
		"another prefix":             "sk" + text[2:],
		"no secret":                  "hk_" + id,
		"an empty secret":            "hk_" + id + "_",
		"a short secret":             text[:len(text)-1],
		"a long secret":              text + "A",
		"a secret not in base64url":  text[:len(text)-1] + "+",
		"a secret with a spare bit":  text[:len(text)-1] + "B",
		"an id in lower case":        "hk_" + strings.ToLower(id) + text[29:],
		"a short id":                 "hk_" + id[1:] + text[29:],
		"an id with foreign letters": "hk_" + strings.Repeat("U", 26) + text[29:],
		"an id of more than 128 bit": "hk_8" + id[1:] + text[29:],
		"a key id alone":             id,
	} {
		if id, ok := apikey.ParseID(bad); ok {
			t.Errorf("%s: ParseID = %q, true", name, id)
		}
	}
}
