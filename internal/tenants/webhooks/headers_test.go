package webhooks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

func withHeaders(headers string) string {
	return `{"url":"https://a.example","events":["*"],"headers":` + headers + `}`
}

func TestHandler_readHeaders_namesEveryPlaceAtFault(t *testing.T) {
	w, key := newTenant(t)
	many := `{"x0":"y"`
	for n := range endpoint.MaxHeaders {
		many += fmt.Sprintf(`,"x%d":"y"`, n+1)
	}
	half := strings.Repeat("v", endpoint.MaxHeaderBytes/2-1)
	for headers, want := range map[string]string{
		`[]`:                      `400 invalid_body "/headers"`,
		`"x: y"`:                  `400 invalid_body "/headers"`,
		`{"X":null}`:              `400 invalid_body "/headers/X"`,
		`{"X":["y"]}`:             `400 invalid_body "/headers/X"`,
		`{"X":"y","X":"z"}`:       `400 invalid_json "/headers/X"`,
		`{"X":"y","x":"z"}`:       `422 validation_failed "/headers/x"`,
		`{"X-Y":"y","x_y":"z"}`:   `422 validation_failed "/headers/x_y"`,
		`{"X.Y":"y","X-y":"z"}`:   `422 validation_failed "/headers/X-y"`,
		`{"Wh_Id":"y"}`:           `422 validation_failed "/headers/Wh_Id"`,
		`{"X":"y\r\nWh-Id: z"}`:   `422 validation_failed "/headers/X"`,
		`{"X":"é","Host":"b"}`:    `422 validation_failed "/headers/X" "/headers/Host"`,
		`{"wh-id":"","a/b~":"c"}`: `422 validation_failed "/headers/wh-id" "/headers/wh-id" "/headers/a~1b~0"`,
		many + `}`:                `422 validation_failed "/headers"`,
		`{"a":"` + half + `","b":"` + half + `z"}`: `422 validation_failed "/headers"`,
		`{"a":"` + half + `","b":"` + half + `"}`:  `201`,
	} {
		w.expect(headers, want, w.do(key, "POST", "/v1/webhooks", withHeaders(headers)))
	}
}

// A body with such headers is refused before they are read.
func TestReadHeaders_endsAtBrokenJSON(t *testing.T) {
	for _, headers := range []string{`{"X":"y","X":"z"}`, `{"X":`} {
		var r reader
		if readHeaders(management.Member[*management.Headers]{Value: jsontext.Value(headers)}, &r); len(r.types) != 1 {
			t.Errorf("%s has the faults %v", headers, r.types)
		}
	}
}

// Headers are set with an endpoint or later, replaced as a whole and removed, and each time sealed under a version
// of their own: a process of deliver does not use again a value that it has opened before.
func TestHandler_Serve_leadsHeadersThroughTheirLife(t *testing.T) {
	w, key := newTenant(t)
	var e management.Endpoint
	w.do(key, "POST", "/v1/webhooks", withHeaders(`{"Authorization":"Bearer s3cret","X-Tenant":"1"}`)).decode(t, &e)
	type stored struct {
		Names   []string
		Version int
		Sealed  string
	}
	look := func() stored {
		e := w.aws.Endpoints[e.ID]
		return stored{e.HeaderNames, e.HeadersVersion, w.opened(e)}
	}
	want := stored{[]string{"Authorization", "X-Tenant"}, 1, "Authorization:Bearer s3cret\nX-Tenant:1\n"}
	if diff := cmp.Diff(want, look()); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	for _, step := range []struct {
		patch string
		want  stored
	}{
		{`{"description":"d"}`, want},
		{`{"headers":{"Cookie":"a=b"}}`, stored{[]string{"Cookie"}, 2, "Cookie:a=b\n"}},
		{`{"headers":null}`, stored{nil, 3, ""}},
		{`{"headers":{}}`, stored{nil, 3, ""}},
		{`{"headers":{"X":"y"}}`, stored{[]string{"X"}, 4, "X:y\n"}},
	} {
		a := w.do(key, "PATCH", "/v1/webhooks/"+e.ID, step.patch)
		var now management.Endpoint
		a.decode(t, &now)
		if diff := cmp.Diff(step.want, look()); a.status != 200 || diff != "" {
			t.Errorf("%s: %d (-want +got):\n%s", step.patch, a.status, diff)
		}
		if diff := cmp.Diff(step.want.Names, now.HeaderNames); diff != "" {
			t.Errorf("%s shows (-want +got):\n%s", step.patch, diff)
		}
	}
	for _, secret := range []string{"s3cret", "a=b"} {
		if strings.Contains(w.log.String()+w.audited.String(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
	if !strings.Contains(w.audited.String(), `"changed":["headers"]`) {
		t.Errorf("no change of headers is audited: %s", &w.audited)
	}
}
