// Package receiver verifies deliveries with the standard library only.
package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Handler processes each genuine delivery once and answers 2xx only after that. A rotation needs two secrets.
func Handler(secrets []string, process func(event string, body []byte) error) http.Handler {
	var done sync.Map // wh-id: false while at work; in production: a store all instances share, kept for days
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(10 * time.Second))
		body, tooMuch := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // raw, never re-serialised
		id, stamp := r.Header.Get("wh-id"), r.Header.Get("wh-timestamp")
		signed := slices.ContainsFunc(secrets, func(secret string) bool {
			mac := hmac.New(sha256.New, []byte(secret)) // the secret's literal text, whsec_ included
			mac.Write([]byte(id + "." + stamp + "." + string(body)))
			want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
			return secret != "" && hmac.Equal([]byte(want), []byte(r.Header.Get("wh-signature")))
		})
		sent, err := strconv.ParseInt(stamp, 10, 64)
		fresh := err == nil && time.Since(time.Unix(sent, 0)).Abs() <= 5*time.Minute
		if tooMuch != nil || !fresh || !signed {
			http.Error(w, "not a genuine delivery", http.StatusBadRequest)
			return
		}
		var delivery struct{ Type string } // signed, unlike the header that repeats it
		if err := json.Unmarshal(body, &delivery); err != nil || delivery.Type != r.Header.Get("wh-webhook-event") {
			http.Error(w, "not the type of the header", http.StatusBadRequest)
			return
		}
		if before, known := done.LoadOrStore(id, false); known {
			if before == false {
				w.Header().Set("Retry-After", "30")
				w.WriteHeader(http.StatusConflict) // it may still fail
			}
			return
		}
		defer done.CompareAndDelete(id, false) // failed: process the retry
		if err := process(delivery.Type, body); err != nil {
			http.Error(w, "please retry", http.StatusInternalServerError)
			return
		}
		done.Store(id, true)
	})
}
