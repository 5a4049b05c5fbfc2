package signature_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/signature"
)

// signed is what a signature is made of.
type signed struct {
	secret, id string
	timestamp  int64
	body       []byte
}

func (s signed) sign() string { return signature.Sign(s.secret, s.id, s.timestamp, s.body) }

// TestSign_agreesWithStandardWebhooks draws deliveries and has the Standard Webhooks library verify each, by its
// raw-secret constructor and by Base64 of the secret.
func TestSign_agreesWithStandardWebhooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agree(t, signed{
			secret:    rapid.StringMatching(`whs_[A-Za-z0-9_-]{43}`).Draw(t, "secret"),
			id:        rapid.StringMatching(`msg_[!-~]{1,60}`).Draw(t, "id"),
			timestamp: rapid.Int64Range(0, 1<<34).Draw(t, "timestamp"),
			body:      rapid.SliceOfN(rapid.Byte(), 0, 2048).Draw(t, "body"),
		})
	})
}

// TestSign_coversEveryPart changes one thing of what was signed and has the library refuse it.
func TestSign_coversEveryPart(t *testing.T) {
	genuine := signed{"whs_key", "msg_1", 1_700_000_000, []byte(`{"type":"user.created"}`)}
	header := genuine.sign()
	for name, change := range map[string]func(*signed){
		"another secret":            func(d *signed) { d.secret = "whs_kez" },
		"the secret without prefix": func(d *signed) { d.secret = "key" },
		"another id":                func(d *signed) { d.id = "msg_2" },
		"another timestamp":         func(d *signed) { d.timestamp++ },
		"a longer body":             func(d *signed) { d.body = append(d.body, ' ') },
		"id and timestamp, shifted": func(d *signed) { d.id, d.timestamp = "msg_1.1", 700_000_000 },
	} {
		changed := genuine
		changed.body = slices.Clone(genuine.body)
		if change(&changed); verify(t, changed, header) == nil {
			t.Errorf("%s still verifies", name)
		}
	}
	if err := verify(t, genuine, header); err != nil {
		t.Errorf("unchanged: %v", err)
	}
}

// TestSign_vectors compares with signatures that an independent implementation computed: see testdata/README.md.
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
		if diff := cmp.Diff(v.Signature, signature.Sign(v.Secret, v.ID, v.Timestamp, body)); diff != "" {
			t.Errorf("%s: signature (-want +got):\n%s", v.Name, diff)
		}
	}
}

func FuzzSign(f *testing.F) {
	f.Add("whs_secret", "msg_1", int64(1_700_000_000), []byte(`{"type":"user.created","data":{"userId":"user_1"}}`))
	f.Add("whs_", "", int64(0), []byte(nil))
	f.Add("whs_\x00\xff", "msg_.1.", int64(-1), []byte(".1700000000."))
	f.Fuzz(func(t *testing.T, secret, id string, timestamp int64, body []byte) {
		agree(t, signed{secret, id, timestamp, body})
	})
}

// agree compares a signature with the library's own and has the library verify it wherever it
// can be asked: an empty id counts as a missing header there.
func agree(t rapid.TB, d signed) {
	t.Helper()
	got := d.sign()
	raw, err := standardwebhooks.NewWebhookRaw([]byte(d.secret))
	if err != nil {
		t.Fatal(err)
	}
	want, err := raw.Sign(d.id, time.Unix(d.timestamp, 0), d.body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("signature (-library +ours):\n%s", diff)
	}
	if digest, ok := strings.CutPrefix(got, "v1,"); !ok || len(digest) != 44 {
		t.Errorf("%s is not v1, and 44 characters", got)
	}
	if d.id != "" {
		if err := verify(t, d, got); err != nil {
			t.Errorf("the library refuses it: %v", err)
		}
	}
}

// verify asks the library twice, as its two constructors want the secret, and returns what both say.
func verify(t rapid.TB, d signed, signature string) error {
	t.Helper()
	header := http.Header{}
	header.Set(standardwebhooks.HeaderWebhookID, d.id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(d.timestamp, 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	raw, err := standardwebhooks.NewWebhookRaw([]byte(d.secret))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := standardwebhooks.NewWebhook("whsec_" + base64.StdEncoding.EncodeToString([]byte(d.secret)))
	if err != nil {
		t.Fatal(err)
	}
	first, second := raw.VerifyIgnoringTimestamp(d.body, header), encoded.VerifyIgnoringTimestamp(d.body, header)
	if (first == nil) != (second == nil) {
		t.Errorf("the two constructors disagree: %v and %v", first, second)
	}
	return first
}
