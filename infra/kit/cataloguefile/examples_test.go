package cataloguefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// example reads a catalogue of infra/examples.
func example(t *testing.T, name string) Tables {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples", name))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Read(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRead_replacesReferences(t *testing.T) {
	all := example(t, "catalogue.yaml")
	want := []catalogue.Type{
		{
			Name: "order.shipped", Description: "An order left the warehouse",
			Schema: `{"type":"object","required":["orderId","items"],"properties":{"orderId":{"type":"string",` +
				`"pattern":"^ord_"},"carrier":{"type":"string"},"items":{"type":"array","minItems":1,"items":{"type":"object",` +
				`"required":["sku","quantity"],"properties":{"sku":{"type":"string"},"quantity":{"type":"integer",` +
				`"minimum":1}}}}}}`,
			Example: `{"orderId":"ord_7F2K","items":[{"sku":"mug-blue","quantity":2}],"carrier":"Zoë's Couriers"}`,
		},
		{
			Name: "invoice.line_item.refunded", Description: "A line of an invoice was refunded",
			Schema: `{"type":"object","required":["invoiceId","amount"],"properties":{"invoiceId":{"type":"string",` +
				`"pattern":"^inv_"},"amount":{"type":"object","required":["value","currency"],"properties":{"value":` +
				`{"type":"string","pattern":"^[0-9]+\\.[0-9]{2}$"},"currency":{"type":"string","minLength":3,"maxLength":3}}}}}`,
			Example: `{"invoiceId":"inv_01JCRX4H7C2K","amount":{"value":"12.90","currency":"EUR"}}`,
		},
	}
	if diff := cmp.Diff(want, all.Own); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	if len(all.Specified) != 26 || len(all.Notes) > 0 {
		t.Errorf("%d types of the specification, notes %q", len(all.Specified), all.Notes)
	}
}

// The example of an identity product has each kind of decision about the specification's types.
func TestRead_takesTheCatalogueOfAnIdentityProduct(t *testing.T) {
	all := example(t, "identity.yaml")
	var deprecated []string
	for _, one := range all.Own {
		if one.Deprecated {
			deprecated = append(deprecated, one.Name+" by "+one.ReplacedBy)
		}
	}
	got := map[string][]string{"own": names(all.Own), "wildcards": all.Wildcards, "deprecated": deprecated}
	want := map[string][]string{
		"own": {
			"user.created", "user.updated", "user.deleted", "user.signed_in", "user.logged_in", "user.password_changed",
			"session.created", "session.revoked", "organization.domain.verified",
		},
		"wildcards": {"session.*"}, "deprecated": {"user.logged_in by user.signed_in"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(all.Specified) != 17 || len(all.Notes) != 9 {
		t.Errorf("%d types of the specification, notes %q", len(all.Specified), all.Notes)
	}
}
