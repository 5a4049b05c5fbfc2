package inspect

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// A field that inspect shows, and does not read, would look to operators as if no owner had set it. The model reads
// whole endpoints, so one is stored here with no other fields than those that are read.
func TestHandler_endpoint_readsEveryFieldThatItShows(t *testing.T) {
	whole := endpoint.Endpoint{
		ID: "webhook_1", TenantID: "acme", URL: "https://example.com/", Events: []string{"*"}, Status: endpoint.Disabled,
	}
	isRead := strings.Split(strings.ReplaceAll(string(dynamo.Shown), "#", ""), ", ")
	part := whole
	for _, field := range reflect.VisibleFields(reflect.TypeFor[endpoint.Endpoint]()) {
		to := reflect.ValueOf(&whole).Elem().FieldByIndex(field.Index)
		name, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		if name == "-" {
			continue // it has another row
		}
		if name == "about" {
			continue // it tells whether to read that row
		}
		if to.IsZero() {
			fill(t, field.Name, to)
		}
		if slices.Contains(isRead, name) {
			reflect.ValueOf(&part).Elem().FieldByIndex(field.Index).Set(to)
		}
	}
	var shown [2]api.Endpoint
	for n, e := range []endpoint.Endpoint{whole, part} {
		inAccount(t, func(a *account) {
			a.putEndpoints(e)
			shown[n] = read[api.Endpoint](a, "endpoint", `"endpoint_id":"webhook_1","tenant_id":"acme"`)
		})
	}
	if diff := cmp.Diff(shown[0], shown[1]); diff != "" {
		t.Errorf("shown of an endpoint (-all of it +what is read):\n%s", diff)
	}
}

// fill gives a field a value.
func fill(t *testing.T, name string, field reflect.Value) {
	t.Helper()
	oauth := &endpoint.OAuth{TokenURL: "https://id.example/token", ClientID: "x", Method: endpoint.ClientSecretPost}
	for _, value := range []any{"x", 7, []byte("x"), []string{"x"}, at.Add(time.Hour), oauth} {
		if v := reflect.ValueOf(value); v.Type().AssignableTo(field.Type()) {
			field.Set(v)
			return
		}
	}
	t.Errorf("%s has no value here: add one", name)
}
