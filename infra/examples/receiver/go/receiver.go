// Package receiver verifies Herald's deliveries with the standard library only.
package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Handler answers 400 to what is not genuine and processes each delivery once.
func Handler(secret string, process func(event string, body []byte) error) http.Handler {
	var seen sync.Map // in production: a store all instances share, kept for some days
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // the raw bytes, never re-serialised
		id, stamp := r.Header.Get("wh-id"), r.Header.Get("wh-timestamp")
		mac := hmac.New(sha256.New, []byte(secret)) // the secret's literal text, whs_ included
		mac.Write([]byte(id + "." + stamp + "." + string(body)))
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		sent, err := strconv.ParseInt(stamp, 10, 64)
		fresh := err == nil && time.Since(time.Unix(sent, 0)).Abs() <= 5*time.Minute
		if !hmac.Equal([]byte(want), []byte(r.Header.Get("wh-signature"))) || !fresh {
			http.Error(w, "not a genuine delivery", http.StatusBadRequest)
		} else if _, again := seen.LoadOrStore(id, true); again {
			w.WriteHeader(http.StatusOK) // a duplicate: acknowledged, not processed twice
		} else if err := process(r.Header.Get("wh-webhook-event"), body); err != nil {
			seen.Delete(id) // so that the retry is processed
			http.Error(w, "please retry", http.StatusInternalServerError)
		}
	})
}
