package webhooks

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/tenants/management"
	"github.com/herald-webhooks/herald/internal/testkit/contract"
)

var statuses = []string{string(endpoint.Active), string(endpoint.Disabled), string(endpoint.Deleted)}

// shapeOf is the shape of a Go type of the API.
func shapeOf[T any]() contract.Shape {
	codes := []string{}
	for _, code := range problem.Codes() {
		codes = append(codes, string(code))
	}
	methods := []string{}
	for _, method := range endpoint.ClientMethods() {
		methods = append(methods, string(method))
	}
	warnings := []string{}
	for _, code := range management.WarningCodes() {
		warnings = append(warnings, string(code))
	}
	listed := contract.Listed{
		reflect.TypeFor[management.WarningCode](): warnings, reflect.TypeFor[endpoint.ClientMethod](): methods,
		reflect.TypeFor[endpoint.Status](): statuses, reflect.TypeFor[problem.Code](): codes,
	}
	return listed.ShapeOf(reflect.TypeFor[T]())
}

// The description agrees with the Go types on all that the API reads and answers: names, types, what may be null or
// left out, and the values that have constants.
func TestTheDescriptionHasTheShapesOfTheTypes(t *testing.T) {
	w := newRig(t)
	created, changed := shapeOf[management.NewEndpoint](), shapeOf[management.EndpointChange]()
	for _, f := range faults(w.handler.readNew([]byte(`{}`))) {
		name := strings.TrimPrefix(*f.Pointer, "/")
		of := created[name]
		of.Required = f.Detail == "is required"
		created[name] = of
	}
	of := changed["status"]
	of.Values = strings.Join(slices.DeleteFunc(slices.Clone(statuses), func(status string) bool {
		return faults(w.handler.readChange(fmt.Appendf(nil, `{"status":%q}`, status))) != nil
	}), " ")
	changed["status"] = of

	shown, list := shapeOf[management.Endpoint](), shapeOf[management.EndpointList]()
	secret := shapeOf[management.Endpoint]()
	delete(shown, "signing_secret")
	delete(list, "data[].signing_secret")
	secret["signing_secret"] = contract.Place{Types: "string", Required: true}
	for _, place := range []string{"headers_dropped", "headers_dropped[]", "oauth2_dropped"} {
		delete(secret, place)
	}

	for schema, got := range map[string]contract.Shape{
		"NewEndpoint": created, "EndpointChange": changed,
		"Rotation": shapeOf[management.Rotation](), "Test": shapeOf[management.Test](),
		"Endpoint": shown, "EndpointWithSecret": secret, "EndpointList": list,
		"EventTypes": shapeOf[management.EventTypes](), "EventType": shapeOf[management.EventType](),
		"NewOAuth2": shapeOf[*management.NewOAuth2](), "OAuth2": shapeOf[management.OAuth2](),
		"Warning":  shapeOf[management.Warning](),
		"TestSent": shapeOf[management.TestSent](), "KeySet": shapeOf[management.KeySet](),
		"SourceAddresses": shapeOf[management.SourceAddresses](), "Problem": shapeOf[problem.Document](),
	} {
		want := w.contract.Shape(schema)
		for at, place := range want {
			if got[at].Values == "" { // of a text that has no constants
				place.Values = ""
				want[at] = place
			}
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-code +openapi.yaml):\n%s", schema, diff)
		}
	}
}

// faults are the fields at fault of a body.
func faults(_ fields, err error) []problem.Field {
	refused, _ := errors.AsType[*problem.Error](err)
	if refused == nil {
		return nil
	}
	return refused.Fields
}

// A member takes the types that its Go type says, and refuses every other.
func TestHandler_check_takesTheTypesOfTheMembers(t *testing.T) {
	w := newRig(t)
	values := map[string]string{
		"string": `"active"`, "integer": `1`, "array": `["*"]`, "object": `{}`, "null": `null`, "boolean": `true`,
	}
	for name, place := range shapeOf[management.EndpointChange]() {
		if name == "" || strings.ContainsAny(name, ".[") {
			continue
		}
		var taken []string
		for _, kind := range slices.Sorted(maps.Keys(values)) {
			_, err := w.handler.readChange(fmt.Appendf(nil, `{%q:%s}`, name, values[kind]))
			if refused, _ := errors.AsType[*problem.Error](err); refused == nil || refused.Code != problem.CodeInvalidBody {
				taken = append(taken, kind)
			}
		}
		if got := strings.Join(taken, " or "); got != place.Types {
			t.Errorf("%s takes %s, want %s", name, got, place.Types)
		}
	}
}
