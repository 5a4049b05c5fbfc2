package webhooks_test

import (
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/apikey"
)

func body(url string) string { return strings.Replace(valid, "https://example.com/hooks", url, 1) }

func TestHandler_create_refusesAURLThatAnotherLiveEndpointHas(t *testing.T) {
	w, key := newTenant(t)
	e, other := w.create(key), w.create(key)
	for name, a := range map[string]answer{
		"created":             w.do(key, "POST", "/v1/webhooks", valid),
		"written differently": w.do(key, "POST", "/v1/webhooks", body("https://EXAMPLE.com:443/hooks")),
		"given by a change":   w.do(key, "PATCH", "/v1/webhooks/"+other.ID, valid),
		"of one that is idle": w.do(key, "POST", "/v1/webhooks", body(other.URL)),
	} {
		if a.code() != "duplicate_url" || !strings.Contains(string(a.body), "webhook_") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := w.do(key, "POST", "/v1/webhooks", valid); !strings.Contains(string(a.body), "is the URL of "+e.ID) {
		t.Errorf("what stands is not named: %s", a.body)
	}
	if a := w.do(key, "PATCH", "/v1/webhooks/"+e.ID, valid); a.status != 200 {
		t.Errorf("its own: %d %s", a.status, a.body)
	}
	if a := w.do(w.issue("globex", apikey.Scopes()...), "POST", "/v1/webhooks", valid); a.status != 201 {
		t.Errorf("another tenant's: %d %s", a.status, a.body)
	}
	w.do(key, "DELETE", "/v1/webhooks/"+e.ID, "")
	if a := w.do(key, "POST", "/v1/webhooks", valid); a.status != 201 {
		t.Errorf("one of a deleted endpoint: %d %s", a.status, a.body)
	}
	if a := w.do(key, "POST", "/v1/webhooks/"+e.ID+"/restore", ""); a.status != 200 {
		t.Errorf("a restore: %d %s", a.status, a.body)
	}
}

func TestHandler_create_boundsTheEndpointsAtOneHost(t *testing.T) {
	w := newWorld(t)
	w.handler.PerHost = 2
	key := w.issue("acme", apikey.Scopes()...)
	first := w.create(key)
	w.create(key)
	other := w.do(key, "POST", "/v1/webhooks", body("https://example.org/"))
	var elsewhere shown
	other.decode(t, &elsewhere)
	for name, a := range map[string]answer{
		"created":          w.do(key, "POST", "/v1/webhooks", body("https://example.com/3")),
		"moved there":      w.do(key, "PATCH", "/v1/webhooks/"+elsewhere.ID, body("https://example.com/3")),
		"another query":    w.do(key, "POST", "/v1/webhooks", body("https://example.com/?n=3")),
		"spelt in capital": w.do(key, "POST", "/v1/webhooks", body("https://EXAMPLE.COM/3")),
	} {
		if a.code() != "host_limit" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := w.do(key, "PATCH", "/v1/webhooks/"+first.ID, body("https://example.com/moved")); a.status != 200 {
		t.Errorf("moved within the host: %d %s", a.status, a.body)
	}
	w.do(key, "DELETE", "/v1/webhooks/"+first.ID, "")
	if a := w.do(key, "POST", "/v1/webhooks", body("https://example.com/3")); a.status != 201 {
		t.Errorf("in place of a deleted one: %d %s", a.status, a.body)
	}
	if a := w.do(key, "POST", "/v1/webhooks/"+first.ID+"/restore", ""); a.status != 200 {
		t.Errorf("a restore: %d %s", a.status, a.body)
	}
}
