package webhooks

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// withGone is a rig whose endpoint selects a type that the catalogue has since lost, as after a rollback to a version
// without it.
func withGone(t *testing.T) (w *rig, key string, e management.Endpoint) {
	t.Helper()
	return withoutName(t, "user.signed_in")
}

func withoutName(t *testing.T, gone string) (w *rig, key string, e management.Endpoint) {
	t.Helper()
	w, key = newTenant(t)
	e = w.create(key)
	w.gone = gone
	stored := w.aws.Endpoints[e.ID]
	stored.Events = []string{"user.created", w.gone}
	w.aws.Endpoints[e.ID] = stored
	return w, key, e
}

// A program may send back the list that it has read, even if the catalogue has since lost one of its names. The stored
// list stays as it was.
//
// Threat of a tenant: learns of others' types by warnings. Held by: a warning is about names that the endpoint has.
func TestHandler_keepsAndWarnsOfANameThatTheCatalogueHasLost(t *testing.T) {
	for name, send := range map[string]func(w *rig, key string, shown management.Endpoint) answer{
		"a PATCH of the list": func(w *rig, key string, shown management.Endpoint) answer {
			return w.do(key, "PATCH", "/v1/webhooks/"+shown.ID, written(w, map[string]any{"events": shown.Events}))
		},
		"a PATCH of something else": func(w *rig, key string, shown management.Endpoint) answer {
			return w.do(key, "PATCH", "/v1/webhooks/"+shown.ID, `{"description":"crm"}`)
		},
		"a PUT": func(w *rig, key string, shown management.Endpoint) answer {
			return w.do(key, "PUT", "/v1/webhooks", written(w, map[string]any{"url": shown.URL, "events": shown.Events}))
		},
		"an import": func(w *rig, key string, shown management.Endpoint) answer {
			line := written(w, map[string]any{
				"tenant_id": "acme", "url": shown.URL, "events": shown.Events, "secret": oldKey,
			})
			if got := results(w.move(false, line)); !slices.Equal(got, []api.Result{api.ResultExists}) {
				t.Errorf("the import says %q", got)
			}
			return w.do(key, "PATCH", "/v1/webhooks/"+shown.ID, `{}`)
		},
		"a restore": func(w *rig, key string, shown management.Endpoint) answer {
			w.expect("delete", "204", w.do(key, "DELETE", "/v1/webhooks/"+shown.ID, ""))
			return w.do(key, "POST", "/v1/webhooks/"+shown.ID+"/restore", "")
		},
	} {
		for _, gone := range []string{"user.signed_in", "organizationInvitation.*"} {
			t.Run(name+" with "+gone, func(t *testing.T) {
				w, key, e := withoutName(t, gone)
				keeps(t, w, e.ID, key, func(shown management.Endpoint) answer { return send(w, key, shown) })
			})
		}
	}
}

// keeps sends something, and sees that the endpoint keeps the name that is gone. What it was sent before such a name
// went, it still asks for: deliveries under way finish, and dead letters can be replayed.
func keeps(t *testing.T, w *rig, id, key string, send func(shown management.Endpoint) answer) {
	t.Helper()
	var shown, changed, again management.Endpoint
	read := w.do(key, "GET", "/v1/webhooks/"+id, "")
	read.decode(t, &shown)
	if strings.Contains(string(read.body), "warnings") {
		t.Errorf("a read warns: %s", read.body)
	}
	a := send(shown)
	w.expect("the change", "200", a)
	a.decode(t, &changed)
	warning := []management.Warning{{
		Code: management.WarningUnknown, Pointer: "/events/1",
		Detail: w.gone + " is not implemented any more. It is kept, and selects nothing",
	}}
	if diff := cmp.Diff(warning, changed.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	w.do(key, "GET", "/v1/webhooks/"+id, "").decode(t, &again)
	want := []string{"user.created", w.gone}
	if !slices.Equal(shown.Events, want) || !slices.Equal(again.Events, want) {
		t.Errorf("%q before, %q after, want %q", shown.Events, again.Events, want)
	}
	stored := w.aws.Endpoints[id]
	accepted := strings.Replace(w.gone, "*", "created", 1)
	if !stored.Wants("user.created") || stored.Wants(accepted) || stored.Unsubscribed(accepted) {
		t.Errorf("the endpoint lost its other type, gets new events of %s, or is not sent those accepted", w.gone)
	}
}

func written(w *rig, value map[string]any) string {
	w.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// An endpoint keeps a name that the catalogue has lost. No other endpoint can select it, and nor can this one after a
// change that left it out.
func TestHandler_refusesUnknownNamesThatTheEndpointDoesNotHave(t *testing.T) {
	w, key, e := withGone(t)
	other := w.create(key)
	const one, two = `"events":["user.signed_in"]`, `"events":["user.signed_in","user.invented"]`
	for _, c := range []struct{ method, target, body, want string }{
		{"POST", "", `{"url":"https://example.com/new",` + one + `}`, `422 validation_failed "/events/0"`},
		{"PUT", "", `{"url":"https://example.com/new",` + one + `}`, `422 validation_failed "/events/0"`},
		{"PUT", "", `{"url":"` + other.URL + `",` + one + `}`, `422 validation_failed "/events/0"`},
		{"PUT", "", `{"url":"` + e.URL + `",` + two + `}`, `422 validation_failed "/events/1"`},
		{"PUT", "", `{` + one + `}`, `422 validation_failed "/url" "/events/0"`},
		{"PATCH", "/" + other.ID, `{` + one + `}`, `422 validation_failed "/events/0"`},
		{"PATCH", "/" + e.ID, `{` + two + `}`, `422 validation_failed "/events/1"`},
		{"PATCH", "/webhook_01JB3ZKX9M4W0S5V7N2Q8R6TYA", `{` + one + `}`, `404 endpoint_not_found`},
		{"PATCH", "/" + e.ID, `{"events":["*"]}`, `200`},
		{"PATCH", "/" + e.ID, `{` + one + `}`, `422 validation_failed "/events/0"`},
	} {
		w.expect(c.method+" "+c.body, c.want, w.do(key, c.method, "/v1/webhooks"+c.target, c.body))
	}
	w.expect("deleted", "204", w.do(key, "DELETE", "/v1/webhooks/"+other.ID, ""))
	w.expect("deleted", `422 validation_failed "/events/0"`, w.do(key, "PATCH", "/v1/webhooks/"+other.ID, `{`+one+`}`))
}

func TestHandler_failsWhereTheEndpointWithAnUnknownNameCannotBeRead(t *testing.T) {
	w, key, e := withGone(t)
	w.readDown = true
	list := map[string]any{"url": e.URL, "events": []string{w.gone}}
	w.expect("PUT", "503 unavailable", w.do(key, "PUT", "/v1/webhooks", written(w, list)))
	w.expect("PATCH", "503 unavailable", w.do(key, "PATCH", "/v1/webhooks/"+e.ID, written(w, list)))
	got := w.move(false, `{"tenant_id":"acme","url":"`+e.URL+`","events":["user.signed_in"],"secret":"`+oldKey+`"}`)[0]
	if got.Result != api.ResultFailed || got.TenantID != "acme" || got.Host != "example.com" {
		t.Errorf("import: %+v", got)
	}
}

// An import that is made again finds its endpoints, even if the catalogue has since lost one of their types. A new
// endpoint cannot have that type.
func TestHandler_import_findsEndpointsWithATypeThatTheCatalogueHasLost(t *testing.T) {
	w, _, e := withGone(t)
	line := `{"tenant_id":"acme","url":"` + e.URL + `","secret":"` + oldKey +
		`","events":["user.created","user.signed_in"]}`
	elsewhere := strings.Replace(line, e.URL, "https://example.com/new", 1)
	nobody := strings.Replace(line, "acme", "a b", 1)
	for _, dryRun := range []bool{true, false} {
		got := w.move(dryRun, line, elsewhere, nobody)
		want := []api.Result{api.ResultExists, api.ResultRefused, api.ResultRefused}
		if !slices.Equal(results(got), want) || got[0].EndpointID != e.ID || got[1].Errors[0].Field != "events/1" {
			t.Errorf("dry run %t: %+v", dryRun, got)
		}
	}
	if got := w.aws.Endpoints[e.ID].Events; !slices.Equal(got, []string{"user.created", w.gone}) {
		t.Errorf("the endpoint has %q", got)
	}
}

// The marks are absent from a type that has none, as in the answers before there were any.
func TestTypeOf_showsWhatIsDeprecated(t *testing.T) {
	for mark, want := range map[*catalogue.Type]string{
		{}:                 `{"name":"user.old","description":"","schema":{},"example":{}}`,
		{Deprecated: true}: `{"name":"user.old","description":"","schema":{},"example":{},"deprecated":true}`,
		{Deprecated: true, ReplacedBy: "user.new"}: `{"name":"user.old","description":"","schema":{},"example":{},` +
			`"deprecated":true,"replaced_by":"user.new"}`,
	} {
		mark.Name, mark.Schema, mark.Example = "user.old", "{}", "{}"
		got, err := json.Marshal(typeOf(*mark))
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func TestWarnings_areAboutNamesOfTheList(t *testing.T) {
	types := map[string]catalogue.Type{
		"user.created": {}, "user_v2.created": {},
		"user.old":    {Deprecated: true, ReplacedBy: "user_v2.created"},
		"user.oldest": {Deprecated: true},
	}
	find := func(name string) (catalogue.Type, bool) { t, found := types[name]; return t, found }
	got := warnings([]string{"*", "user.created", "user.old", "user.oldest", "user.gone", "account.*"}, find)
	want := []management.Warning{
		{
			Code: management.WarningDeprecated, Pointer: "/events/2",
			Detail: "user.old is deprecated. Use user_v2.created in its place",
		},
		{Code: management.WarningDeprecated, Pointer: "/events/3", Detail: "user.oldest is deprecated"},
		{
			Code: management.WarningUnknown, Pointer: "/events/4",
			Detail: "user.gone is not implemented any more. It is kept, and selects nothing",
		},
		{
			Code: management.WarningUnknown, Pointer: "/events/5",
			Detail: "account.* is not implemented any more. It is kept, and selects nothing",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
