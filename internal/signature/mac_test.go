package signature_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"sync"
	"testing"

	"github.com/herald-webhooks/herald/internal/signature"
)

// expected is the header as crypto/hmac makes it.
func expected(secret, id, timestamp string, body []byte) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(id + "." + timestamp + "."))
	h.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// Keys shorter than a block of the hash, as long and longer follow each other, so that what one leaves
// behind would show in the next.
func TestSign_agreesWithCryptoHMACForKeysOfEveryLength(t *testing.T) {
	body := []byte(`{"type":"user.created","data":{}}`)
	for _, step := range []int{1, 63, 129} {
		for i := range 200 {
			secret := strings.Repeat("k", i*step%200)
			want := expected(secret, "msg_1", "1700000000", body)
			if got := signature.Sign(secret, "msg_1", 1_700_000_000, body); got != want {
				t.Fatalf("a key of %d bytes: got %s, want %s", len(secret), got, want)
			}
		}
	}
}

func TestSign_atTheSameTime(t *testing.T) {
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			secret, body := strings.Repeat("s", i), []byte(strings.Repeat("b", i*100))
			want := expected(secret, "msg_1", "1", body)
			for range 500 {
				if got := signature.Sign(secret, "msg_1", 1, body); got != want {
					t.Errorf("key %d: got %s, want %s", i, got, want)
					return
				}
			}
		})
	}
	wait.Wait()
}
