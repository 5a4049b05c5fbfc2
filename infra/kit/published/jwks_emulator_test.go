//go:build emulator

package published_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// keyServer answers jwks.json as Herald does.
type keyServer struct {
	mu    sync.Mutex
	keys  []signature.JWK // nil: it is down
	asked int
}

func (s *keyServer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.keys == nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": append(s.keys, signature.JWK{Type: "RSA"})})
}

func (s *keyServer) set(t *testing.T, signers ...signature.Signer) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = nil
	for _, signer := range signers {
		key, err := signature.NewJWK(signer.PublicKey())
		if err != nil {
			t.Fatal(err)
		}
		s.keys = append(s.keys, key)
	}
}

func (s *keyServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// verifier is a running child that verifies by keys. It pauses a second between two requests for them.
type verifier struct {
	url  string
	keys *keyServer
}

func startVerifier(t *testing.T, words ...string) verifier {
	t.Helper()
	keys := &keyServer{}
	server := httptest.NewServer(keys)
	t.Cleanup(server.Close)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "JWKS_URL="+server.URL, "PAUSE=1")
	var printed bytes.Buffer
	cmd.Stderr = &printed
	process, line, err := child.StartTelling(t.Context(), cmd, patience.Limit(), &printed)
	if err != nil {
		t.Fatalf("%v\n%s", err, &printed)
	}
	t.Cleanup(func() {
		process.Kill()
		if t.Failed() {
			t.Logf("it printed:\n%s", &printed)
		}
	})
	return verifier{line, keys}
}

// send returns the status that the headers and the body get.
func (v verifier) send(t *testing.T, id, stamp, signed, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"webhook-id": id, "webhook-timestamp": stamp, "webhook-signature": signed,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

const keyed = `{"type":"user.created","data":{"name":"Zoë"}}`

// by is the status of a delivery as Herald signs it now, by secret and by each signer.
func (v verifier) by(t *testing.T, signers ...signature.Signer) int {
	t.Helper()
	now := time.Now().Unix()
	signed := signature.SignDecoded(secret, "msg_1", now, []byte(keyed))
	for _, signer := range signers {
		signed += " " + signature.SignAsymmetric(signer.Key, "msg_1", now, []byte(keyed))
	}
	return v.send(t, "msg_1", strconv.FormatInt(now, 10), signed, keyed)
}

// until sends a delivery again, as Herald does, until it has the status.
func (v verifier) until(t *testing.T, status int, signer signature.Signer) {
	t.Helper()
	got := 0
	for range 100 {
		if got = v.by(t, signer); got == status {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("answered %d, never %d", got, status)
}

// Threat of a stranger: has receivers ask without end, by forged deliveries. Held by: the verifiers ask once a minute.
func TestVerifiersByPublicKeys(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	examples := filepath.Join(root, "infra/examples/receiver")
	built := filepath.Join(t.TempDir(), "serve")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", built, "./infra/examples/receiver/go/jwks/serve")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for language, words := range map[string][]string{
		"go":     {built},
		"node":   {"node", filepath.Join(examples, "node/jwks_main.mjs")},
		"python": {filepath.Join(root, ".venv/bin/python"), "-B", filepath.Join(examples, "python/jwks_main.py")},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			v := startVerifier(t, words...)
			newer, older, theirs := signature.NewSigner(secret), signature.NewSigner(secret), signature.NewSigner(secret)
			if got := v.by(t, older); got != http.StatusServiceUnavailable {
				t.Errorf("before there are keys: %d", got)
			}
			v.keys.set(t, older)
			v.until(t, http.StatusOK, older)
			v.refusesForgeries(t, older, theirs)
			v.keys.set(t, newer, older)
			asked := v.keys.count()
			if got := v.by(t, newer, older); got != http.StatusOK || v.keys.count() != asked {
				t.Errorf("in an overlap, by the key that it knows: %d, asked %d times", got, v.keys.count()-asked)
			}
			v.until(t, http.StatusOK, newer)
			v.keys.set(t, newer)
			if got := v.by(t, newer); got != http.StatusOK {
				t.Errorf("by the new key: %d", got)
			}
			asked = v.keys.count()
			for v.keys.count() == asked { // a signature by no key that it knows has it ask
				v.by(t, theirs)
			}
			if got := v.by(t, older); got != http.StatusBadRequest {
				t.Errorf("by the old key, when it is gone: %d", got)
			}
			v.keys.set(t)
			if v.by(t, theirs) != http.StatusBadRequest || v.by(t, newer) != http.StatusOK {
				t.Error("it forgets its keys while it cannot ask")
			}
		})
	}
}

// refusesForgeries sends forged deliveries. In a flood of them, the verifier asks for keys once in a pause.
func (v verifier) refusesForgeries(t *testing.T, own, theirs signature.Signer) {
	t.Helper()
	began, asked := time.Now(), v.keys.count()
	now := time.Now().Unix()
	stamp := strconv.FormatInt(now, 10)
	v1a := func(key ed25519.PrivateKey, id string, at int64, body string) string {
		return signature.SignAsymmetric(key, id, at, []byte(body))
	}
	good := v1a(own.Key, "msg_1", now, keyed)
	short := "v1a," + base64.StdEncoding.EncodeToString(make([]byte, 63))
	for what, d := range map[string][4]string{
		"another endpoint's key":    {"msg_1", stamp, v1a(theirs.Key, "msg_1", now, keyed), keyed},
		"another id":                {"msg_2", stamp, good, keyed},
		"another time":              {"msg_1", strconv.FormatInt(now-1, 10), good, keyed},
		"another body":              {"msg_1", stamp, good, keyed + " "},
		"no body":                   {"msg_1", stamp, good, ""},
		"six minutes old":           {"msg_1", strconv.FormatInt(now-360, 10), v1a(own.Key, "msg_1", now-360, keyed), keyed},
		"six minutes early":         {"msg_1", strconv.FormatInt(now+360, 10), v1a(own.Key, "msg_1", now+360, keyed), keyed},
		"no time":                   {"msg_1", "", good, keyed},
		"a time that is no number":  {"msg_1", stamp + "x", good, keyed},
		"no signature":              {"msg_1", stamp, "", keyed},
		"a signature by the secret": {"msg_1", stamp, signature.SignDecoded(secret, "msg_1", now, []byte(keyed)), keyed},
		"the wrong version":         {"msg_1", stamp, "v1," + good[4:], keyed},
		"no Base64":                 {"msg_1", stamp, "v1a,?" + good[5:], keyed},
		"an empty signature":        {"msg_1", stamp, "v1a,", keyed},
		"a short signature":         {"msg_1", stamp, short, keyed},
		"a long signature":          {"msg_1", stamp, good[:len(good)-2] + "AAAA", keyed},
	} {
		if got := v.send(t, d[0], d[1], d[2], d[3]); got != http.StatusBadRequest {
			t.Errorf("%s: %d", what, got)
		}
	}
	for n := range 100 {
		v.send(t, fmt.Sprint("msg_", n+10), stamp, good, keyed)
	}
	if most := 1 + int(time.Since(began)/time.Second); v.keys.count()-asked > most {
		t.Errorf("it asked for keys %d times in %s", v.keys.count()-asked, time.Since(began))
	}
	if got := v.by(t, own, theirs); got != http.StatusOK {
		t.Errorf("genuine, after them: %d", got)
	}
}
