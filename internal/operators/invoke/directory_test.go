package invoke_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

func TestFound_State_hidesTheCircuitUnderAStop(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 5, 1, hour, 0, 0, 0, time.UTC) }
	open := circuit.Item{State: circuit.Open, Since: at(3)}
	paused := endpoint.Marks{PausedAt: at(1)}
	for name, row := range map[string]struct {
		found invoke.Found
		state api.State
		since time.Time
	}{
		"healthy": {invoke.Found{Endpoint: endpoint.Endpoint{Status: endpoint.Active}}, "healthy", time.Time{}},
		"open":    {invoke.Found{Endpoint: endpoint.Endpoint{Status: endpoint.Active}, Circuit: open}, "open", at(3)},
		"disabled and open": {invoke.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Disabled, UpdatedAt: at(2)}, Circuit: open}, "disabled", at(2)},
		"paused, disabled and open": {invoke.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Disabled, Marks: paused}, Circuit: open}, "paused", at(1)},
		"of a paused tenant": {invoke.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Active}, Tenant: endpoint.Marks{PausedAt: at(4)}}, "paused", at(4)},
		"unreadable": {invoke.Found{Unreadable: true, Circuit: open}, "unreadable", time.Time{}},
		"deleted and paused": {invoke.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Deleted, DeletedAt: at(5), Marks: paused}}, "deleted", at(5)},
	} {
		t.Run(name, func(t *testing.T) {
			if row.found.State() != row.state || !row.found.Since().Equal(row.since) {
				t.Errorf("%s since %s, want %s since %s", row.found.State(), row.found.Since(), row.state, row.since)
			}
		})
	}
}

// directory finds endpoints in the tables of the model.
func directory(aws *model.Model) invoke.Directory {
	p := aws.Process("operator")
	return invoke.Directory{Endpoints: p.Endpoints(), Circuits: p.Circuits()}
}

// Without a tenant, the circuit of an endpoint leads to it. With one, the table of endpoints decides, so that an
// operator can act although the tenant in the circuit is forged.
func TestDirectory_Find_believesTheTableBeforeTheCircuit(t *testing.T) {
	for name, row := range map[string]struct {
		asked, circuit string
		code           api.Code
	}{
		"no trouble":                      {"acme", "", ""},
		"in trouble":                      {"acme", "acme", ""},
		"in trouble, no tenant is given":  {"", "acme", ""},
		"a forged circuit":                {"acme", "forged", ""},
		"a forged circuit, and no tenant": {"", "forged", api.CodeNotFound},
		"another tenant's":                {"other", "acme", api.CodeTenantMismatch},
		"not there":                       {"other", "", api.CodeNotFound},
		"nothing leads to it":             {"", "", api.CodeInvalidField},
	} {
		t.Run(name, func(t *testing.T) {
			aws := model.New()
			aws.Endpoints["webhook_1"] = endpoint.Endpoint{ID: "webhook_1", TenantID: "acme", Status: endpoint.Active}
			if row.circuit != "" {
				aws.Circuits["webhook_1"] = circuit.Item{TenantID: row.circuit, Version: 1, State: circuit.Open}
			}
			found, err := directory(aws).Find(t.Context(), row.asked, "webhook_1")
			code := api.Code("")
			if refusal, refused := errors.AsType[*api.Refusal](err); refused {
				code = refusal.Code
			}
			if code != row.code || code == "" && (err != nil || found.Endpoint.TenantID != "acme") {
				t.Errorf("%s of %q, %v, want the code %q", found.Endpoint.ID, found.Endpoint.TenantID, err, row.code)
			}
		})
	}
}

func TestDirectory_ID_suggestsTheNameThatWasMeant(t *testing.T) {
	aws := model.New()
	for _, e := range []endpoint.Endpoint{
		{ID: "webhook_1", TenantID: "acme", URL: "https://hooks.example.com", Description: "orders", Status: "active"},
		{ID: "webhook_2", TenantID: "acme", URL: "https://crm.example.com/x", Status: endpoint.Active},
		{ID: "webhook_3", TenantID: "acme", URL: "https://old.example.net/x", Description: "old", Status: endpoint.Deleted},
		{ID: "webhook_4", TenantID: "big", URL: "https://shop.example.com/x", Description: "shop", Status: endpoint.Active},
	} {
		aws.Endpoints[e.ID] = e
	}
	for name, want := range map[string]string{
		"ordres": ": did you mean orders?", "hook.example.com": ": did you mean hooks.example.com?",
		"Order": ": did you mean orders?", "crm": ": did you mean crm.example.com?", "old": "", "shop": "", "x": "",
	} {
		_, err := directory(aws).ID(t.Context(), "acme", name)
		const missing = "the tenant has no endpoint with this id, host or description"
		if diff := cmp.Diff(error(invoke.Refuse(api.CodeNotFound, "endpoint_id", missing+want)), err); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
