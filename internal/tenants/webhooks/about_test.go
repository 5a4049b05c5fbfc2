package webhooks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// saying is a valid body with further members.
func saying(members string) string { return strings.TrimSuffix(valid, "}") + "," + members + "}" }

// Each of the requests that take what an owner says reads it alike.
func TestHandler_readAbout_refusesWhatIsNoPlainText(t *testing.T) {
	many := func(n int) string {
		var pairs []string
		for i := range n {
			pairs = append(pairs, fmt.Sprintf(`"k%02d":"v"`, i))
		}
		return "{" + strings.Join(pairs, ",") + "}"
	}
	long := strings.Repeat("v", 2047)
	for member, want := range map[string]string{
		`"contact":"ann@example.com"`: "", `"contact":"team/7 <b>"`: "", `"contact":""`: "", `"metadata":{}`: "",
		`"contact":"` + strings.Repeat("ä", 256) + `"`: "",
		`"metadata":` + many(20):                       "", `"metadata":{"k":"` + long + `"}`: "",
		`"contact":"` + strings.Repeat("ä", 257) + `"`: `422 validation_failed "/contact"`,
		`"contact":"a\r\nBcc: b@example.com"`:          `422 validation_failed "/contact"`,
		`"contact":"\u202emoc"`:                        `422 validation_failed "/contact"`,
		`"contact":7`:                                  `400 invalid_body "/contact"`,
		`"contact":null`:                               `400 invalid_body "/contact"`,
		`"metadata":null`:                              `400 invalid_body "/metadata"`,
		`"metadata":["k"]`:                             `400 invalid_body "/metadata"`,
		`"metadata":{"k":7}`:                           `400 invalid_body "/metadata/k"`,
		`"metadata":{"k":{"l":"m"}}`:                   `400 invalid_body "/metadata/k"`,
		`"metadata":{"":"v"}`:                          `422 validation_failed "/metadata/"`,
		`"metadata":{"k":"\u001b[2J"}`:                 `422 validation_failed "/metadata/k"`,
		`"metadata":{"k":"a","k":"b"}`:                 `400 invalid_json "/metadata/k"`,
		`"metadata":` + many(21):                       `422 validation_failed "/metadata"`,
		`"metadata":{"kk":"` + long + `"}`:             `422 validation_failed "/metadata"`,
	} {
		for _, method := range []string{"POST", "PUT", "PATCH"} {
			w, key := newTenant(t)
			target := "/v1/webhooks"
			if method == "PATCH" {
				target += "/" + w.create(key).ID
			}
			a := w.do(key, method, target, saying(member))
			if want != "" {
				w.expect(method+" "+shortened(member), want, a)
			} else if a.status >= 300 {
				t.Errorf("%s %.60s: %d %s", method, member, a.status, a.body)
			}
		}
	}
}

// What an owner says stays through every change of something else, a deletion and a restoration too, and each answer
// about the endpoint has it.
func TestHandler_about_isInEveryAnswerUntilItIsChanged(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	path := "/v1/webhooks/" + e.ID
	for _, step := range []struct{ method, target, body, want string }{
		{"GET", path, "", " map[]"},
		{"PATCH", path, `{"contact":"ann"}`, "ann map[]"},
		{"PATCH", path, `{"metadata":{"a":"1","b":"2"}}`, "ann map[a:1 b:2]"},
		{"PATCH", path, `{"metadata":{"c":"3"}}`, "ann map[c:3]"}, // replaced as a whole
		{"PATCH", path, `{"rate_limit":30}`, "ann map[c:3]"},
		{"POST", path + "/rotate-secret", "", "ann map[c:3]"},
		{"PATCH", path, `{"url":"https://example.com/elsewhere"}`, "ann map[c:3]"},
		{"DELETE", path, "", ""},
		{"GET", path, "", "ann map[c:3]"},
		{"POST", path + "/restore", "", "ann map[c:3]"},
		{"PATCH", path, `{"url":"https://example.com/hooks","contact":""}`, " map[c:3]"},
		{"PUT", "/v1/webhooks", saying(`"contact":"bob"`), "bob map[]"},
		{"PUT", "/v1/webhooks", valid, " map[]"},
	} {
		a := w.do(key, step.method, step.target, step.body)
		if a.status >= 300 {
			t.Fatalf("%s %s %s: %d %s", step.method, step.target, step.body, a.status, a.body)
		}
		if step.want == "" {
			continue
		}
		var shown management.Endpoint
		a.decode(t, &shown)
		var list management.EndpointList
		for _, status := range []string{"", "?status=deleted"} {
			var some management.EndpointList
			w.do(key, "GET", "/v1/webhooks"+status, "").decode(t, &some)
			list.Data = append(list.Data, some.Data...)
		}
		for _, e := range append(list.Data, shown) {
			if got := fmt.Sprint(e.Contact, " ", map[string]string(e.Metadata)); got != step.want {
				t.Errorf("%s %s %s: %s, want %s", step.method, step.target, step.body, got, step.want)
			}
		}
	}
}

// A version without contacts drops the mark of the row from each endpoint that it writes, and nothing of what the owner
// says.
func TestHandler_about_isFoundAgainAfterARollback(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	path := "/v1/webhooks/" + e.ID
	w.do(key, "PATCH", path, `{"contact":"ann","metadata":{"a":"1"}}`)
	stored := w.aws.Endpoints[e.ID]
	stored.AboutRow, stored.Revision = endpoint.AboutUnknown, "of the version before"
	w.aws.Endpoints[e.ID] = stored
	for _, step := range []struct{ method, body string }{{"GET", ""}, {"PATCH", `{"rate_limit":7}`}, {"GET", ""}} {
		var shown management.Endpoint
		w.do(key, step.method, path, step.body).decode(t, &shown)
		if shown.Contact != "ann" || shown.Metadata["a"] != "1" {
			t.Errorf("%s %s shows %+v", step.method, step.body, shown)
		}
	}
	if now := w.aws.Endpoints[e.ID].AboutRow; now != endpoint.AboutKept {
		t.Errorf("marked %q", now)
	}
}

// An endpoint of which nothing is said costs no request more.
func TestHandler_about_isNotAskedForWhereNothingIsSaid(t *testing.T) {
	w, key := newTenant(t)
	silent, said := w.create(key), w.create(key)
	w.do(key, "PATCH", "/v1/webhooks/"+said.ID, `{"contact":"ann"}`)
	reads := func(method, target, body string) int {
		before := w.reads
		if a := w.do(key, method, target, body); a.status >= 300 {
			t.Fatalf("%s %s: %d %s", method, target, a.status, a.body)
		}
		return w.reads - before
	}
	for request, body := range map[string]string{"GET ": "", "PATCH ": `{"rate_limit":3}`, "DELETE ": "", "GET": ""} {
		method := strings.TrimSpace(request)
		without, with := reads(method, "/v1/webhooks/"+silent.ID, body), reads(method, "/v1/webhooks/"+said.ID, body)
		if with != without+1 {
			t.Errorf("%s reads %d times, and %d where something is said", method, without, with)
		}
		if method == "DELETE" {
			w.do(key, "POST", "/v1/webhooks/"+silent.ID+"/restore", "")
			w.do(key, "POST", "/v1/webhooks/"+said.ID+"/restore", "")
		}
	}
	both := reads("GET", "/v1/webhooks", "")
	w.do(key, "PATCH", "/v1/webhooks/"+said.ID, `{"contact":""}`)
	if none := reads("GET", "/v1/webhooks", ""); both != none+1 {
		t.Errorf("a list reads %d times, and %d where something is said", none, both)
	}
}

// A contact is personal data: neither log has it, and no refusal quotes one.
func TestHandler_about_isInNoLog(t *testing.T) {
	w, key := newTenant(t)
	const secret = "hush-ann@example.com"
	made := w.do(key, "POST", "/v1/webhooks", saying(`"contact":"`+secret+`","metadata":{"hush-name":"hush-value"}`))
	var e management.Endpoint
	made.decode(t, &e)
	path := "/v1/webhooks/" + e.ID
	refused := []answer{
		w.do(key, "PATCH", path, `{"contact":"`+secret+`\u0000"}`),
		w.do(key, "PATCH", path, `{"metadata":{"k":"hush-value\u0000"}}`),
	}
	w.do(key, "PUT", "/v1/webhooks", saying(`"contact":"`+secret+`2"`))
	w.do(key, "DELETE", path, "")
	w.do(key, "POST", path+"/restore", "")
	w.move(false, `{"tenant_id":"globex","secret":"whsec_`+strings.Repeat("A", 43)+`=","contact":"`+secret+`",`+valid[1:])
	if logs := w.log.String() + w.audited.String(); strings.Contains(logs, "hush") {
		t.Errorf("logged: %s", logs)
	}
	for _, a := range refused {
		if a.status != 422 || strings.Contains(string(a.body), "hush") {
			t.Errorf("refused: %d %s", a.status, a.body)
		}
	}
	var changes []any
	for _, line := range w.auditLines() {
		if line["action"] == "update" {
			changes = append(changes, line["changed"])
		}
	}
	if diff := cmp.Diff([]any{[]any{"contact", "metadata"}}, changes); diff != "" {
		t.Errorf("audited (-want +got):\n%s", diff)
	}
}

// Another tenant cannot read or set what an owner says.
//
// Threat of a tenant: sees another's contact, or finds one in a log. Held by: it is read with its endpoint alone;
// lines say that it changed.
func TestHandler_about_isItsTenantsAlone(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	other := w.issue("globex", "webhooks:read", "webhooks:write")
	path := "/v1/webhooks/" + e.ID
	w.expect("read", "404 endpoint_not_found", w.do(other, "GET", path, ""))
	w.expect("set", "404 endpoint_not_found", w.do(other, "PATCH", path, `{"contact":"x"}`))
	if said := w.aws.Endpoints[e.ID].About; !said.Empty() {
		t.Errorf("said: %+v", said)
	}
}
