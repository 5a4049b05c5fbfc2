package webhooks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// A machine sends its description of an endpoint; the state before is that of the tenant's endpoint with its URL.
func TestHandler_put_createsOrReplaces(t *testing.T) {
	const full = `{"url":"https://example.com/hooks","events":["user.*"],"description":"crm","headers":{"X":"y"}}`
	const plain = `{"url":"https://example.com/hooks","events":["user.*"],"description":"crm"}`
	const nameless = `{"url":"https://example.com/hooks","events":["user.*"]}`
	spelt := strings.Replace(plain, "example.com", "EXAMPLE.com:443", 1)
	elsewhere := strings.Replace(plain, "/hooks", "/other", 1)
	type step struct{ method, path, body string }
	put := func(body string) step { return step{"PUT", "", body} }
	remove, disable := step{"DELETE", "/ID", ""}, step{"PATCH", "/ID", `{"status":"disabled"}`}
	for name, test := range map[string]struct {
		before []step
		body   string
		want   string // the answer's status, and state of the endpoint
		writes int    // of endpoints
		lines  int    // of the audit log
	}{
		"a new one":                    {nil, plain, "201 active crm user.* X:[] secret", 1, 1},
		"the same again":               {[]step{put(plain)}, plain, "200 active crm user.* X:[]", 0, 0},
		"the same in another spelling": {[]step{put(plain)}, spelt, "200 active crm user.* X:[]", 0, 0},
		"with headers again":           {[]step{put(full)}, full, "200 active crm user.* X:[X]", 1, 1},
		"without its headers":          {[]step{put(full)}, plain, "200 active crm user.* X:[]", 1, 1},
		"with headers":                 {[]step{put(plain)}, full, "200 active crm user.* X:[X]", 1, 1},
		"without its description":      {[]step{put(plain)}, nameless, "200 active  user.* X:[]", 1, 1},
		"with other events": {
			[]step{put(plain)}, strings.Replace(plain, "user.*", "*", 1), "200 active crm * X:[]", 1, 1,
		},
		"disabled by its owner": {[]step{put(plain), disable}, plain, "200 disabled crm user.* X:[]", 0, 0},
		"disabled, and changed": {[]step{put(plain), disable}, full, "200 disabled crm user.* X:[X]", 1, 1},
		"deleted by its owner":  {[]step{put(plain), remove}, plain, "201 active crm user.* X:[] secret", 1, 1},
		"another URL":           {[]step{put(plain)}, elsewhere, "201 active crm user.* X:[] secret", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, key := newTenant(t)
			var shown management.Endpoint
			for _, s := range test.before {
				a := w.do(key, s.method, "/v1/webhooks"+strings.Replace(s.path, "ID", shown.ID, 1), s.body)
				if a.status == 201 {
					a.decode(t, &shown)
				} else if a.status >= 300 {
					t.Fatalf("%v: %s", s, a.brief())
				}
			}
			w.tried = 0
			w.audited.Reset()
			a := w.do(key, "PUT", "/v1/webhooks", test.body)
			var got management.Endpoint
			a.decode(t, &got)
			line := fmt.Sprintf("%d %s %s %s X:%v", a.status, got.Status, got.Description, got.Events[0], got.HeaderNames)
			if got.SigningSecret != "" {
				line += " secret"
			}
			if line != test.want || w.tried != test.writes || len(w.auditLines()) != test.lines {
				t.Errorf("%s with %d writes and %d audit lines, want %s with %d and %d",
					line, w.tried, len(w.auditLines()), test.want, test.writes, test.lines)
			}
			var read management.Endpoint
			w.do(key, "GET", "/v1/webhooks/"+got.ID, "").decode(t, &read)
			got.SigningSecret = ""
			if diff := cmp.Diff(read, got); diff != "" {
				t.Errorf("(-read +answered):\n%s", diff)
			}
		})
	}
}

func TestHandler_put_refusesAsCreateDoes(t *testing.T) {
	w, key := newTenant(t)
	for body, want := range map[string]string{
		`{}`:                             `422 validation_failed "/url" "/events"`,
		`{"url":"https://example.com/"}`: `422 validation_failed "/events"`,
		`{"url":"http://example.com/","events":["*"]}`:                    `422 validation_failed "/url"`,
		`{"url":"https://example.com/","events":["*"],"status":"active"}`: `400 invalid_body "/status"`,
		`[]`: `400 invalid_body ""`,
	} {
		w.expect(body, want, w.do(key, "PUT", "/v1/webhooks", body))
	}
	for range endpoint.MaxLive {
		w.create(key)
	}
	w.expect("one too many", "409 endpoint_limit", w.do(key, "PUT", "/v1/webhooks", w.fresh()))
	w.expect("one of them", "200", w.do(key, "PUT", "/v1/webhooks", valid))
}

// The URL is looked up again after a change by another request between the look and the write; there is never a second
// endpoint, nor a change of one that has moved on.
func TestHandler_put_looksAgainWhereAnotherRequestWasFirst(t *testing.T) {
	const body = `{"url":"https://example.com/hooks","events":["*"]}`
	for name, test := range map[string]struct {
		other func(w *rig, at dynamo.EndpointKey, e endpoint.Endpoint)
		want  string
		live  int
	}{
		"changed": {func(w *rig, at dynamo.EndpointKey, e endpoint.Endpoint) {
			e.Description, e.Revision = "x", "another"
			w.aws.Endpoints[at.EndpointID] = e
		}, "200", 1},
		"moved away": {func(w *rig, at dynamo.EndpointKey, e endpoint.Endpoint) {
			e.URL, e.Revision = "https://example.com/away", "another"
			w.aws.Endpoints[at.EndpointID] = e
		}, "201", 2},
		"deleted": {func(w *rig, at dynamo.EndpointKey, e endpoint.Endpoint) {
			e.Status, e.Revision = endpoint.Deleted, "another"
			w.aws.Endpoints[at.EndpointID] = e
		}, "201", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, key := newTenant(t)
			e := w.create(key)
			at := dynamo.EndpointKey{TenantID: "acme", EndpointID: e.ID}
			w.raced = func() { test.other(w, at, w.aws.Endpoints[at.EndpointID]) }
			w.expect(name, test.want, w.do(key, "PUT", "/v1/webhooks", body))
			if live := w.live("acme"); live != test.live {
				t.Errorf("%d endpoints, want %d", live, test.live)
			}
		})
	}
}

// A field that the body leaves out gets the default of a new endpoint, whatever value it had before.
func TestHandler_put_givesEveryFieldThatIsLeftOutItsDefault(t *testing.T) {
	for _, field := range named[management.NewEndpoint]() {
		if field == "url" || field == "events" { // required
			continue
		}
		w, key := newTenant(t)
		var fresh, full, again management.Endpoint
		w.do(key, "PUT", "/v1/webhooks", w.fresh()).decode(t, &fresh)
		body := w.fresh()
		w.do(key, "PUT", "/v1/webhooks", strings.Replace(body, "{", `{"`+field+`":`+samples[field]+`,`, 1)).decode(t, &full)
		w.do(key, "PUT", "/v1/webhooks", body).decode(t, &again)
		full.ID, full.URL, full.CreatedAt = fresh.ID, fresh.URL, fresh.CreatedAt
		again.ID, again.URL, again.CreatedAt = fresh.ID, fresh.URL, fresh.CreatedAt
		if !moved(full, fresh) || moved(again, fresh) {
			t.Errorf("%s: %+v with it, %+v without, %+v at first", field, full, again, fresh)
		}
	}
}

// Whoever keeps changing an endpoint that a PUT is about makes the PUT cost a look and a write for each try, and leaves
// one line of it in the audit log: there is a line for each field that it would change, and none is repeated.
//
// Threat of a tenant: fills the audit log by races of `PUT`. Held by: four tries, one line.
func TestHandler_put_leavesOneLineHoweverOftenItIsRaced(t *testing.T) {
	const body = `{"url":"https://example.com/hooks","events":["*"]}`
	describes := func(e *endpoint.Endpoint, n int) { e.Description = fmt.Sprint(n) }
	for name, test := range map[string]struct {
		races  int
		change func(e *endpoint.Endpoint, n int)
		want   string
		reads  int
		lines  int
	}{
		"never":                    {0, nil, "200", 2, 1},
		"once":                     {1, func(*endpoint.Endpoint, int) {}, "200", 3, 1},
		"three times":              {3, func(*endpoint.Endpoint, int) {}, "200", 5, 1},
		"each time":                {9, func(*endpoint.Endpoint, int) {}, "409 conflict", 5, 1},
		"each time, in more of it": {9, describes, "409 conflict", 5, 2},
		"by the same change":       {1, func(e *endpoint.Endpoint, _ int) { e.Events = []string{"*"} }, "200", 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, key := newTenant(t)
			e := w.create(key)
			races := 0
			w.everyRace = func() {
				if races++; races > test.races {
					return
				}
				stored := w.aws.Endpoints[e.ID]
				test.change(&stored, races)
				stored.Revision = fmt.Sprint("another ", races)
				w.aws.Endpoints[e.ID] = stored
			}
			w.reads = 0
			w.audited.Reset()
			w.expect(name, test.want, w.do(key, "PUT", "/v1/webhooks", body))
			if lines := len(w.auditLines()); w.reads != test.reads || lines != test.lines {
				t.Errorf("%d reads and %d lines, want %d and %d", w.reads, lines, test.reads, test.lines)
			}
		})
	}
}
