package signature_test

import (
	"crypto/ed25519"
	"crypto/fips140"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// TestSign_vectors compares with signatures that an independent implementation computed: see testdata/README.md.
//
// Threat of a receiver: uses a delivery again elsewhere. Held by: id, time and body are signed, under a secret of the
// endpoint's own.
func TestSign_vectors(t *testing.T) {
	content, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name       string `json:"name"`
		Secret     string `json:"secret"`
		ID         string `json:"id"`
		Timestamp  int64  `json:"timestamp"`
		BodyBase64 string `json:"body_base64"`
		Signature  string `json:"signature"`
		Decoded    string `json:"decoded_signature"`
		Seed       []byte `json:"seed_base64"`
		PublicKey  string `json:"public_key"`
		KeyID      string `json:"key_id"`
		Asymmetric string `json:"asymmetric_signature"`
	}
	if err := json.Unmarshal(content, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 12 {
		t.Errorf("%d vectors, want 12 at least", len(vectors))
	}
	for _, v := range vectors {
		body, err := base64.StdEncoding.DecodeString(v.BodyBase64)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		var signed, decoded string
		fips140.WithoutEnforcement(func() { // which allows no short keys
			signed = signature.Sign(v.Secret, v.ID, v.Timestamp, body)
			decoded = signature.SignDecoded(v.Secret, v.ID, v.Timestamp, body)
		})
		if diff := cmp.Diff(v.Signature, signed); diff != "" {
			t.Errorf("%s: signature (-want +got):\n%s", v.Name, diff)
		}
		if diff := cmp.Diff(v.Decoded, decoded); diff != "" {
			t.Errorf("%s: signature under the decoded key (-want +got):\n%s", v.Name, diff)
		}
		signer := signature.Signer{Key: ed25519.NewKeyFromSeed(v.Seed)}
		got := []string{
			signer.PublicKey(), signer.KeyID(), signature.SignAsymmetric(signer.Key, v.ID, v.Timestamp, body),
		}
		if diff := cmp.Diff([]string{v.PublicKey, v.KeyID, v.Asymmetric}, got); diff != "" {
			t.Errorf("%s: public key, its id, signature (-want +got):\n%s", v.Name, diff)
		}
	}
}

// FuzzSign has the library of Standard Webhooks sign and verify each delivery: by its raw constructor for the literal
// key, and by its usual one for the decoded key where it takes the secret. An empty id counts as a missing header
// there. The library skips line breaks in Base64, but no secret has one.
func FuzzSign(f *testing.F) {
	f.Add("whsec_AAECAwQFBgcICQoLDA0ODw==", "msg_1", int64(1_700_000_000), []byte(`{"type":"user.created"}`))
	f.Add("whsec_", "", int64(0), []byte(nil))
	f.Add("whsec_\x00\xff", "msg_.1.", int64(-1), []byte(".1700000000."))
	f.Add("the literal text of a key", "msg_2", int64(1), []byte("{}"))
	f.Add("whsec_001=", "msg_3", int64(1), []byte("{}"))
	f.Add("AAECAwQFBgcICQoLDA0ODw==", "msg_4", int64(1), []byte("{}"))
	f.Fuzz(func(t *testing.T, secret, id string, timestamp int64, body []byte) {
		raw, err := standardwebhooks.NewWebhookRaw([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		fips140.WithoutEnforcement(func() { // which allows no short keys
			agree(t, raw, signature.Sign(secret, id, timestamp, body), id, timestamp, body)
			usual, err := standardwebhooks.NewWebhook(secret)
			if err == nil && !strings.ContainsAny(secret, "\r\n") {
				agree(t, usual, signature.SignDecoded(secret, id, timestamp, body), id, timestamp, body)
			}
		})
	})
}

// A secret that a library of Standard Webhooks takes has one key: the one that the library takes from it. Libraries for
// Go want the padding. Those for Node.js and Python do without it.
func TestSignDecoded_readsEverySecretAsLibrariesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := drawSecret(t)
		padded := secret + strings.Repeat("=", (4-len(strings.TrimPrefix(secret, signature.Prefix))%4)%4)
		usual, err := standardwebhooks.NewWebhook(padded)
		if err != nil {
			t.Fatalf("%s: %v", padded, err)
		}
		want, err := usual.Sign("msg_1", time.Unix(1, 0), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{secret, padded} {
			if err := signature.CheckImported(form); err != nil {
				t.Errorf("%s is refused: %v", form, err)
			}
			if got := signature.SignDecoded(form, "msg_1", 1, nil); got != want {
				t.Errorf("%s: %s, want %s", form, got, want)
			}
		}
	})
	raw, err := standardwebhooks.NewWebhookRaw([]byte("sk_live_0a8f2b1c4d5e4f6a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, signed := range []string{
		signature.Sign("sk_live_0a8f2b1c4d5e4f6a", "msg_1", 1, []byte("{}")),
		signature.SignDecoded("sk_live_0a8f2b1c4d5e4f6a", "msg_1", 1, []byte("{}")),
	} {
		agree(t, raw, signed, "msg_1", 1, []byte("{}"))
	}
}

// drawSecret is Base64 of a random key without its padding, perhaps below the prefix, and perhaps with bits behind the
// key's last byte.
func drawSecret(t *rapid.T) string {
	raw := make([]byte, rapid.IntRange(16, 64).Draw(t, "bytes"))
	seed := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, rapid.Uint64().Draw(t, "seed")))
	_, _ = rand.NewChaCha8(seed).Read(raw)
	encoded := base64.RawStdEncoding.EncodeToString(raw)
	if unused := []int{1, 16, 4}[len(raw)%3]; rapid.Bool().Draw(t, "bits") {
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		last := strings.IndexByte(alphabet, encoded[len(encoded)-1])
		encoded = encoded[:len(encoded)-1] + string(alphabet[last+rapid.IntRange(0, unused-1).Draw(t, "behind")])
	}
	return rapid.SampledFrom([]string{"", signature.Prefix}).Draw(t, "prefix") + encoded
}

func agree(t *testing.T, library *standardwebhooks.Webhook, got, id string, timestamp int64, body []byte) {
	t.Helper()
	want, err := library.Sign(id, time.Unix(timestamp, 0), body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("signature (-library +ours):\n%s", diff)
	}
	header := http.Header{}
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(timestamp, 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, got)
	if err := library.VerifyIgnoringTimestamp(body, header); err != nil && id != "" {
		t.Errorf("the library refuses it: %v", err)
	}
}
