package webhooks

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// samples are a change of each field that a request takes. A field without one fails the tests below.
var samples = map[string]string{
	"url": `"https://example.com/other"`, "events": `["*"]`, "description": `"other"`, "headers": `{"X-Other":"y"}`,
	"status": `"disabled"`, "rate_limit": `10`, "contact": `"ann@example.com"`,
	"metadata": `{"crm":"7"}`, "oauth2": `{"token_url":"https://id.example/token","client_id":"a","client_secret":"b"}`,
}

// named are the JSON names of a struct's fields, embedded ones included.
func named[T any]() (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Each field of a request is stored, shown and audited: by a change, and by a create where that takes it.
func TestHandler_change_ofEveryFieldIsStoredShownAndAudited(t *testing.T) {
	for _, field := range named[management.EndpointChange]() {
		body := fmt.Sprintf(`{%q:%s}`, field, samples[field])
		w, key := newTenant(t)
		e := w.create(key)
		at := dynamo.EndpointKey{TenantID: "acme", EndpointID: e.ID}
		before := w.aws.Endpoints[at.EndpointID]
		w.audited.Reset()
		var shown management.Endpoint
		a := w.do(key, "PATCH", "/v1/webhooks/"+e.ID, body)
		if w.expect(field, "200", a); a.status != 200 {
			continue
		}
		a.decode(t, &shown)
		after := w.aws.Endpoints[at.EndpointID]
		if stored := w.handler.viewOf(after, start); !reflect.DeepEqual(stored, shown) {
			t.Errorf("%s: shown (-stored +shown):\n%s", field, cmp.Diff(stored, shown))
		}
		after.UpdatedAt, after.Revision = before.UpdatedAt, before.Revision
		if cmp.Equal(before, after) || !moved(shown, e) {
			t.Errorf("%s: nothing is stored, or the change cannot be seen: %+v", field, shown)
		}
		lines := w.auditLines()
		if len(lines) != 1 || !reflect.DeepEqual(lines[0]["changed"], []any{field}) ||
			reflect.DeepEqual(lines[0]["before"], lines[0]["after"]) {
			t.Errorf("%s: audited as %v", field, lines)
		}
	}
}

// moved reports whether anything but its time tells the endpoint from its state before.
func moved(v, was management.Endpoint) bool {
	v.UpdatedAt, v.SigningSecret = was.UpdatedAt, was.SigningSecret
	return !reflect.DeepEqual(v, was)
}

// A field that Herald itself keeps has no name in an audit line, since another one has it: its reason.
var kept = map[string]string{
	"ID": "in every line", "TenantID": "in every line", "CreatedAt": "the line's time", "UpdatedAt": "the line's time",
	"DeletedAt": "status", "SecretRotatedAt": "secret", "SealedSecret": "secret", "SealedHeaders": "headers",
	"SealedPrevious": "previous_secret", "PublicKey": "secret", "PreviousKey": "previous_secret",
	"Site": "url", "SitedAt": "url or status",
	"OAuth": "oauth2", "SealedOAuth": "oauth2",
	"AboutRow":    "contact and metadata",
	"HeaderNames": "headers", "Revision": "of the store", "Marks": "in another row, with lines of control",
}

func TestChanged_knowsEveryFieldOfAnEndpoint(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[endpoint.Endpoint]()) {
		var was, now endpoint.Endpoint
		fill(t, reflect.ValueOf(&now).Elem().FieldByIndex(field.Index))
		names := changed(&was, &now)
		if _, exempt := kept[field.Name]; exempt == (len(names) > 0) {
			t.Errorf("a change of %s is named %q", field.Name, names)
		}
	}
}

// fill gives a value of any type that endpoints have another value than none.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(start))
		return
	case endpoint.Marks:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("other")
	case reflect.Int:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Struct: // of fields with an audit line each
		for _, field := range v.Fields() {
			fill(t, field)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"other": ""}))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Uint8:
		v.SetUint(7)
	default:
		t.Fatalf("no value for a %s: add one here", v.Type())
	}
}
