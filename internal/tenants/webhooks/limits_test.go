package webhooks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// limits are an endpoint's limits: its owner's, an operator's, and the smaller one.
func limits(v management.Endpoint) string {
	text := func(limit *int) string {
		if limit == nil {
			return "none"
		}
		return fmt.Sprint(*limit)
	}
	return text(v.RateLimit) + " " + text(v.OperatorLimit) + " " + text(v.EffectiveLimit)
}

func limited(rate string) string {
	return strings.TrimSuffix(valid, "}") + `,"rate_limit":` + rate + "}"
}

// An integer in any spelling of JSON is one. Each of the three requests that take a limit reads it alike.
func TestHandler_readRateLimit_takesAnIntegerOrNull(t *testing.T) {
	const mistyped, refused = `400 invalid_body "/rate_limit"`, `422 validation_failed "/rate_limit"`
	for rate, want := range map[string]string{
		"1": "1", "300": "300", "24.0": "24", "1e2": "100", "2.4e1": "24", "3000E-1": "300", "null": "none",
		"0": refused, "-1": refused, "301": refused, "1e9": refused, "1e999": refused, "-0": refused, "1.5": refused,
		"9007199254740993": refused, "0.9999999999": refused, strings.Repeat("9", 5000): refused,
		`"10"`: mistyped, "true": mistyped, "[10]": mistyped, `{"rate":10}`: mistyped, `""`: mistyped,
	} {
		for _, method := range []string{"POST", "PUT", "PATCH"} {
			w, key := newTenant(t)
			target := "/v1/webhooks"
			if method == "PATCH" {
				target += "/" + w.create(key).ID
			}
			before := maps.Clone(w.aws.Endpoints)
			a := w.do(key, method, target, limited(rate))
			if a.status >= 300 {
				if w.expect(method+" "+rate, want, a); !cmp.Equal(before, w.aws.Endpoints) {
					t.Errorf("%s %s is refused, and stored", method, rate)
				}
				continue
			}
			var shown management.Endpoint
			a.decode(t, &shown)
			if got := want + " none " + want; limits(shown) != got {
				t.Errorf("%s %s shows %s, want %s", method, rate, limits(shown), got)
			}
		}
	}
}

// Every answer that shows an endpoint shows an operator's limit with it, and nothing else of the mark.
//
// Threat of a tenant: learns who limited it, and why. Held by: answers have the number alone.
func TestHandler_showsBothLimitsInEveryAnswer(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	stored := w.aws.Endpoints[e.ID]
	stored.Marks = endpoint.Marks{RateLimit: 20, LimitedAt: start, LimitedBy: "ann", LimitReason: "ticket 42"}
	w.aws.Endpoints[e.ID] = stored
	path := "/v1/webhooks/" + e.ID
	for _, step := range []struct{ method, target, body, want string }{
		{"GET", path, "", "none 20 20"},
		{"PATCH", path, `{"rate_limit":30}`, "30 20 20"},
		{"PATCH", path, `{"rate_limit":30}`, "30 20 20"},
		{"PATCH", path, `{"description":"x"}`, "30 20 20"},
		{"PUT", "/v1/webhooks", limited("10"), "10 20 10"},
		{"POST", path + "/rotate-secret", "", "10 20 10"},
		{"DELETE", path, "", ""},
		{"GET", path, "", "10 20 10"},
		{"POST", path + "/restore", "", "10 20 10"},
		{"PUT", "/v1/webhooks", valid, "none 20 20"},
		{"PATCH", path, `{"rate_limit":5}`, "5 20 5"},
		{"PATCH", path, `{"rate_limit":null}`, "none 20 20"},
	} {
		a := w.do(key, step.method, step.target, step.body)
		if text := string(a.body); a.status >= 300 || strings.Contains(text, "ann") || strings.Contains(text, "ticket") {
			t.Errorf("%s %s %s: %d %s", step.method, step.target, step.body, a.status, text)
		}
		if step.want == "" {
			continue
		}
		var shown management.Endpoint
		if a.decode(t, &shown); limits(shown) != step.want {
			t.Errorf("%s %s %s: %s, want %s", step.method, step.target, step.body, limits(shown), step.want)
		}
		var list struct{ Data []management.Endpoint }
		w.do(key, "GET", "/v1/webhooks", "").decode(t, &list)
		for _, listed := range list.Data {
			if limits(listed) != step.want {
				t.Errorf("%s %s %s: listed %s, want %s", step.method, step.target, step.body, limits(listed), step.want)
			}
		}
	}
}

// An endpoint that comes under a limit of a domain, or of its tenant, has the limit in the very answer that brings it
// there.
func TestHandler_showsTheLimitThatAnEndpointComesUnder(t *testing.T) {
	w, key := newTenant(t)
	atSite := endpoint.Marks{RateLimit: 20, LimitedAt: start.Add(-time.Hour), LimitSite: "example.com"}
	w.aws.Left[dynamo.EndpointKey{TenantID: "acme", EndpointID: "webhook_gone"}] = atSite
	created := func(method, url string) string {
		return "/v1/webhooks/" + w.shown(w.do(key, method, "/v1/webhooks", withURL(url)), "none 20 20").ID
	}
	created("POST", "https://a.example.com/")
	created("PUT", "https://b.example.com/")
	w.shown(w.do(key, "POST", "/v1/webhooks", withURL("https://example.org/")), "none none none")
	moved := created("POST", "https://c.example.com/")
	w.shown(w.do(key, "PATCH", moved, `{"url":"https://example.net/"}`), "none none none")
	w.shown(w.do(key, "PATCH", moved, `{"url":"https://c.example.com/"}`), "none 20 20")
	w.do(key, "PATCH", moved, `{"url":"https://example.net/"}`)
	w.aws.Stops["acme"] = endpoint.Marks{RateLimit: 5, LimitedAt: start}
	w.shown(w.do(key, "POST", "/v1/webhooks", withURL("https://d.example.com/")), "none 5 5")
	w.do(key, "DELETE", moved, "")
	w.shown(w.do(key, "POST", moved+"/restore", ""), "none 5 5")
}

// shown is the endpoint of an answer, of which the limits are as wanted.
func (w *rig) shown(a answer, want string) (e management.Endpoint) {
	w.t.Helper()
	if a.decode(w.t, &e); limits(e) != want {
		w.t.Errorf("limits are %s, want %s: %d %s", limits(e), want, a.status, a.body)
	}
	return e
}

// An operator's mark that cannot be read stops no owner who deletes the endpoint. Elsewhere nothing is changed.
func TestHandler_changesNothingWhereMarksCannotBeRead(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	w.aws.BreakMarks("acme")
	before := maps.Clone(w.aws.Endpoints)
	path := "/v1/webhooks/" + e.ID
	for _, request := range []string{
		"GET " + path, "GET /v1/webhooks", "PATCH " + path, "POST " + path + "/rotate-secret",
	} {
		method, target, _ := strings.Cut(request, " ")
		body := ""
		if method == "PATCH" {
			body = `{"rate_limit":1}`
		}
		w.expect(request, "503 unavailable", w.do(key, method, target, body))
	}
	if !cmp.Equal(before, w.aws.Endpoints) {
		t.Error("an endpoint has changed")
	}
	w.expect("its deletion", "204", w.do(key, "DELETE", path, ""))
}

// A thousand changes of a limit in a minute: the key's budget lets through 60, each with an audit line. No key without
// the scope, and none of another tenant, changes one.
func TestHandler_change_ofALimitIsBoundedAsAnyOther(t *testing.T) {
	w, key := newTenant(t)
	w.handler.Budget = 300
	reader, other := w.issue("acme", apikey.Read), w.issue("other", apikey.Scopes()...)
	e := w.create(key)
	path := "/v1/webhooks/" + e.ID
	w.expect("a key that may read", "403 insufficient_scope", w.do(reader, "PATCH", path, `{"rate_limit":1}`))
	w.expect("another tenant", "404 endpoint_not_found", w.do(other, "PATCH", path, `{"rate_limit":1}`))
	w.audited.Reset()
	before := w.now
	answers := map[int]int{}
	for n := range 1000 {
		w.now = before
		answers[w.do(key, "PATCH", path, `{"rate_limit":`+[]string{"1", "null"}[n%2]+`}`).status]++
	}
	lines := w.auditLines()
	if diff := cmp.Diff(map[int]int{200: 59, 429: 941}, answers); diff != "" || len(lines) != 59 {
		t.Errorf("%d audit lines (-want +got):\n%s", len(lines), diff)
	}
	first := lines[0]
	changed := func(line map[string]any) bool { return fmt.Sprint(line["changed"]) != "[rate_limit]" }
	if slices.ContainsFunc(lines, changed) || fmt.Sprint(first["after"].(map[string]any)["rate_limit"]) != "1" {
		t.Errorf("audited as %v", first)
	}
	if stored := w.of("acme"); len(stored) != 1 || stored[0].RateLimit != 1 {
		t.Errorf("stored %+v", stored)
	}
}
