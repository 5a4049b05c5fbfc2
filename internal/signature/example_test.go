package signature_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/herald-webhooks/herald/internal/signature"
)

func ExampleSign() {
	body := []byte(`{"type":"user.created","data":{"userId":"user_1"}}`)
	fmt.Println("wh-signature:", signature.Sign("whs_secret", "msg_1", 1_700_000_000, body))
	// Output: wh-signature: v1,G3W+UjiwiYp/n21NQzkvJ1Ddvu1YmrssnlzMOvYtV5E=
}

// A receiver needs nothing but an HMAC: the key is the secret as it stands, prefix included.
func ExampleSign_received() {
	const secret, id, timestamp, body = "whs_secret", "msg_1", "1700000000", `{"type":"user.created","data":{}}`
	received := signature.Sign(secret, id, 1_700_000_000, []byte(body))

	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	fmt.Println(hmac.Equal([]byte(expected), []byte(received)))
	// Output: true
}
