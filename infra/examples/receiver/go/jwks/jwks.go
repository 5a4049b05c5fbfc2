// Package jwks verifies deliveries by the public keys of an endpoint, with the standard library only.
// A verifier needs no secret.
package jwks

import (
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Verifier knows the keys at URL: …/v1/webhooks/{id}/jwks.json of the one endpoint that it receives for.
type Verifier struct {
	URL   string
	Pause time.Duration // between two requests for keys, at least; 0: a minute

	mu     sync.Mutex
	keys   []ed25519.PublicKey
	read   time.Time // when the keys came
	asked  time.Time // when they were last asked for, in vain too
	client http.Client
}

// The keys are asked for anew after an hour, and at once, but only once a minute, for a signature that none verifies:
// it may be of a new key, or forged.
const lifetime = time.Hour

// Verify reports whether a delivery is genuine and fresh. It fails where there are no keys yet: answer 503 then.
func (v *Verifier) Verify(header http.Header, body []byte) (bool, error) {
	id, stamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	sent, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return false, nil
	}
	content := slices.Concat([]byte(id+"."+stamp+"."), body) // raw, never re-serialised
	var signatures [][]byte
	for _, text := range strings.Fields(header.Get("webhook-signature")) {
		encoded, found := strings.CutPrefix(text, "v1a,")
		if signature, err := base64.StdEncoding.DecodeString(encoded); found && err == nil && len(signatures) < 2 {
			signatures = append(signatures, signature)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if time.Since(v.read) > lifetime {
		v.fetch()
	}
	if v.matches(content, signatures) {
		return true, nil
	}
	if len(signatures) > 0 {
		v.fetch()
	}
	if v.read.IsZero() {
		return false, errors.New("no keys yet")
	}
	return v.matches(content, signatures), nil
}

func (v *Verifier) matches(content []byte, signatures [][]byte) bool {
	for _, key := range v.keys {
		for _, signature := range signatures {
			if ed25519.Verify(key, content, signature) {
				return true
			}
		}
	}
	return false
}

// fetch reads the keys, at most once a minute. Where that fails, those before stay.
func (v *Verifier) fetch() {
	if time.Since(v.asked) < cmp.Or(v.Pause, time.Minute) {
		return
	}
	v.asked = time.Now()
	keys, err := v.get()
	if err != nil {
		return // in production: log it
	}
	v.keys = keys
	v.read = v.asked
}

func (v *Verifier) get() (keys []ed25519.PublicKey, err error) {
	v.client.Timeout = 5 * time.Second
	resp, err := v.client.Get(v.URL)
	if err != nil {
		return nil, fmt.Errorf("asking for keys: %w", err)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking for keys: %s", resp.Status)
	}
	var set struct {
		Keys []struct{ Kty, Crv, X string }
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&set); err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	for _, key := range set.Keys {
		x, err := base64.RawURLEncoding.DecodeString(key.X)
		if err == nil && len(x) == ed25519.PublicKeySize && key.Kty == "OKP" && key.Crv == "Ed25519" {
			keys = append(keys, x)
		}
	}
	return keys, nil
}
