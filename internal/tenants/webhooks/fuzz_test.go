package webhooks

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// sane fails when an answer is a 5xx, or is not JSON.
func sane(t *testing.T, a answer) {
	t.Helper()
	if a.status < 200 || a.status >= 500 {
		t.Errorf("answered %d %s", a.status, a.body)
	}
	if a.status != http.StatusNoContent && !jsontext.Value(a.body).IsValid() {
		t.Errorf("answered %q", a.body)
	}
}

// FuzzBody sends any body to every route that could take one. The contract is checked too:
// an accepted request must be documented as acceptable.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		valid, `{}`, `null`,
		`{"url":"https://bücher.example/ä?ö#x","events":["*","user.*"],"description":"\ud83d\ude00","status":"disabled"}`,
		`{"events":[[[[]]]],"events":1}`, "\xff\xfe{}", `{"a":1e999}`, `{"url":{"url":{}}}`, `{"status":"deleted"}`,
		"[" + strings.Repeat(`"*",`, 60) + `"*"]`,
		`{"url":"https://[::ffff:7f00:1]:443/","events":["organization.auth_policy.updated"]}`,
	} {
		f.Add([]byte(seed))
	}
	w, key := newTenant(f)
	id := w.create(key).ID
	before := maps.Clone(w.aws.Endpoints)
	f.Fuzz(func(t *testing.T, body []byte) {
		w.t = t
		w.aws.Endpoints = maps.Clone(before)
		w.log.Reset()
		header := http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
		path := "/v1/webhooks/" + id
		sane(t, w.call("POST", "/v1/webhooks", header, body))
		sane(t, w.call("PATCH", path, header, body))
		sane(t, w.call("POST", path+"/rotate-secret", header, body))
		sane(t, w.call("GET", path, header, nil))
	})
}

// FuzzTarget sends any path, query and key.
func FuzzTarget(f *testing.F) {
	w, key := newTenant(f)
	id := w.create(key).ID
	before := maps.Clone(w.aws.Endpoints)
	for _, seed := range []string{
		"/v1/webhooks?limit=5&status=active", "/v1/webhooks/" + id, "/v1/webhooks/" + id + "/restore",
		"/v1/event-types?x=%zz", "//v1/webhooks/../", "/v1/webhooks/%00?\xff", "?", "/v1/webhooks?limit=1;cursor=",
	} {
		f.Add("GET", seed, key)
		f.Add("POST", seed, "hk_"+strings.Repeat("_", 60))
	}
	f.Fuzz(func(t *testing.T, method, target, bearer string) {
		w.t = t
		w.aws.Endpoints = maps.Clone(before)
		w.log.Reset()
		method, target = strings.ToValidUTF8(method, "?"), strings.ToValidUTF8(target, "?")
		header := http.Header{"Authorization": {"Bearer " + strings.ToValidUTF8(bearer, "?")}}
		sane(t, w.call(method, target, header, nil))
	})
}
