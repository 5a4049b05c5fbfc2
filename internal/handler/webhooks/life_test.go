package webhooks_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/event"
)

func TestTheWholeLifeOfAnEndpoint(t *testing.T) {
	w := newWorld(t)
	key := w.issue("acme", apikey.Scopes()...)
	e := w.create(key)
	if !regexp.MustCompile(`^webhook_[0-9A-Z]{26}$`).MatchString(e.ID) || e.Status != "active" ||
		e.URL != "https://example.com/hooks" ||
		e.DeletedAt != nil {
		t.Errorf("created %+v", e)
	}
	first := e.SigningSecret
	path := "/v1/webhooks/" + e.ID

	step := func(method, target, body string, status int) shown {
		t.Helper()
		a := w.do(key, method, target, body)
		if a.status != status {
			t.Fatalf("%s %s answered %d %s", method, target, a.status, a.body)
		}
		var s shown
		if status != 204 {
			a.decode(t, &s)
		}
		return s
	}
	if got := step("GET", path, "", 200); got.SigningSecret != "" || got.URL != e.URL {
		t.Errorf("read %+v", got)
	}
	changed := step(
		"PATCH",
		path,
		`{"url":"https://EXAMPLE.org","description":"ä","events":["*"],"status":"disabled"}`,
		200,
	)
	if changed.URL != "https://example.org" || changed.Description != "ä" || changed.Status != "disabled" ||
		changed.UpdatedAt <= e.UpdatedAt ||
		changed.CreatedAt != e.CreatedAt {
		t.Errorf("changed %+v", changed)
	}
	rotated := step("POST", path+"/rotate-secret", "", 200)
	if rotated.SigningSecret == first || rotated.SigningSecret == "" || rotated.SecretRotatedAt == nil ||
		rotated.Status != "disabled" {
		t.Errorf("rotated %+v", rotated)
	}
	step("DELETE", path, "", 204)
	step("DELETE", path, "{}", 204)
	if got := step("GET", path, "", 200); got.Status != "deleted" || got.DeletedAt == nil {
		t.Errorf("read deleted %+v", got)
	}
	if got := step("POST", path+"/rotate-secret", "{}", 200); got.Status != "deleted" || got.SigningSecret == "" {
		t.Errorf("rotated deleted %+v", got)
	}
	if got := step("POST", path+"/restore", " {} ", 200); got.Status != "active" || got.DeletedAt != nil ||
		got.SigningSecret != "" ||
		!slices.Equal(got.Events, []string{"*"}) {
		t.Errorf("restored %+v", got)
	}
	for _, secret := range []string{first, rotated.SigningSecret} {
		if strings.Contains(w.log.String(), secret) || strings.Contains(w.log.String(), key) {
			t.Error("a secret or a key is in the log")
		}
	}
}

func TestAChangeOfNothingChangesNothing(t *testing.T) {
	w := newWorld(t)
	key := w.issue("acme", apikey.Scopes()...)
	e := w.create(key)
	for _, body := range []string{`{}`, `{"status":"active"}`, `{"url":"https://EXAMPLE.com:443/hooks"}`} {
		var got shown
		w.do(key, "PATCH", "/v1/webhooks/"+e.ID, body).decode(t, &got)
		if got.UpdatedAt != e.UpdatedAt {
			t.Errorf("%s: updated_at moved", body)
		}
	}
	if strings.Contains(w.log.String(), `"action":"update"`) {
		t.Error("an audit line about nothing")
	}
}

func TestEventTypesAreThoseImplemented(t *testing.T) {
	w := newWorld(t)
	var got struct {
		EventTypes []string `json:"event_types"`
		Patterns   []string `json:"patterns"`
	}
	w.do(w.issue("acme", apikey.Read), "GET", "/v1/webhooks/event-types", "").decode(t, &got)
	if !slices.Equal(got.EventTypes, event.Types()) || !slices.Equal(got.Patterns, event.Patterns()) {
		t.Errorf("got %+v", got)
	}
	for _, name := range append(got.EventTypes, got.Patterns...) {
		if a := w.do(w.issue("acme", apikey.Write), "POST", "/v1/webhooks", fmt.Sprintf(`{"url":"https://example.com","events":[%q]}`, name)); a.status != 201 {
			t.Errorf("%s is refused: %s", name, a.body)
		}
	}
}

type page struct {
	Data       []shown `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

// pages walks a list to its end.
func (w *world) pages(key, query string, limit int) (all []shown) {
	w.t.Helper()
	target := fmt.Sprintf("/v1/webhooks?limit=%d&%s", limit, query)
	for next := target; ; {
		var p page
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

func TestListsAreNewestFirstInFullPages(t *testing.T) {
	w := newWorld(t)
	key := w.issue("acme", apikey.Scopes()...)
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
	for query, want := range map[string][]string{"": ids, "status=deleted": deleted, "status=disabled": ids[3:4], "status=active": slices.Concat(ids[:3], ids[4:])} {
		for _, limit := range []int{1, 2, 5, len(want), 100} {
			var got []string
			for _, e := range w.pages(key, query, max(limit, 1)) {
				got = append(got, e.ID)
				if e.SigningSecret != "" {
					t.Error("a list shows a secret")
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q in pages of %d: got %v, want %v", query, limit, got, want)
			}
		}
	}
	var p page
	w.do(w.issue("empty", apikey.Read), "GET", "/v1/webhooks", "").decode(t, &p)
	if p.Data == nil || len(p.Data) != 0 || p.NextCursor != nil {
		t.Errorf("no endpoints are %+v", p)
	}
}

func TestAPageGoesOnWhereTheLastEndedWhateverHappenedMeanwhile(t *testing.T) {
	w := newWorld(t)
	key := w.issue("acme", apikey.Scopes()...)
	var ids []string
	for range 6 {
		ids = append([]string{w.create(key).ID}, ids...)
	}
	var p page
	w.do(key, "GET", "/v1/webhooks?limit=3", "").decode(t, &p)
	w.do(key, "DELETE", "/v1/webhooks/"+ids[2], "") // the cursor's own
	w.create(key)
	var rest page
	w.do(key, "GET", "/v1/webhooks?cursor="+*p.NextCursor, "").decode(t, &rest)
	if len(rest.Data) != 3 || rest.Data[0].ID != ids[3] || rest.NextCursor != nil {
		t.Errorf("went on with %+v", rest)
	}
}

// lines returns the log lines with this message.
func (w *world) lines(message string) (found []map[string]any) {
	for line := range strings.Lines(w.log.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			w.t.Fatalf("log line %q: %v", line, err)
		}
		if m["msg"] == message {
			found = append(found, m)
		}
	}
	return found
}

func TestEveryChangeLeavesOneAuditLineAndEveryRequestOneWideLine(t *testing.T) {
	w := newWorld(t)
	key := w.issue("acme", apikey.Scopes()...)
	keyID, _ := apikey.ParseID(key)
	e := w.create(key)
	path := "/v1/webhooks/" + e.ID
	w.do(key, "PATCH", path, `{"url":"https://example.com/hooks?token=hidden"}`)
	w.do(key, "PATCH", path, `{"url":"https://example.com/hooks?token=hidden2"}`)
	w.do(key, "POST", path+"/rotate-secret", "")
	w.do(key, "DELETE", path, "")
	w.do(key, "DELETE", path, "")
	w.do(key, "POST", path+"/restore", "")
	w.do(key, "POST", path+"/restore", "")
	w.do("hk_wrong", "GET", path, "")

	var actions []string
	for _, line := range w.lines("audit") {
		actions = append(actions, fmt.Sprint(line["action"], line["changed"]))
		if line["tenant_id"] != "acme" || line["key_id"] != keyID || line["endpoint_id"] != e.ID ||
			line["request_id"] != "req-1" ||
			line["after"] == nil {
			t.Errorf("audit line %v", line)
		}
	}
	want := []string{
		"create[url events status secret]",
		"update[url]",
		"update[url]",
		"rotate[secret]",
		"delete[status]",
		"restore[status]",
	}
	if !slices.Equal(actions, want) {
		t.Errorf("audited %v, want %v", actions, want)
	}
	wide := w.lines("request")
	if len(wide) != 9 {
		t.Fatalf("%d wide lines for 9 requests", len(wide))
	}
	for i, line := range wide[:8] {
		if line["tenant_id"] != "acme" || line["key_id"] != keyID || line["endpoint_id"] != e.ID ||
			line["route"] == "none" ||
			line["status"] == nil ||
			line["ms"] == nil {
			t.Errorf("wide line %d: %v", i, line)
		}
	}
	if last := wide[8]; last["reason"] != "unauthenticated" || last["tenant_id"] != "" {
		t.Errorf("wide line of a stranger: %v", last)
	}
	if strings.Contains(w.log.String(), "hidden") {
		t.Error("a URL's query is in the log")
	}
}
