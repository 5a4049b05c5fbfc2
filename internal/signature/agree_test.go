package signature_test

import (
	"encoding/base64"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/herald-webhooks/herald/internal/signature"
)

// TestAgreesWithStandardWebhooks signs 10,000 random deliveries and has the Standard Webhooks
// library verify each, by its raw-secret constructor and by Base64 of the secret.
func TestAgreesWithStandardWebhooks(t *testing.T) {
	const seed = 20260101
	random := rand.New(rand.NewPCG(seed, seed))
	for i := range 10_000 {
		secret, err := signature.NewSecret(source{random})
		if err != nil {
			t.Fatal(err)
		}
		id, timestamp, body := "msg_"+text(random, 1+random.IntN(60)), random.Int64N(1<<34), bytes(random, random.IntN(2048))
		agree(t, secret, id, timestamp, body)
		if t.Failed() {
			t.Fatalf("case %d of seed %d: secret %q, id %q, timestamp %d, body %q", i, seed, secret, id, timestamp, body)
		}
	}
}

// TestChangedDeliveriesAreRefused changes one byte of what was signed and has the library refuse it.
func TestChangedDeliveriesAreRefused(t *testing.T) {
	const secret, id, timestamp, body = "whs_key", "msg_1", 1_700_000_000, `{"type":"user.created"}`
	signed := signature.Sign(secret, id, timestamp, []byte(body))
	for name, changed := range map[string]struct {
		secret, id string
		timestamp  int64
		body       string
	}{
		"secret":                    {"whs_kez", id, timestamp, body},
		"secret without its prefix": {"key", id, timestamp, body},
		"id":                        {secret, "msg_2", timestamp, body},
		"timestamp":                 {secret, id, timestamp + 1, body},
		"body":                      {secret, id, timestamp, body + " "},
		"id and timestamp shifted":  {secret, "msg_1.1", 700_000_000, body},
	} {
		if verify(t, changed.secret, changed.id, changed.timestamp, []byte(changed.body), signed) == nil {
			t.Errorf("a changed %s still verifies", name)
		}
	}
}

// TestVectors compares with signatures that an independent implementation computed: see testdata/README.md.
func TestVectors(t *testing.T) {
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
		if got := signature.Sign(v.Secret, v.ID, v.Timestamp, body); got != v.Signature {
			t.Errorf("%s: got %s, want %s", v.Name, got, v.Signature)
		}
	}
}

func FuzzSign(f *testing.F) {
	f.Add("whs_secret", "msg_1", int64(1_700_000_000), []byte(`{"type":"user.created","data":{"userId":"user_1"}}`))
	f.Add("whs_", "", int64(0), []byte(nil))
	f.Add("whs_\x00\xff", "msg_.1.", int64(-1), []byte(".1700000000."))
	f.Fuzz(func(t *testing.T, secret, id string, timestamp int64, body []byte) {
		agree(t, secret, id, timestamp, body)
	})
}

// agree compares a signature with the library's own and has the library verify it wherever it can be asked:
// an empty id counts as a missing header there.
func agree(t *testing.T, secret, id string, timestamp int64, body []byte) {
	t.Helper()
	got := signature.Sign(secret, id, timestamp, body)
	raw, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := raw.Sign(id, time.Unix(timestamp, 0), body); err != nil || got != want {
		t.Errorf("got %s, the library gives %s (%v)", got, want, err)
	}
	if digest, ok := strings.CutPrefix(got, "v1,"); !ok || len(digest) != 44 {
		t.Errorf("%s is not v1, and 44 characters", got)
	}
	if id != "" {
		if err := verify(t, secret, id, timestamp, body, got); err != nil {
			t.Errorf("the library refuses it: %v", err)
		}
	}
}

// verify asks the library twice, as its two constructors want the secret, and returns what both say.
func verify(t *testing.T, secret, id string, timestamp int64, body []byte, signed string) error {
	t.Helper()
	header := http.Header{}
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(timestamp, 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, signed)
	raw, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := standardwebhooks.NewWebhook("whsec_" + base64.StdEncoding.EncodeToString([]byte(secret)))
	if err != nil {
		t.Fatal(err)
	}
	first, second := raw.VerifyIgnoringTimestamp(body, header), encoded.VerifyIgnoringTimestamp(body, header)
	if (first == nil) != (second == nil) {
		t.Errorf("the two constructors disagree: %v and %v", first, second)
	}
	return first
}

// source reads bytes from a seeded generator.
type source struct{ *rand.Rand }

func (s source) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s.Uint32())
	}
	return len(p), nil
}

func bytes(random *rand.Rand, n int) []byte {
	p := make([]byte, n)
	_, _ = source{random}.Read(p)
	return p
}

// text is n printable ASCII characters.
func text(random *rand.Rand, n int) string {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(' ' + 1 + random.IntN(94))
	}
	return string(p)
}
