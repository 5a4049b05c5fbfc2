package webhooks_test

import (
	"net/http"
	"testing"

	"github.com/herald-webhooks/herald/internal/apikey"
)

// BenchmarkHandler is the time of an invocation without AWS: decoding, authentication,
// checks, encoding and the log lines included.
func BenchmarkHandler(b *testing.B) {
	w := newWorld(b)
	key := w.issue("acme", apikey.Scopes()...)
	id := w.create(key).ID
	for range 49 {
		w.create(key)
	}
	header := http.Header{
		"Authorization": {"Bearer " + key},
		"Content-Type":  {"application/json"},
		"User-Agent":    {"bench"},
	}
	path := "/v1/webhooks/" + id
	for _, test := range []struct{ name, method, target, body string }{
		{"read", "GET", path, ""},
		{"list of 50", "GET", "/v1/webhooks", ""},
		{"change", "PATCH", path, `{"url":"https://example.com/other","events":["user.created","organization.*"]}`},
		{"rotate", "POST", path + "/rotate-secret", ""},
		{"refused create", "POST", "/v1/webhooks", `{"url":"https://localhost","events":["x"]}`},
		{"create at the limit", "POST", "/v1/webhooks", valid},
		{"unknown key", "GET", "/nothing", ""},
	} {
		b.Run(test.name, func(b *testing.B) {
			payload := invocation(b, test.method, test.target, header, []byte(test.body))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.invoke(b.Context(), payload); err != nil {
					b.Fatal(err)
				}
				w.log.Reset()
			}
		})
	}
}
