package control

import (
	"testing"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// A thief's endpoint is paused while its tenant is. When the tenant is resumed, everything that was held is sent, and
// nothing of it to that endpoint.
//
// Threat of a tenant: has what is held sent to an endpoint that a stolen key made. Held by: the pause of an endpoint
// outlasts its tenant's resume.
func TestHandler_pause_ofAnEndpointOutlastsTheResumeOfItsTenant(t *testing.T) {
	const all, one = `"tenant_id":"acme"`, `"tenant_id":"acme","endpoint_id":"webhook_1"`
	r := newRig()
	for _, step := range []struct{ action, fields string }{{"pause", all}, {"pause", one}, {"resume", all}} {
		testkit.Read[api.ControlAnswer](t, r.ask(t, step.action, step.fields))
	}
	p := r.aws.Process("deliver")
	directory := invoke.Directory{Endpoints: p.Endpoints(), Circuits: p.Circuits()}
	for id, want := range map[string]endpoint.Admission{
		"webhook_1": endpoint.PausedByOperator, "webhook_2": endpoint.Free,
	} {
		found, err := directory.Find(t.Context(), "acme", id)
		if err != nil || found.Tenant.Paused() || found.Admission() != want {
			t.Errorf("%s: %v, tenant paused: %t, %v", id, found.Admission(), found.Tenant.Paused(), err)
		}
	}
}
