package movein

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/cataloguefile"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// A catalogue that Types has written is read without a fault, whatever its texts hold.
func TestTypes_areReadAsACatalogue(t *testing.T) {
	const svix = `{"data":[{"name":"invoice.paid","description":"Paid: \"in full\"\u0085 # no comment\ud83d\ude00",
		"archived":false,"schemas":{"2":{"type":"object","required":["invoiceId","at"],
		"definitions":{"id":{"type":"string","pattern":"^inv_"}},
		"properties":{"invoiceId":{"$ref":"#/definitions/id"},"at":{"type":"string","format":"date-time"},
		"\u2028 key: \u0007":{"type":"number","minimum":0.01}}}}},{"name":"invoice.void"}],"done":true}`
	const outpost = `["order.shipped","inventory.updated","1.5"]`
	text, report, err := Types([]byte(svix + outpost))
	if err != nil || report.Taken != 5 {
		t.Fatalf("%+v, %v", report, err)
	}
	all, err := cataloguefile.Read("own.yaml", text)
	want := []catalogue.Type{
		{
			Name: "invoice.paid", Description: `Paid: "in full" # no comment😀`,
			Schema: `{"type":"object","required":["invoiceId","at"],` +
				`"properties":{"invoiceId":{"type":"string","pattern":"^inv_"},` +
				`"at":{"type":"string","format":"date-time"},"` + "\u2028" + ` key: \u0007":{"type":"number","minimum":0.01}}}`,
			Example: `{"invoiceId":"inv_","at":"2026-01-02T15:04:05Z","` + "\u2028" + ` key: \u0007":0.01}`,
		},
		{Name: "invoice.void", Description: "invoice.void", Schema: `{"type":"object"}`, Example: `{}`},
		{Name: "order.shipped", Description: "order.shipped", Schema: `{"type":"object"}`, Example: `{}`},
		{Name: "inventory.updated", Description: "inventory.updated", Schema: `{"type":"object"}`, Example: `{}`},
		{Name: "1.5", Description: "1.5", Schema: `{"type":"object"}`, Example: `{}`},
	}
	if diff := cmp.Diff(want, all.Own); diff != "" || err != nil {
		t.Errorf("types (-want +got):\n%s%v\n%s", diff, err, text)
	}
}

// The lists of identity products become catalogues, with types below the specification's objects and shapes of their
// own.
func TestTypes_ofIdentityProductsAreReadAsACatalogue(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, report, err := Types(content)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := cataloguefile.Read("own.yaml", text); err != nil || len(all.Own) != len(report.Objects) {
			t.Errorf("%s: %d of %d types: %v", file, len(all.Own), len(report.Objects), err)
		}
	}
}
