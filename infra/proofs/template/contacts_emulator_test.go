//go:build emulator

package template

import (
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/rights"
)

// ContactReaders reads the contact of an endpoint that it can name, and nothing else of any. Two evaluators agree.
//
// Threat of an operator: reads more than contacts, with the right of a function that mails owners. Held by:
// [`ContactReaders`](../decisions/0039-a-right-to-one-attribute.md) reads one attribute of a named endpoint.
func TestContactReadersReadContactsAlone(t *testing.T) {
	const some, contact = "SPECIFIC_ATTRIBUTES", "contact endpoint_id tenant_id"
	d := deployment{translated(t), configurations(t, load(t))["default"]}
	read := asked{
		action: "dynamodb:GetItem", resource: "Endpoints", tenants: "acme", attributes: contact, answer: some,
	}
	variants := map[string]func(*asked){
		"the contact":             func(*asked) {},
		"metadata":                func(a *asked) { a.attributes = with(contact, "metadata") },
		"the URL":                 func(a *asked) { a.attributes = with(contact, "url") },
		"the sealed secret":       func(a *asked) { a.attributes = with(contact, "sealed_secret") },
		"the whole row":           func(a *asked) { a.attributes, a.answer = "endpoint_id tenant_id", "ALL_ATTRIBUTES" },
		"operators' marks":        func(a *asked) { a.tenants = "marks#acme" },
		"all of a tenant":         func(a *asked) { a.action = "dynamodb:Query" },
		"all tenants":             func(a *asked) { a.action = "dynamodb:Scan" },
		"many at once":            func(a *asked) { a.action = "dynamodb:BatchGetItem" },
		"an endpoint of any":      func(a *asked) { a.action, a.resource = "dynamodb:Query", "Endpoints/by-endpoint" },
		"a contact of its making": func(a *asked) { a.action, a.answer = "dynamodb:PutItem", "" },
	}
	for table := range d.OfType("AWS::DynamoDB::Table") {
		if table != "Endpoints" {
			variants["a row of "+table] = func(a *asked) { a.resource = table }
		}
	}
	var names []string
	var ours []bool
	var calls []rights.Call
	granted := statements(d.Resources["ContactReaders"].Properties["PolicyDocument"])
	for name, reach := range variants {
		a := read
		reach(&a)
		call := d.judge("Inspect", a)
		call.Principal, call.Identity = iam+"role/mailer", d.named(d.template, anys(granted)).([]any)
		names, calls = append(names, name), append(calls, call)
		ours = append(ours, slices.ContainsFunc(granted, func(s object) bool { return allows(s, a) }))
	}
	for n, second := range evaluate(t, calls) {
		if want := names[n] == "the contact"; ours[n] != want || (second == "Allowed") != want {
			t.Errorf("%s: ours says %t, the other %s; want %t", names[n], ours[n], second, want)
		}
	}
}
