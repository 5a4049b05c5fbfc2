package webhooks

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Every route for every kind of key. infra/proofs/e2e has the same over HTTP.
func TestHandler_authenticate_allowsEachKeyItsRoutes(t *testing.T) {
	allowed := map[string]int{
		"POST /v1/webhooks":                    201,
		"PUT /v1/webhooks":                     201,
		"GET /v1/webhooks":                     200,
		"GET /v1/event-types":                  200,
		"GET /v1/webhooks/{id}":                200,
		"PATCH /v1/webhooks/{id}":              200,
		"DELETE /v1/webhooks/{id}":             204,
		"POST /v1/webhooks/{id}/restore":       200,
		"POST /v1/webhooks/{id}/rotate-secret": 200,
		"POST /v1/webhooks/{id}/test":          202,
	}
	// the routes that ask for no key
	open := []string{"GET /v1/webhooks/{id}/jwks.json", "GET /v1/source-addresses"}
	for _, route := range Routes() {
		if slices.Contains(open, route) {
			continue
		}
		w := newRig(t)
		owner := w.issue("acme", apikey.Scopes()...)
		e := w.create(owner)
		ok := allowed[route]
		onlyRead, onlyWrite := 403, ok
		if strings.HasPrefix(route, "GET") {
			onlyRead, onlyWrite = ok, 403
		}
		for _, test := range []struct {
			who, key string
			status   int
		}{
			{"no key", "", 401},
			{"scope read only", w.issue("acme", apikey.Read), onlyRead},
			{"scope write only", w.issue("acme", apikey.Write), onlyWrite},
			{"no scope", w.issue("acme"), 403},
			{"the owner", owner, ok},
		} {
			method, target, _ := strings.Cut(strings.ReplaceAll(route, "{id}", e.ID), " ")
			body := ""
			if strings.HasSuffix(route, "T /v1/webhooks") && method != "GET" || method == "PATCH" {
				body = w.fresh()
			}
			if strings.HasSuffix(route, "/restore") {
				w.do(owner, "DELETE", "/v1/webhooks/"+e.ID, "")
			}
			if a := w.do(test.key, method, target, body); a.status != test.status {
				t.Errorf("%s by %s: %d %s, want %d", route, test.who, a.status, a.body, test.status)
			}
		}
	}
}

// Threat of a tenant: guesses a key, or uses a revoked one. Held by: 256 bits, kept as a hash; all bad keys look
// alike.
func TestHandler_authenticate_refusesEveryBadKeyAlike(t *testing.T) {
	w := newRig(t)
	revoked := w.issue("acme", apikey.Scopes()...)
	w.revoke(revoked)
	first := w.call("GET", "/v1/webhooks", http.Header{}, nil)
	if got := first.header.Get("WWW-Authenticate"); first.status != 401 || got != "Bearer" {
		t.Errorf("without a key: %d with WWW-Authenticate %q", first.status, got)
	}
	for _, value := range []string{
		"Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer garbage", revoked, "bearer " + revoked, "Bearer " + revoked,
		"Bearer " + newRig(t).issue("acme"), "Bearer " + revoked + "," + revoked, "Token x",
		"Basic " + w.issue("acme", apikey.Scopes()...),
	} {
		a := w.call("GET", "/v1/webhooks", http.Header{"Authorization": {value}}, nil)
		if diff := cmp.Diff(first, a, cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%q is told apart from no key (-none +this):\n%s", value, diff)
		}
	}
}

// Threat of a tenant: reads or changes another tenant's endpoints. Held by: the tenant comes from the key; another's
// endpoint looks like none.
func TestHandler_load_hidesTheEndpointsOfOthers(t *testing.T) {
	w := newRig(t)
	e := w.create(w.issue("acme", apikey.Scopes()...))
	stranger := w.issue("globex", apikey.Scopes()...)
	never := endpoint.NewID(start)
	for _, route := range Routes() {
		if !strings.Contains(route, "{id}") {
			continue
		}
		method, path, _ := strings.Cut(route, " ")
		body := ""
		if method == "PATCH" {
			body = `{}`
		}
		theirs := w.do(stranger, method, strings.Replace(path, "{id}", e.ID, 1), body)
		none := w.do(stranger, method, strings.Replace(path, "{id}", never, 1), body)
		if theirs.status != 404 {
			t.Errorf("%s: answered %d %s, want 404", route, theirs.status, theirs.body)
		}
		if diff := cmp.Diff(none, theirs, cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%s tells another's from none (-none +another's):\n%s", route, diff)
		}
	}
}
