//go:build emulator

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

const forPage = `{"url":"https://example.com/hooks","events":["user.*"],"description":"<b>CRM</b>"}`

// The page does all that a tenant needs, by a key that it issues once, and no answer ever has the key.
func TestTheSettingsPageTakesAnEndpointThroughItsLife(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	p := openSettings(t, c)
	var parallel sync.WaitGroup
	for range 4 { // as a browser that loads the page
		parallel.Go(func() { p.send(t, http.MethodGet, "/v1/event-types", "", nil) })
	}
	parallel.Wait()
	if keys := keysOfTenant(t, c); len(keys) != 2 { // the first one is the test's own
		t.Errorf("the tenant has %d keys", len(keys))
	}
	for _, file := range []string{"/", "/settings.css", "/settings.mjs", "/forms.mjs", "/texts.mjs"} {
		p.does(t, http.MethodGet, file, "", http.StatusOK, "")
	}
	id := p.does(t, http.MethodPost, "/v1/webhooks", forPage, http.StatusCreated, "id")
	at := "/v1/webhooks/" + id
	p.does(t, http.MethodPatch, at, `{"description":"mail"}`, http.StatusOK, "")
	if sent := p.does(t, http.MethodPost, at+"/test", `{}`, http.StatusAccepted, "delivery_id"); sent[:5] != "test_" {
		t.Errorf("the test is %q", sent)
	}
	overlap := `{"previous_secret_hours":1}`
	rotated := p.does(t, http.MethodPost, at+"/rotate-secret", overlap, http.StatusOK, "signing_secret")
	if !strings.HasPrefix(rotated, "whsec_") {
		t.Errorf("the new secret is %q", rotated)
	}
	p.does(t, http.MethodPatch, at, `{"status":"disabled"}`, http.StatusOK, "")
	p.does(t, http.MethodPost, at+"/test", `{}`, http.StatusConflict, "")
	p.does(t, http.MethodDelete, at, "", http.StatusNoContent, "")
	p.does(t, http.MethodGet, "/v1/webhooks?status=deleted&limit=100", "", http.StatusOK, "")
	p.does(t, http.MethodPost, at+"/restore", `{}`, http.StatusOK, "")
	p.showsNoKey(t)
}

// showsNoKey fails the test if an answer, the log or a stored file has the text of a key.
func (p *settingsPage) showsNoKey(t *testing.T) {
	t.Helper()
	shown := append([]string{p.log.String()}, p.seen...)
	files, err := filepath.Glob(filepath.Join(p.folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	stored, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(shown, string(stored)) {
		if strings.Contains(text, "hk_0") {
			t.Errorf("a key in %s", text)
		}
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", files[0], info.Mode(), err)
	}
}

// changing are the requests that change something, of an endpoint.
func changing(id string) map[string][2]string {
	at := "/v1/webhooks/" + id
	return map[string][2]string{
		"create": {http.MethodPost, "/v1/webhooks"}, "change": {http.MethodPatch, at}, "delete": {http.MethodDelete, at},
		"restore": {http.MethodPost, at + "/restore"}, "rotate": {http.MethodPost, at + "/rotate-secret"},
		"test": {http.MethodPost, at + "/test"},
	}
}

// shown is an endpoint as its owner sees it by the API.
func shown(t *testing.T, c *client.Client, id string) (e client.Endpoint) {
	t.Helper()
	if err := c.Call(t.Context(), http.MethodGet, "/v1/webhooks/"+id, nil, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// Another tenant's endpoint is as good as none, and nothing happens to it.
//
// Threat of a page: a tenant reaches another's endpoint through it. Held by: the key is the session's; routes are a
// list.
func TestTheSettingsPageReachesItsTenantsEndpointsAlone(t *testing.T) {
	t.Parallel()
	c, other := tenant(t), tenant(t)
	p := openSettings(t, c)
	theirs := register(t, other, server, []string{"user.*"})
	before := shown(t, other, theirs.ID)
	for name, request := range changing(theirs.ID) {
		if name == "create" {
			continue
		}
		if status, answer := p.send(t, request[0], request[1], `{}`, nil); status != http.StatusNotFound {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
	if diff := cmp.Diff(before, shown(t, other, theirs.ID)); diff != "" {
		t.Errorf("the other tenant's endpoint (-before +after):\n%s", diff)
	}
	_, answer := p.send(t, http.MethodGet, "/v1/webhooks?tenant_id="+other.TenantID+"&limit=100", "", nil)
	if all, ok := answer["data"].([]any); !ok || len(all) != 0 {
		t.Errorf("the list: %v", answer)
	}
}

// A page of another site, and one that has given its name the server's address, change nothing.
//
// Threat of a page: the [settings page](../examples/settings/README.md) is used by another site. Held by: its own
// origin, JSON alone.
func TestTheSettingsPageIsUsedByNoOtherSite(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	p := openSettings(t, c)
	e := register(t, c, server, []string{"user.*"})
	before := shown(t, c, e.ID)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, change := range map[string]func(*http.Request){
		"another site": header("Origin", "https://evil.example"), "a local page": header("Origin", "http://127.0.0.1:1"),
		"a sandboxed page": header("Origin", "null"), "no origin": func(r *http.Request) { r.Header.Del("Origin") },
		"a sibling": header("Sec-Fetch-Site", "same-site"), "a plain form": header("Content-Type", "text/plain"),
		"a rebound name": func(r *http.Request) {
			r.Host = "evil.example:" + r.URL.Port()
			r.Header.Set("Origin", "http://"+r.Host)
		},
	} {
		for act, request := range changing(e.ID) {
			status, answer := p.send(t, request[0], request[1], forPage, change)
			if status != http.StatusForbidden && (status != http.StatusUnsupportedMediaType || name != "a plain form") {
				t.Errorf("%s: %s: %d %v", name, act, status, answer)
			}
		}
	}
	if diff := cmp.Diff(before, shown(t, c, e.ID)); diff != "" {
		t.Errorf("the endpoint (-before +after):\n%s", diff)
	}
}

// Nothing is shown under another name, or without the session, and of the API no more than the page needs.
func TestTheSettingsPageShowsNothingToStrangers(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	p := openSettings(t, c)
	e := register(t, c, server, []string{"user.*"})
	for _, path := range []string{"/", "/settings.mjs", "/v1/event-types", "/v1/webhooks"} {
		for _, name := range []string{"evil.example", "localhost", "127.0.0.1.evil.example"} {
			rebound := func(r *http.Request) { r.Host = name + ":" + r.URL.Port() }
			if status, answer := p.send(t, http.MethodGet, path, "", rebound); status != http.StatusForbidden {
				t.Errorf("%s at %s: %d %v", path, name, status, answer)
			}
		}
	}
	for _, request := range [][2]string{
		{"GET", "/v1/source-addresses"}, {"GET", "/v1/webhooks/" + e.ID + "/jwks.json"}, {"GET", "/v1/webhooks/" + e.ID},
		{"PUT", "/v1/webhooks"}, {"POST", "/v1/webhooks/" + e.ID}, {"GET", "/v1/webhooks/%2e%2e/x"}, {"GET", "/keys.mjs"},
		{"GET", "/../server.mjs"}, {"GET", "/__proto__"}, {"DELETE", "/v1/webhooks/" + e.ID + "%2f.."},
	} {
		if status, answer := p.send(t, request[0], request[1], "", nil); status != http.StatusNotFound {
			t.Errorf("%v: %d %v", request, status, answer)
		}
	}
	large := `{"description":"` + strings.Repeat("a", 1<<16) + `"}`
	p.does(t, http.MethodPatch, "/v1/webhooks/"+e.ID, large, http.StatusRequestEntityTooLarge, "code")
	p.browser = &http.Client{}
	for _, request := range changing(e.ID) {
		p.does(t, request[0], request[1], forPage, http.StatusUnauthorized, "code")
	}
	for _, path := range []string{"/v1/event-types", "/v1/webhooks"} {
		p.does(t, http.MethodGet, path, "", http.StatusUnauthorized, "code")
	}
	p.does(t, http.MethodGet, "/?token="+strings.Repeat("0", 32), "", http.StatusOK, "") // no session comes of it
	p.does(t, http.MethodGet, "/v1/webhooks", "", http.StatusUnauthorized, "code")
	if keys := keysOfTenant(t, c); len(keys) != 1 {
		t.Errorf("strangers have the page issue a key: %v", keys)
	}
}

// An operator who revokes a tenant's keys has locked the page, too: it issues none in their place.
//
// Threat of a page: it replaces a revoked key, or is left as it is. Held by: it does not; it lets nobody in.
func TestTheSettingsPageReplacesNoRevokedKey(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	p := openSettings(t, c)
	p.does(t, http.MethodGet, "/v1/webhooks", "", http.StatusOK, "")
	keys := keysOfTenant(t, c)
	for _, key := range keys {
		get(t, api.RevokeKey, api.RevokeKeyRequest{KeyID: key.KeyID, TenantID: c.TenantID})
	}
	code := p.does(t, http.MethodGet, "/v1/webhooks", "", http.StatusServiceUnavailable, "code")
	if code != "key_refused" || len(keysOfTenant(t, c)) != len(keys) {
		t.Errorf("answered %s, and the tenant has %v", code, keysOfTenant(t, c))
	}
	p.showsNoKey(t)
}
