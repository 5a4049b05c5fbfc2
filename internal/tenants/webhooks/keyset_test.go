package webhooks

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/tenants/management"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

// withKeys is a tenant's world in which endpoints have key pairs.
func withKeys(t testing.TB) (w *rig, key string) {
	t.Helper()
	w, key = newTenant(t)
	w.handler.Asymmetric = true
	return w, key
}

// keySetOf asks for an endpoint's keys as a receiver does.
func (w *rig) keySetOf(id string) answer {
	w.t.Helper()
	return w.call("GET", "/v1/webhooks/"+id+"/jwks.json", http.Header{}, nil)
}

// keysOf are the ids of the keys in an answer, for each whether the signer before or after the rotation has it.
func keysOf(t testing.TB, a answer, named map[string]string) (names []string) {
	t.Helper()
	var set management.KeySet
	a.decode(t, &set)
	names = []string{}
	for _, key := range set.Keys {
		names = append(names, named[key.ID])
	}
	return names
}

func keyID(t testing.TB, v management.Endpoint) string {
	t.Helper()
	if v.PublicKey == nil {
		t.Fatal("no public key is shown")
	}
	key, err := signature.NewJWK(*v.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return key.ID
}

// An endpoint shows one key; its key set has the same, and the seal for deliver, too. KMS is called once for the seal.
func TestHandler_create_sealsTheKeyPairWithTheSecret(t *testing.T) {
	w, key := withKeys(t)
	made := w.create(key)
	for _, step := range []string{"create", "rotate"} {
		if step == "rotate" {
			w.do(key, "POST", "/v1/webhooks/"+made.ID+"/rotate-secret", "").decode(t, &made)
		}
		stored := w.aws.Endpoints[made.ID]
		text, err := sealing.Secrets().Open(t.Context(), keyring.SecretOf(stored), stored.SealedSecret)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := signature.ParseSigner(text, true)
		if err != nil || signer.Secret != made.SigningSecret || signer.PublicKey() != *made.PublicKey {
			t.Errorf("%s: %v: sealed is %v of %v", step, err, signer.PublicKey(), made)
		}
		var shown management.Endpoint
		w.do(key, "GET", "/v1/webhooks/"+made.ID, "").decode(t, &shown)
		id := signer.KeyID()
		if diff := cmp.Diff([]string{"it"}, keysOf(t, w.keySetOf(made.ID), map[string]string{id: "it"})); diff != "" ||
			keyID(t, shown) != id {
			t.Errorf("%s: shown %s, published (-want +got):\n%s", step, keyID(t, shown), diff)
		}
		lines := w.auditLines()
		if after := lines[len(lines)-1]["after"].(map[string]any); after["public_key_id"] != id {
			t.Errorf("%s: audited as %v", step, after)
		}
	}
}

// Which keys stand in the set, of an endpoint with a key pair before and after.
func TestHandler_keySet_hasTheKeysThatVerify(t *testing.T) {
	const day = `{"previous_secret_hours":24}`
	for name, test := range map[string]struct {
		do    func(w *rig, api func(method, path, body string))
		later time.Duration
		want  string
	}{
		"made": {func(*rig, func(_, _, _ string)) {}, 0, "200 [first]"},
		"rotated at once": {
			func(_ *rig, api func(_, _, _ string)) { api("POST", "/rotate-secret", "") }, 0, "200 [second]",
		},
		"in an overlap": {
			func(_ *rig, api func(_, _, _ string)) { api("POST", "/rotate-secret", day) }, 0, "200 [second first]",
		},
		"at its end, remembered": {func(w *rig, api func(_, _, _ string)) {
			api("POST", "/rotate-secret", day)
			w.now = w.now.Add(24*time.Hour - 30*time.Second)
			w.keySetOf(w.of("acme")[0].ID)
		}, 31 * time.Second, "200 [second]"},
		"after it": {
			func(_ *rig, api func(_, _, _ string)) { api("POST", "/rotate-secret", day) }, 24 * time.Hour, "200 [second]",
		},
		"deleted": {func(_ *rig, api func(_, _, _ string)) { api("DELETE", "", "") }, 0, "404 endpoint_not_found"},
		"deleted in an overlap, and restored": {func(_ *rig, api func(_, _, _ string)) {
			api("POST", "/rotate-secret", day)
			api("DELETE", "", "")
			api("POST", "/restore", "")
		}, 0, "200 [second]"},
		"before there is one": {func(w *rig, _ func(_, _, _ string)) {
			for at, e := range w.aws.Endpoints {
				e.PublicKey = ""
				w.aws.Endpoints[at] = e
			}
		}, 0, "200 []"},
		"switched off": {
			func(w *rig, _ func(_, _, _ string)) { w.handler.Asymmetric = false }, 0, "404 endpoint_not_found",
		},
		"rotated while switched off": {func(w *rig, api func(_, _, _ string)) {
			w.handler.Asymmetric = false
			api("POST", "/rotate-secret", "")
			w.handler.Asymmetric = true
		}, 0, "200 []"},
		"a row that is no key": {func(w *rig, _ func(_, _, _ string)) {
			for at, e := range w.aws.Endpoints {
				e.PublicKey = "whpk_x"
				w.aws.Endpoints[at] = e
			}
		}, 0, "500 internal"},
	} {
		t.Run(name, func(t *testing.T) {
			w, key := withKeys(t)
			made := w.create(key)
			ids := map[string]string{keyID(t, made): "first"}
			test.do(w, func(method, path, body string) {
				a := w.do(key, method, "/v1/webhooks/"+made.ID+path, body)
				if a.status >= 300 {
					t.Fatalf("%s %s: %s", method, path, a.brief())
				}
				var shown management.Endpoint
				if a.status == 200 {
					a.decode(t, &shown)
				}
				if shown.PublicKey != nil && ids[keyID(t, shown)] == "" {
					ids[keyID(t, shown)] = "second"
				}
			})
			w.now = w.now.Add(test.later)
			a := w.keySetOf(made.ID)
			got := a.brief()
			if a.status == 200 {
				got = fmt.Sprint("200 ", keysOf(t, a, ids))
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// A missing endpoint looks alike to every caller, with or without a key, and an id that cannot be one costs nothing.
//
// Threat of a stranger: finds endpoints. Held by: an id has 80 random bits; all else is one 404; the answer has keys
// alone.
func TestHandler_keySet_tellsNothingOfWhatIsNotThere(t *testing.T) {
	w, key := withKeys(t)
	made := w.create(key)
	w.do(key, "DELETE", "/v1/webhooks/"+made.ID, "")
	never := w.keySetOf(endpoint.NewID(start))
	for _, id := range []string{made.ID, "webhook_1", "deleted%23" + made.ID, strings.ToLower(made.ID), "#marks", "x"} {
		reads := w.reads
		if diff := cmp.Diff(never, w.keySetOf(id), cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%s is told from none (-none +this):\n%s", id, diff)
		}
		if w.reads > reads && id != made.ID {
			t.Errorf("%s was asked for", id)
		}
	}
	target := "/v1/webhooks/" + endpoint.NewID(start) + "/jwks.json"
	stranger := w.issue("globex", apikey.Read)
	if diff := cmp.Diff(never, w.do(stranger, "GET", target, ""), cmp.AllowUnexported(answer{})); diff != "" {
		t.Errorf("with a key (-without +with):\n%s", diff)
	}
}

// This route needs no key. Every route near it does.
//
// Threat of a stranger: reaches another route. Held by: one route of the table is open, by its exact path.
func TestHandler_keySet_isTheOnlyOpenRoute(t *testing.T) {
	w, key := withKeys(t)
	path := "/v1/webhooks/" + w.create(key).ID
	for target, want := range map[string]string{
		"GET " + path + "/jwks.json": "200", "GET " + path: "401 unauthenticated",
		"POST " + path + "/jwks.json": "401 unauthenticated",
		"GET " + path + "/jwks.json/": "401 unauthenticated", "GET " + path + "/jwks.json/x": "401 unauthenticated",
		"GET " + path + "//jwks.json": "401 unauthenticated", "GET " + path + "/jwks": "401 unauthenticated",
		"GET /v1/webhooks//jwks.json":      "401 unauthenticated",
		"GET " + path + "/jwks.json?kid=x": "400 invalid_query ?kid",
	} {
		method, at, _ := strings.Cut(target, " ")
		w.expect(target, want, w.call(method, at, http.Header{}, nil))
	}
	if a := w.call("GET", path+"/jwks.json", http.Header{}, []byte("[1]")); a.status != 400 {
		t.Errorf("with a body: %s", a.brief())
	}
}

// A flood costs a read a minute for each endpoint, and for one that is not there one in five seconds; and no key's
// budget.
func TestHandler_keySet_readsOnceAMinute(t *testing.T) {
	w, key := withKeys(t)
	made, never := w.create(key).ID, endpoint.NewID(start)
	reads, writes := w.reads, w.writes
	for range 3 {
		for range 100 {
			w.keySetOf(made)
			w.keySetOf(never)
		}
		w.now = w.now.Add(6 * time.Second)
	}
	if got := w.reads - reads; got != 4 || w.writes != writes { // one, and three for rows that are not there
		t.Errorf("%d reads, %d writes", got, w.writes-writes)
	}
	w.now = w.now.Add(time.Minute)
	reads = w.reads
	for range 100 {
		w.keySetOf(made)
	}
	if got := w.reads - reads; got != 1 {
		t.Errorf("%d reads after a minute", got)
	}
}

// Keys are served for an hour while the table cannot be read, and a read that hangs ends soon.
func TestHandler_keySet_goesOnWithWhatItHas(t *testing.T) {
	for name, break_ := range map[string]func(*rig){
		"a table that refuses": func(w *rig) { w.readDown = true },
		"a table that hangs":   func(w *rig) { w.hangs = true },
	} {
		synctest.Test(t, func(t *testing.T) {
			t.Log(name)
			w, key := withKeys(t)
			made, other := w.create(key).ID, w.create(key).ID
			w.keySetOf(made)
			break_(w)
			w.now = w.now.Add(59 * time.Minute)
			if a := w.keySetOf(made); a.status != 200 {
				t.Errorf("within an hour: %s", a.brief())
			}
			began := time.Now()
			w.expect("never read", "503 unavailable", w.keySetOf(other))
			if took := time.Since(began); took > keysPatience {
				t.Errorf("it took %s", took)
			}
			w.now = w.now.Add(time.Minute)
			w.expect("after an hour", "503 unavailable", w.keySetOf(made))
		})
	}
}

// A flood of ids takes no more memory than its bound, and forgets none that is asked for again and again.
func TestHandler_keySet_keepsKeysInUseThroughAFlood(t *testing.T) {
	w, key := withKeys(t)
	w.handler.keySets.Bound = 10
	made := w.create(key).ID
	w.keySetOf(made)
	reads := w.reads
	for range 100 {
		w.keySetOf(endpoint.NewID(start))
		w.keySetOf(made)
	}
	if got := w.reads - reads; got != 100 || w.handler.keySets.Len() != 10 {
		t.Errorf("%d reads for 100 new ids, %d entries", got, w.handler.keySets.Len())
	}
}
