package signature_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/herald-webhooks/herald/internal/signature"
)

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

// FuzzSign has the Standard Webhooks library sign and verify each delivery, by its raw-secret constructor and by Base64
// of the secret. An empty id counts as a missing header there.
func FuzzSign(f *testing.F) {
	f.Add("whs_secret", "msg_1", int64(1_700_000_000), []byte(`{"type":"user.created","data":{"userId":"user_1"}}`))
	f.Add("whs_", "", int64(0), []byte(nil))
	f.Add("whs_\x00\xff", "msg_.1.", int64(-1), []byte(".1700000000."))
	f.Fuzz(func(t *testing.T, secret, id string, timestamp int64, body []byte) {
		got := signature.Sign(secret, id, timestamp, body)
		raw, err := standardwebhooks.NewWebhookRaw([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := standardwebhooks.NewWebhook("whsec_" + base64.StdEncoding.EncodeToString([]byte(secret)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := raw.Sign(id, time.Unix(timestamp, 0), body)
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
		for _, library := range []*standardwebhooks.Webhook{raw, encoded} {
			if err := library.VerifyIgnoringTimestamp(body, header); err != nil && id != "" {
				t.Errorf("the library refuses it: %v", err)
			}
		}
	})
}
