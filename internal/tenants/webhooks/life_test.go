package webhooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

func TestHandler_Serve_leadsAnEndpointThroughItsLife(t *testing.T) {
	w, key := newTenant(t)
	step := func(method, target, body string, status int) (e management.Endpoint) {
		t.Helper()
		w.reads, w.writes = 0, 0
		a := w.do(key, method, target, body)
		if a.status != status || w.reads > 2 || w.writes != 1 {
			t.Fatalf("%s %s answered %d %s after %d reads and %d counts", method, target, a.status, a.body, w.reads, w.writes)
		}
		if status != 204 {
			a.decode(t, &e)
		}
		return e
	}
	check := func(name string, want, got management.Endpoint) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	stored := func(name string, version int, secret string) { // as deliver opens it
		t.Helper()
		for _, e := range w.of("acme") {
			id := keyring.SecretID{TenantID: "acme", EndpointID: e.ID, Version: version}
			if !bytes.Equal(e.SealedSecret, w.sealed(id, secret)) || e.SecretVersion != version {
				t.Errorf("%s: version %d is stored as %s", name, e.SecretVersion, e.SealedSecret)
			}
		}
	}

	created := step("POST", "/v1/webhooks", valid, 201)
	if !regexp.MustCompile(`^webhook_[0-9A-Z]{26}$`).MatchString(created.ID) {
		t.Errorf("created with id %q", created.ID)
	}
	first := created.SigningSecret
	want := management.Endpoint{
		ID: created.ID, URL: "https://example.com/hooks", Events: []string{"user.created"}, Status: "active",
		CreatedAt: created.CreatedAt, UpdatedAt: created.CreatedAt, SigningSecret: first,
	}
	check("created", want, created)
	stored("created", 1, first)
	path := "/v1/webhooks/" + created.ID

	want.SigningSecret = ""
	check("read", want, step("GET", path, "", 200))

	const change = `{"url":"https://EXAMPLE.org","description":"ä","events":["*"],"status":"disabled"}`
	changed := step("PATCH", path, change, 200)
	want.URL, want.Description, want.Events, want.Status = "https://example.org/", "ä", []string{"*"}, "disabled"
	want.UpdatedAt = changed.UpdatedAt
	check("changed", want, changed)

	rotated := step("POST", path+"/rotate-secret", "", 200)
	want.SigningSecret, want.SecretRotatedAt = rotated.SigningSecret, rotated.SecretRotatedAt
	want.UpdatedAt = rotated.UpdatedAt
	check("rotated", want, rotated)
	stored("rotated", 2, rotated.SigningSecret)
	if rotated.SecretRotatedAt == nil {
		t.Error("a rotated secret has no time of its rotation")
	}

	step("DELETE", path, "", 204)
	step("DELETE", path, "{}", 204)
	deleted := step("GET", path, "", 200)
	want.Status, want.SigningSecret, want.DeletedAt, want.UpdatedAt = "deleted", "", deleted.DeletedAt, deleted.UpdatedAt
	check("deleted", want, deleted)
	if deleted.DeletedAt == nil {
		t.Error("a deleted endpoint has no time of its deletion")
	}

	again := step("POST", path+"/rotate-secret", "{}", 200)
	want.SigningSecret, want.SecretRotatedAt, want.UpdatedAt = again.SigningSecret, again.SecretRotatedAt, again.UpdatedAt
	check("rotated when deleted", want, again)
	var named map[string]any
	w.do(key, "GET", path, "").decode(t, &named)
	for name, at := range map[string]*string{
		"created_at": &again.CreatedAt, "updated_at": &again.UpdatedAt, "deleted_at": again.DeletedAt,
		"secret_rotated_at": again.SecretRotatedAt,
	} {
		if named[name] != *at {
			t.Errorf("%s is %v, want %s", name, named[name], *at)
		}
	}

	restored := step("POST", path+"/restore", " {} ", 200)
	want.Status, want.SigningSecret, want.DeletedAt, want.UpdatedAt = "active", "", nil, restored.UpdatedAt
	check("restored", want, restored)
	stored("restored", 3, again.SigningSecret)

	var times []string
	for _, e := range []management.Endpoint{created, changed, rotated, deleted, again, restored} {
		times = append(times, e.UpdatedAt)
	}
	if !slices.IsSorted(times) || len(slices.Compact(times)) != 6 {
		t.Errorf("updated at %q: not each later than the one before", times)
	}
	secrets := []string{first, rotated.SigningSecret, again.SigningSecret}
	for i, secret := range secrets {
		if secret == "" || slices.Index(secrets, secret) != i {
			t.Errorf("secret %d of %q is empty or not new", i, secrets)
		}
		if strings.Contains(w.log.String(), secret) || strings.Contains(w.log.String(), key) {
			t.Error("a secret or a key is in the log")
		}
	}
}

func TestHandler_change_ofNothingChangesNothing(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	for _, body := range []string{`{}`, `{"status":"active"}`, `{"url":"https://EXAMPLE.com:443/hooks"}`} {
		var got management.Endpoint
		w.do(key, "PATCH", "/v1/webhooks/"+e.ID, body).decode(t, &got)
		if diff := cmp.Diff(e.UpdatedAt, got.UpdatedAt); diff != "" {
			t.Errorf("%s: updated_at moved (-was +is):\n%s", body, diff)
		}
	}
	if strings.Contains(w.audited.String(), `"action":"update"`) {
		t.Error("an audit line about nothing")
	}
}

// Each type is shown with the schema and the example of its data. A subscription takes all that is shown.
func TestHandler_eventTypes_areThoseImplemented(t *testing.T) {
	w := newRig(t)
	type answer struct {
		Data     []map[string]any `json:"data"`
		Patterns []string         `json:"patterns"`
	}
	var got answer
	want := answer{Patterns: event.Patterns()}
	for _, c := range catalogue.Types() {
		shown := map[string]any{"name": c.Name, "description": c.Description}
		for name, text := range map[string]string{"schema": c.Schema, "example": c.Example} {
			var value map[string]any
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				t.Fatal(err)
			}
			shown[name] = value
		}
		want.Data = append(want.Data, shown)
	}
	w.do(w.issue("acme", apikey.Read), "GET", "/v1/event-types", "").decode(t, &got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event types (-want +got):\n%s", diff)
	}
	for _, name := range slices.Concat(event.Types(), got.Patterns) {
		body := fmt.Sprintf(`{"url":"https://example.com/%s","events":[%q]}`, name, name)
		w.expect(name, "201", w.do(w.issue("acme", apikey.Write), "POST", "/v1/webhooks", body))
	}
}

// pages walks a list to its end.
func (w *rig) pages(key, query string, limit int) (all []management.Endpoint) {
	w.t.Helper()
	target := fmt.Sprintf("/v1/webhooks?limit=%d&%s", limit, query)
	for next := target; ; {
		var p management.EndpointList
		w.do(key, "GET", strings.TrimSuffix(next, "&"), "").decode(w.t, &p)
		all = append(all, p.Data...)
		if p.NextCursor == nil {
			return all
		}
		if len(p.Data) != limit {
			w.t.Fatalf("a page of %d before the last", len(p.Data))
		}
		next = strings.TrimSuffix(target, "&") + "&cursor=" + *p.NextCursor
	}
}

func TestHandler_list_isNewestFirstInFullPages(t *testing.T) {
	w, key := newTenant(t)
	other := w.issue("globex", apikey.Scopes()...)
	var ids, deleted []string
	for i := range 17 {
		e := w.create(key)
		w.create(other)
		switch i % 3 {
		case 0:
			w.do(key, "DELETE", "/v1/webhooks/"+e.ID, "")
			deleted = append([]string{e.ID}, deleted...)
		default:
			ids = append([]string{e.ID}, ids...)
		}
	}
	w.do(key, "PATCH", "/v1/webhooks/"+ids[3], `{"status":"disabled"}`)
	for query, want := range map[string][]string{
		"":                ids,
		"status=deleted":  deleted,
		"status=disabled": ids[3:4],
		"status=active":   slices.Concat(ids[:3], ids[4:]),
	} {
		for _, limit := range []int{1, 2, 5, len(want), 100} {
			var got []string
			for _, e := range w.pages(key, query, max(limit, 1)) {
				got = append(got, e.ID)
				if e.SigningSecret != "" {
					t.Error("a list shows a secret")
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q in pages of %d (-want +got):\n%s", query, limit, diff)
			}
		}
	}
	var p management.EndpointList
	w.do(w.issue("empty", apikey.Read), "GET", "/v1/webhooks", "").decode(t, &p)
	if diff := cmp.Diff(management.EndpointList{Data: []management.Endpoint{}}, p); diff != "" {
		t.Errorf("the list of no endpoints (-want +got):\n%s", diff)
	}
}

// internal/rules/cursor has every other way to spoil a cursor.
func TestHandler_list_takesCursorsOfItsTenantAndFilterOnly(t *testing.T) {
	w, key := newTenant(t)
	other := w.issue("globex", apikey.Scopes()...)
	var ids []string
	for range 6 {
		ids = append([]string{w.create(key).ID}, ids...)
	}
	var first, rest management.EndpointList
	w.do(key, "GET", "/v1/webhooks?limit=3", "").decode(t, &first)
	cursor := "cursor=" + *first.NextCursor
	const refused = "400 invalid_cursor ?cursor"
	w.expect("another tenant's", refused, w.do(other, "GET", "/v1/webhooks?"+cursor, ""))
	w.expect("another filter's", refused, w.do(key, "GET", "/v1/webhooks?status=active&"+cursor, ""))
	w.do(key, "DELETE", "/v1/webhooks/"+ids[2], "") // the cursor's own
	w.create(key)
	w.do(key, "GET", "/v1/webhooks?limit=4&"+cursor, "").decode(t, &rest)
	var got []string
	for _, e := range rest.Data {
		got = append(got, e.ID)
	}
	if diff := cmp.Diff(ids[3:], got); diff != "" || rest.NextCursor != nil {
		t.Errorf("went on, last page %v, with (-want +got):\n%s", rest.NextCursor == nil, diff)
	}
}

// oneOfEach makes every change to an endpoint, some of which change nothing.
func (w *rig) oneOfEach(key string) (id string) {
	id = w.create(key).ID
	path := "/v1/webhooks/" + id
	w.do(key, "PATCH", path, `{"url":"https://example.com/hooks?token=hidden"}`)
	w.do(key, "PATCH", path, `{"url":"https://example.com/hooks?token=hidden2"}`)
	w.do(key, "POST", path+"/rotate-secret", "")
	w.do(key, "DELETE", path, "")
	w.do(key, "DELETE", path, "")
	w.do(key, "POST", path+"/restore", "")
	w.do(key, "POST", path+"/restore", "")
	return id
}

func TestHandler_audit_leavesOneLinePerChange(t *testing.T) {
	w, key := newTenant(t)
	keyID, _ := apikey.ParseID(key)
	id := w.oneOfEach(key)
	trail := func(url, status string, version float64) map[string]any {
		sum := sha256.Sum256([]byte(url))
		return map[string]any{
			"host": "example.com", "url_digest": hex.EncodeToString(sum[:16]), "description": "",
			"events": []any{"user.created"}, "status": status, "secret_version": version,
		}
	}
	const plain = "https://example.com/hooks"
	states := []map[string]any{
		trail(plain, "active", 1), trail(plain+"?token=hidden", "active", 1), trail(plain+"?token=hidden2", "active", 1),
		trail(plain+"?token=hidden2", "active", 2), trail(plain+"?token=hidden2", "deleted", 2),
		trail(plain+"?token=hidden2", "active", 2),
	}
	var want []map[string]any
	for i, change := range []struct {
		action  string
		changed []any
	}{
		{"create", []any{"url", "events", "status", "secret"}},
		{"update", []any{"url"}},
		{"update", []any{"url"}},
		{"rotate", []any{"secret"}},
		{"delete", []any{"status"}},
		{"restore", []any{"status"}},
	} {
		line := map[string]any{
			"function": "", "request_id": "req-1", "tenant_id": "acme", "key_id": keyID, "endpoint_id": id,
			"action": change.action, "changed": change.changed, "after": states[i],
		}
		if i > 0 {
			line["before"] = states[i-1]
		}
		want = append(want, line)
	}
	if diff := cmp.Diff(want, w.auditLines()); diff != "" {
		t.Errorf("audit lines (-want +got):\n%s", diff)
	}
	if logs := w.log.String() + w.audited.String(); strings.Contains(logs, "hidden") || strings.Contains(logs, "/hooks") {
		t.Error("a URL's path or query is in a log")
	}
}

func TestHandler_report_leavesOneLinePerRequest(t *testing.T) {
	w, key := newTenant(t)
	keyID, _ := apikey.ParseID(key)
	id := w.oneOfEach(key)
	w.do("hk_wrong", "GET", "/v1/webhooks/"+id, "")
	w.do(wrongSecret(key), "GET", "/v1/webhooks/"+id, "")
	w.revoke(key)
	w.do(key, "GET", "/v1/webhooks/"+id, "")
	line := func(route string, status float64) map[string]any {
		return map[string]any{
			"level": "INFO", "msg": "request", "request_id": "req-1", "route": route, "status": status,
			"tenant_id": "acme", "key_id": keyID, "endpoint_id": id, "source_ip": "192.0.2.1", "outcome": "answered",
		}
	}
	refused := func(line map[string]any, reason string) map[string]any {
		line["outcome"], line["reason"] = "refused", reason
		return line
	}
	stranger := refused(line("GET /v1/webhooks/{id}", 401), "unauthenticated")
	stranger["tenant_id"], stranger["key_id"] = "", ""
	guessed := refused(line("GET /v1/webhooks/{id}", 401), "unauthenticated") // names the key that is guessed at
	guessed["tenant_id"] = ""
	revoked := maps.Clone(guessed)
	want := []map[string]any{
		line("POST /v1/webhooks", 201),
		line("PATCH /v1/webhooks/{id}", 200),
		line("PATCH /v1/webhooks/{id}", 200),
		line("POST /v1/webhooks/{id}/rotate-secret", 200),
		line("DELETE /v1/webhooks/{id}", 204),
		line("DELETE /v1/webhooks/{id}", 204),
		line("POST /v1/webhooks/{id}/restore", 200),
		refused(line("POST /v1/webhooks/{id}/restore", 409), "endpoint_not_deleted"),
		stranger,
		guessed,
		revoked,
	}
	got := w.lines(w.log)
	for _, line := range got {
		if _, ok := line["ms"].(float64); !ok {
			t.Errorf("no duration in %v", line)
		}
		delete(line, "ms")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request lines (-want +got):\n%s", diff)
	}
	if strings.Contains(w.log.String(), "hidden") {
		t.Error("a URL's query is in the log")
	}
}
