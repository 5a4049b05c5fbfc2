package webhooks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
	"github.com/herald-webhooks/herald/internal/testkit/urls"
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

// Threat of a tenant: has one event sent many times to a host. Held by: no URL twice; a limit for each registrable
// domain, or IPv6 /64; few attempts at a time [in a batch](#what-herald-does-not-defend-against).
func TestHandler_create_boundsTheEndpointsAtOneHost(t *testing.T) {
	w := newRig(t)
	w.handler.Bounds.AtSite = 2
	key := w.issue("acme", apikey.Scopes()...)
	first := w.create(key)
	w.create(key)
	other := w.do(key, "POST", "/v1/webhooks", withURL("https://example.org/"))
	var elsewhere management.Endpoint
	other.decode(t, &elsewhere)
	for name, a := range map[string]answer{
		"created":          w.do(key, "POST", "/v1/webhooks", withURL("https://example.com/3")),
		"moved there":      w.do(key, "PATCH", "/v1/webhooks/"+elsewhere.ID, withURL("https://example.com/3")),
		"another query":    w.do(key, "POST", "/v1/webhooks", withURL("https://example.com/?n=3")),
		"another name":     w.do(key, "POST", "/v1/webhooks", withURL("https://shop3.example.com/")),
		"its name":         w.do(key, "PUT", "/v1/webhooks", withURL("https://eu.shop3.example.com/")),
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

// A tenant has fifty endpoints behind a wildcard, from when each host was counted alone. It keeps them, restores them,
// and changes them at their own domain; no other comes to it, until an operator allows more there.
func TestHandler_create_leavesWhatIsAtASiteFromBefore(t *testing.T) {
	w, key := newTenant(t)
	w.handler.Bounds.AtSite = 20
	url := func(n int) string { return fmt.Sprintf("https://shop%d.saas.example/", n) }
	for n := range endpoint.MaxLive {
		e := endpoint.Endpoint{
			ID: endpoint.NewID(start), TenantID: "acme", URL: url(n), Events: []string{"*"}, Status: endpoint.Active,
			CreatedAt: start, UpdatedAt: start, Revision: fmt.Sprint(n),
		}
		w.aws.Endpoints[e.ID] = e
	}
	for n, e := range w.of("acme")[:5] {
		path := "/v1/webhooks/" + e.ID
		w.expect("the same again", "200", w.do(key, "PUT", "/v1/webhooks", withURL(e.URL)))
		w.expect("disabled", "200", w.do(key, "PATCH", path, `{"status":"disabled"}`))
		w.expect("deleted", "204", w.do(key, "DELETE", path, ""))
		w.expect("another in its place", `409 host_limit "/url"`, w.do(key, "PUT", "/v1/webhooks", withURL(url(n+100))))
		w.expect("restored", "200", w.do(key, "POST", path+"/restore", ""))
		w.expect("moved within the domain", "200", w.do(key, "PATCH", path, withURL(url(n+200))))
	}
	first := "/v1/webhooks/" + w.of("acme")[0].ID
	w.expect("moved away", "200", w.do(key, "PATCH", first, withURL("https://elsewhere.example/")))
	w.expect("and back", `409 host_limit "/url"`, w.do(key, "PATCH", first, withURL(url(300))))
	w.aws.Stops["acme"] = endpoint.Marks{EndpointsPerHost: 50}
	w.expect("and back, allowed", "200", w.do(key, "PATCH", first, withURL(url(300))))
}

// become returns the URL that an endpoint has which is made by the API, by a change or by an import; "" for none.
func (w *rig) become(key, url string) (byCreate, byChange, byImport string) {
	w.t.Helper()
	text, err := json.Marshal(url)
	if err != nil {
		w.t.Fatal(err)
	}
	clear(w.aws.Endpoints)
	id := w.create(key).ID
	var made, changed management.Endpoint
	if a := w.do(key, "PATCH", "/v1/webhooks/"+id, `{"url":`+string(text)+`}`); a.status == 200 {
		a.decode(w.t, &changed)
	}
	clear(w.aws.Endpoints)
	if a := w.do(key, "POST", "/v1/webhooks", `{"events":["*"],"url":`+string(text)+`}`); a.status == 201 {
		a.decode(w.t, &made)
	}
	clear(w.aws.Endpoints)
	moved := w.move(false, `{"tenant_id":"acme","events":["*"],"secret":"`+oldKey+`","url":`+string(text)+`}`)[0]
	for _, e := range w.of("acme") {
		if e.ID == moved.EndpointID {
			byImport = e.URL
		}
	}
	return made.URL, changed.URL, byImport
}

// internal/edges/egress holds the deliveries to the same table and property.
func TestHandler_createChangeAndImportAgreeOnRealURLs(t *testing.T) {
	w, key := newTenant(t)
	w.handler.URLs.Addr = egress.Policy{}.Addr
	for _, row := range urls.Table(t) {
		byCreate, byChange, byImport := w.become(key, row.URL)
		if byCreate != row.Stored || byChange != row.Stored || byImport != row.Stored {
			t.Errorf("%s becomes %q, by a change %q, by an import %q; want %q",
				row.URL, byCreate, byChange, byImport, row.Stored)
		}
	}
}

func TestHandler_createChangeAndImportAgreeOnEveryURL(t *testing.T) {
	w, key := newTenant(t)
	draw := urls.Draw("example.com")
	rapid.Check(t, func(t *rapid.T) {
		url := draw.Draw(t, "url")
		byCreate, byChange, byImport := w.become(key, url)
		if byCreate != byChange || byCreate != byImport {
			t.Errorf("%s becomes %q, by a change %q, by an import %q", url, byCreate, byChange, byImport)
		}
	})
}

func TestHandler_create_takesAnEmptyPathForTheRoot(t *testing.T) {
	for first, second := range map[string]string{
		"https://example.com": "https://example.com/", "https://example.com?a=1": "https://example.com/?a=1",
		"https://EXAMPLE.com:443": "https://example.com./",
	} {
		w, key := newTenant(t)
		w.expect(first, "201", w.do(key, "POST", "/v1/webhooks", withURL(first)))
		w.expect(second, `409 duplicate_url "/url"`, w.do(key, "POST", "/v1/webhooks", withURL(second)))
		moved := w.move(false, `{"tenant_id":"acme","events":["*"],"secret":"`+oldKey+`","url":"`+second+`"}`)
		if got := results(moved); got[0] != api.ResultExists {
			t.Errorf("%s is imported: %v", second, moved)
		}
	}
}
