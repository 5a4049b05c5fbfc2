package webhooks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

// wrongSecret is a well-formed key with the id of another.
func wrongSecret(key string) string { return key[:len(key)-43] + strings.Repeat("A", 43) }

func TestHandler_authenticate_countsWhatARequestCosts(t *testing.T) {
	w, key := newTenant(t)
	id, _ := apikey.ParseID(key)
	path := "/v1/webhooks/" + w.create(key).ID
	w.do(key, "DELETE", path, "")
	for request, want := range map[string]int{
		"GET " + path: 1, "GET /v1/event-types": 4,
		"GET /nothing": 1, "PUT " + path: 1, "PUT /v1/webhooks": 5,
		"GET /v1/webhooks": 4, "GET /v1/webhooks?limit=1": 3, "GET /v1/webhooks?limit=26": 4,
		"GET /v1/webhooks?limit=100&status=deleted": 6, "GET /v1/webhooks?limit=101": 4,
		"PATCH " + path: 5, "DELETE " + path: 5, "POST " + path + "/restore": 5, "POST " + path + "/rotate-secret": 5,
		"POST " + path + "/test": 5,
		"POST /v1/webhooks":      5,
	} {
		w.now = w.now.Add(time.Minute)
		method, target, _ := strings.Cut(request, " ")
		w.do(key, method, target, "")
		if got := w.aws.Keys[id].Spent; got != want {
			t.Errorf("%s spends %d, want %d", request, got, want)
		}
	}
}

// Threat of a tenant: uses up the API, or runs up its bill. Held by: a limit for each key, against which repeated
// tries count; a spent key asks AWS nothing.
func TestHandler_authenticate_refusesAKeyBeyondItsLimitUntilTheMinuteEnds(t *testing.T) {
	w := newRig(t)
	w.handler.Budget = 10
	key, other := w.issue("acme", apikey.Scopes()...), w.issue("acme", apikey.Scopes()...)
	e := w.create(w.issue("acme", apikey.Write))
	w.now = start.Add(15 * time.Second)
	w.expect("within the limit", "200", w.do(key, "GET", "/v1/webhooks", ""))
	w.expect("at the limit", "200", w.do(key, "GET", "/v1/webhooks", ""))
	a := w.do(key, "GET", "/v1/webhooks", "")
	if w.expect("beyond the limit", "429 too_many_requests", a); a.header.Get("Retry-After") != "45" {
		t.Errorf("beyond the limit: after %s", a.header.Get("Retry-After"))
	}
	w.expect("what is left", "200", w.do(key, "GET", "/v1/webhooks/"+e.ID, ""))
	w.expect("another key of the tenant", "200", w.do(other, "GET", "/v1/webhooks", ""))
	w.now = start.Add(time.Minute)
	w.expect("a minute later", "200", w.do(key, "GET", "/v1/webhooks", ""))
}

// Threat of a tenant: uses up another's limit by its key's id. Held by: a wrong secret spends nothing.
func TestHandler_authenticate_refusesWithoutARequestToAWS(t *testing.T) {
	w := newRig(t)
	w.handler.Budget = 4
	key := w.issue("acme", apikey.Scopes()...)
	id, _ := apikey.ParseID(key)
	w.expect("a wrong secret, in the limit", "401 unauthenticated", w.do(wrongSecret(key), "GET", "/v1/webhooks", ""))
	if w.writes+w.aws.Keys[id].Spent > 0 {
		t.Errorf("a wrong secret makes %d writes and spends %d", w.writes, w.aws.Keys[id].Spent)
	}
	w.do(key, "GET", "/v1/webhooks", "")
	spent := w.aws.Keys[id].Spent
	w.reads, w.writes = 0, 0
	for range 100 {
		w.expect("beyond the limit", "429 too_many_requests", w.do(key, "GET", "/v1/webhooks", ""))
		w.expect("a malformed key", "401 unauthenticated", w.do("hk_x_y", "GET", "/v1/webhooks", ""))
		w.expect("a wrong secret", "401 unauthenticated", w.do(wrongSecret(key), "GET", "/v1/webhooks", ""))
	}
	if w.reads+w.writes > 0 || w.aws.Keys[id].Spent != spent {
		t.Errorf("%d reads, %d writes, %d spent beyond %d", w.reads, w.writes, w.aws.Keys[id].Spent, spent)
	}
	w.now = w.now.Add(time.Minute)
	w.revoke(key)
	for range 3 {
		w.expect("revoked since it was seen", "401 unauthenticated", w.do(key, "GET", "/v1/webhooks", ""))
	}
	if w.writes != 1 {
		t.Errorf("%d writes of a revoked key, want 1", w.writes)
	}
}

// A new key costs the memory of a process one other key, and not all of them.
func TestHandler_lookUp_forgetsTheKeyThatWasUsedLongestAgo(t *testing.T) {
	w := newRig(t)
	var keys []string
	for n := range 1001 {
		id, _ := apikey.ParseID(w.issue(fmt.Sprint("t", n), apikey.Read))
		keys = append(keys, id)
	}
	ask := func(id string) (reads int) {
		before := w.reads
		if key, err := w.handler.lookUp(t.Context(), id); err != nil || key.ID != id {
			t.Fatalf("%s is found as %v, %v", id, key, err)
		}
		return w.reads - before
	}
	for n, key := range keys {
		if reads := ask(key); reads != 1 {
			t.Fatalf("the new key %d is read %d times", n, reads)
		}
		ask(keys[0])
	}
	read := 0
	for _, key := range keys[2:] {
		read += ask(key)
	}
	if again := ask(keys[0]); read+again != 0 {
		t.Errorf("%d of the last 999 keys are read again, and the one in use %d times", read, again)
	}
	if forgotten := ask(keys[1]); forgotten != 1 {
		t.Errorf("the key that was used longest ago is read %d times", forgotten)
	}
}
