//go:build emulator

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/internal/handler/webhooks"
)

// reply is an answer of the HTTP API.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// code is the code of a problem document.
func (r reply) code() string {
	var p struct {
		Code string `json:"code"`
	}
	if r.header.Get("Content-Type") != "application/problem+json" || json.Unmarshal(r.body, &p) != nil {
		return ""
	}
	return p.Code
}

// ask sends body as it is. An empty key sends no Authorization header.
func ask(t *testing.T, key, method, path, body string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, operator.APIURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := operator.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	received, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, received}
}

// issue makes a key of the tenant with these scopes, both when none are named.
func issue(t *testing.T, tenantID string, scopes ...string) (key, id string) {
	t.Helper()
	in := map[string]any{"action": "issue", "operator": "tests@example.com", "tenant_id": tenantID}
	if len(scopes) > 0 {
		in["scopes"] = scopes
	}
	var out struct {
		APIKey string `json:"api_key"`
		KeyID  string `json:"key_id"`
	}
	if err := operator.Invoke(t.Context(), "apikeys", in, &out); err != nil {
		t.Fatal(err)
	}
	return out.APIKey, out.KeyID
}

func revoke(t *testing.T, keyID string) {
	t.Helper()
	var out map[string]any
	in := map[string]any{"action": "revoke", "operator": "tests@example.com", "key_id": keyID}
	if err := operator.Invoke(t.Context(), "apikeys", in, &out); err != nil {
		t.Fatal(err)
	}
}

const newEndpoint = `{"url":"https://example.com/hooks","events":["user.created"]}`

// TestEveryRouteForEveryKey is the matrix: what each route answers to each kind of key.
func TestEveryRouteForEveryKey(t *testing.T) {
	c, stranger := tenant(t), tenant(t)
	revoked, revokedID := issue(t, c.TenantID)
	if r := ask(t, revoked, "GET", "/v1/webhooks", ""); r.status != 200 {
		t.Fatalf("before its revocation the key is answered %d", r.status)
	}
	revoke(t, revokedID)
	readOnly, _ := issue(t, c.TenantID, "webhooks:read")
	keys := []struct{ who, key string }{
		{"no key", ""}, {"garbage", "hk_garbage"}, {"revoked", revoked}, {"other tenant", stranger.APIKey},
		{"read-only", readOnly}, {"right key", c.APIKey},
	}
	// expected status by column; an id of another tenant's is never found
	want := map[string][]int{
		"POST /v1/webhooks":                    {401, 401, 401, 201, 403, 201},
		"GET /v1/webhooks":                     {401, 401, 401, 200, 200, 200},
		"GET /v1/webhooks/event-types":         {401, 401, 401, 200, 200, 200},
		"GET /v1/webhooks/{id}":                {401, 401, 401, 404, 200, 200},
		"PATCH /v1/webhooks/{id}":              {401, 401, 401, 404, 403, 200},
		"DELETE /v1/webhooks/{id}":             {401, 401, 401, 404, 403, 204},
		"POST /v1/webhooks/{id}/restore":       {401, 401, 401, 404, 403, 200},
		"POST /v1/webhooks/{id}/rotate-secret": {401, 401, 401, 404, 403, 200},
		"GET /v1/unknown":                      {401, 401, 401, 404, 404, 404},
		"PUT /v1/webhooks":                     {401, 401, 401, 405, 405, 405},
	}
	if len(want) != len(webhooks.Routes())+2 {
		t.Errorf("the matrix has %d rows for %d routes", len(want)-2, len(webhooks.Routes()))
	}
	var table bytes.Buffer
	fmt.Fprintf(&table, "%-38s", "")
	for _, k := range keys {
		fmt.Fprintf(&table, "%-14s", k.who)
	}
	for _, route := range append(webhooks.Routes(), "GET /v1/unknown", "PUT /v1/webhooks") {
		method, path, _ := strings.Cut(route, " ")
		made, err := c.CreateEndpoint(t.Context(), "https://example.com/hooks", "*")
		if err != nil {
			t.Fatal(err)
		}
		path = strings.ReplaceAll(path, "{id}", made.ID)
		if strings.HasSuffix(path, "/restore") {
			ask(t, c.APIKey, "DELETE", "/v1/webhooks/"+made.ID, "")
		}
		body := ""
		if route == "POST /v1/webhooks" || method == "PATCH" {
			body = newEndpoint
		}
		fmt.Fprintf(&table, "\n%-38s", route)
		for i, k := range keys {
			r := ask(t, k.key, method, path, body)
			fmt.Fprintf(&table, "%-14s", fmt.Sprint(r.status, " ", short(r.code())))
			if r.status != want[route][i] {
				t.Errorf("%s by %s: %d %s, want %d", route, k.who, r.status, r.body, want[route][i])
			}
		}
	}
	t.Logf("the matrix\n%s", table.String())
}

// short abbreviates a code to fit its column.
func short(code string) string {
	if len(code) > 9 {
		return code[:9]
	}
	return code
}

func TestTheLifeOfAnEndpointOverHTTP(t *testing.T) {
	c := tenant(t)
	made, err := c.CreateEndpoint(t.Context(), "https://BÜCHER.example:443/hooks", "user.*", "organization.created")
	if err != nil {
		t.Fatal(err)
	}
	path := "/v1/webhooks/" + made.ID
	if made.URL != "https://xn--bcher-kva.example/hooks" || made.SigningSecret == "" {
		t.Errorf("made %+v", made)
	}
	var rotated client.Endpoint
	for _, step := range []struct {
		method, path, body string
		status             int
		code, state        string
	}{
		{"GET", path, "", 200, "", "active"},
		{"PATCH", path, `{"status":"disabled","description":"paused"}`, 200, "", "disabled"},
		{"POST", path + "/restore", "", 409, "endpoint_not_deleted", ""},
		{"POST", path + "/rotate-secret", "{}", 200, "", "disabled"},
		{"PATCH", path, `{"status":"active"}`, 200, "", "active"},
		{"DELETE", path, "", 204, "", ""},
		{"DELETE", path, "", 204, "", ""},
		{"GET", path, "", 200, "", "deleted"},
		{"PATCH", path, `{"status":"active"}`, 409, "endpoint_deleted", ""},
		{"POST", path + "/restore", "", 200, "", "active"},
		{"PATCH", path, `{"description":null}`, 400, "invalid_body", ""},
		{"PATCH", path, `{"description":"a","description":"b"}`, 400, "invalid_json", ""},
		{"PATCH", path, `{"url":"https://localhost"}`, 422, "validation_failed", ""},
		{"PATCH", path, `{"url":"https://169.254.169.254/"}`, 422, "validation_failed", ""},
		{"PATCH", path, "{\"description\":\"\xff\"}", 400, "invalid_json", ""},
		{"PATCH", path, strings.Repeat(" ", 65_537), 413, "body_too_large", ""},
		{"POST", path + "/rotate-secret", "[]", 400, "unexpected_body", ""},
		{"GET", "/v1/webhooks?limit=0", "", 400, "invalid_query", ""},
		{"GET", "/v1/webhooks?limit=101", "", 400, "invalid_query", ""},
		{"GET", "/v1/webhooks?limit=abc", "", 400, "invalid_query", ""},
		{"GET", "/v1/webhooks?cursor=abc", "", 400, "invalid_cursor", ""},
	} {
		r := ask(t, c.APIKey, step.method, step.path, step.body)
		if r.status != step.status || r.code() != step.code {
			t.Fatalf("%s %s %.60q: %d %s", step.method, step.path, step.body, r.status, r.body)
		}
		if step.state == "" {
			continue
		}
		var e client.Endpoint
		if err := json.Unmarshal(r.body, &e); err != nil || e.Status != step.state {
			t.Errorf("%s %s: %s %v", step.method, step.path, r.body, err)
		}
		if rotates := strings.HasSuffix(step.path, "rotate-secret"); (e.SigningSecret != "") != rotates {
			t.Errorf("%s %s shows the secret %q", step.method, step.path, e.SigningSecret)
		} else if rotates {
			rotated = e
		}
	}
	if rotated.SigningSecret == made.SigningSecret {
		t.Error("rotation returned the old secret")
	}
}

func TestListsOverHTTP(t *testing.T) {
	c, other := tenant(t), tenant(t)
	var ids []string
	for range 5 {
		e, err := c.CreateEndpoint(t.Context(), "https://example.com/hooks", "*")
		if err != nil {
			t.Fatal(err)
		}
		ids = append([]string{e.ID}, ids...)
	}
	var got []string
	path := "/v1/webhooks?limit=2"
	for pages := 1; ; pages++ {
		var p struct {
			Data       []client.Endpoint `json:"data"`
			NextCursor *string           `json:"next_cursor"`
		}
		if status, err := c.API(t.Context(), "GET", path, nil, &p); err != nil || status != 200 {
			t.Fatal(status, err)
		}
		for _, e := range p.Data {
			got = append(got, e.ID)
		}
		if p.NextCursor == nil {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		path = "/v1/webhooks?limit=2&cursor=" + *p.NextCursor
		for name, r := range map[string]reply{
			"another tenant": ask(t, other.APIKey, "GET", path, ""),
			"another filter": ask(t, c.APIKey, "GET", path+"&status=active", ""),
		} {
			if r.code() != "invalid_cursor" {
				t.Errorf("the cursor with %s: %d %s", name, r.status, r.body)
			}
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Errorf("got %v, want %v", got, ids)
	}
}

func TestFiftyEndpointsAndNoMoreOverHTTP(t *testing.T) {
	c := tenant(t)
	first, err := c.CreateEndpoint(t.Context(), "https://example.com/hooks", "*")
	if err != nil {
		t.Fatal(err)
	}
	ask(t, c.APIKey, "DELETE", "/v1/webhooks/"+first.ID, "")
	replies := make([]reply, 60)
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range replies {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			replies[i] = ask(t, c.APIKey, "POST", "/v1/webhooks", newEndpoint)
		})
	}
	wait.Wait()
	made := 0
	for _, r := range replies {
		if r.status == 201 {
			made++
		} else if r.code() != "endpoint_limit" {
			t.Errorf("answered %d %s", r.status, r.body)
		}
	}
	if made != 50 {
		t.Errorf("%d were made", made)
	}
	if r := ask(t, c.APIKey, "POST", "/v1/webhooks/"+first.ID+"/restore", ""); r.code() != "endpoint_limit" {
		t.Errorf("restoring at the limit: %d %s", r.status, r.body)
	}
}
