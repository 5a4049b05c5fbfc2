package webhooks

import (
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/apikey"
)

func withURL(url string) string { return strings.Replace(valid, "https://example.com/hooks", url, 1) }

func TestHandler_create_refusesAURLThatAnotherLiveEndpointHas(t *testing.T) {
	w, key := newTenant(t)
	e, other := w.create(key), w.create(key)
	for name, a := range map[string]answer{
		"created":             w.do(key, "POST", "/v1/webhooks", valid),
		"written differently": w.do(key, "POST", "/v1/webhooks", withURL("https://EXAMPLE.com:443/hooks")),
		"given by a change":   w.do(key, "PATCH", "/v1/webhooks/"+other.ID, valid),
		"of one that is idle": w.do(key, "POST", "/v1/webhooks", withURL(other.URL)),
	} {
		if w.expect(name, `409 duplicate_url "/url"`, a); !strings.Contains(string(a.body), "webhook_") {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	if a := w.do(key, "POST", "/v1/webhooks", valid); !strings.Contains(string(a.body), "is the URL of "+e.ID) {
		t.Errorf("what stands is not named: %s", a.body)
	}
	w.expect("its own", "200", w.do(key, "PATCH", "/v1/webhooks/"+e.ID, valid))
	stranger := w.issue("globex", apikey.Scopes()...)
	w.expect("another tenant's", "201", w.do(stranger, "POST", "/v1/webhooks", valid))
	w.do(key, "DELETE", "/v1/webhooks/"+e.ID, "")
	w.expect("one of a deleted endpoint", "201", w.do(key, "POST", "/v1/webhooks", valid))
	w.expect("a restore", `409 duplicate_url "/url"`, w.do(key, "POST", "/v1/webhooks/"+e.ID+"/restore", ""))
}

func TestHandler_create_boundsTheEndpointsAtOneHost(t *testing.T) {
	w := newWorld(t)
	w.handler.PerHost = 2
	key := w.issue("acme", apikey.Scopes()...)
	first := w.create(key)
	w.create(key)
	other := w.do(key, "POST", "/v1/webhooks", withURL("https://example.org/"))
	var elsewhere view
	other.decode(t, &elsewhere)
	for name, a := range map[string]answer{
		"created":          w.do(key, "POST", "/v1/webhooks", withURL("https://example.com/3")),
		"moved there":      w.do(key, "PATCH", "/v1/webhooks/"+elsewhere.ID, withURL("https://example.com/3")),
		"another query":    w.do(key, "POST", "/v1/webhooks", withURL("https://example.com/?n=3")),
		"spelt in capital": w.do(key, "POST", "/v1/webhooks", withURL("https://EXAMPLE.COM/3")),
	} {
		w.expect(name, `409 host_limit "/url"`, a)
	}
	path := "/v1/webhooks/" + first.ID
	w.expect("moved within the host", "200", w.do(key, "PATCH", path, withURL("https://example.com/moved")))
	w.do(key, "DELETE", path, "")
	w.expect("in place of a deleted one", "201", w.do(key, "POST", "/v1/webhooks", withURL("https://example.com/3")))
	w.expect("a restore", `409 host_limit "/url"`, w.do(key, "POST", path+"/restore", ""))
}
