package docs_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/herald-webhooks/herald/internal/edges/notice"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func noticeSchema(t *testing.T) *openapi3.Schema {
	t.Helper()
	var schema openapi3.Schema
	if err := json.Unmarshal([]byte(readFile(t, "infra/notice.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	return &schema
}

func TestTheSchemaOfNoticesDescribesEveryKind(t *testing.T) {
	schema, at := noticeSchema(t), time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	e := endpoint.Endpoint{ID: "webhook_1", TenantID: "acme", URL: "https://example.com/secret?token=x"}
	kinds := map[any]bool{}
	for _, kind := range schema.Properties["kind"].Value.Enum {
		kinds[kind] = true
	}
	for _, i := range []circuit.Item{
		{Outage: circuit.Spell{At: at, Reason: "http_5xx", Status: 503, EndedAt: at}},
		{Pause: circuit.Spell{At: at, EndedAt: at}},
		{Death: circuit.Spell{At: at, Reason: "timeout"}},
	} {
		for _, n := range i.Owed() {
			text, err := json.Marshal(notice.Of(e, n))
			if err != nil {
				t.Fatal(err)
			}
			var detail map[string]any
			if err := json.Unmarshal(text, &detail); err != nil {
				t.Fatal(err)
			}
			if err := schema.VisitJSON(detail); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			for name := range detail {
				if schema.Properties[name] == nil {
					t.Errorf("%s: %s is not described", text, name)
				}
			}
			delete(kinds, string(n.Kind))
		}
	}
	if len(kinds) > 0 {
		t.Errorf("no notice has the kinds %v", kinds)
	}
}
