package control

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestHandler_allow_setsATenantsNumberAtADomain(t *testing.T) {
	w := newRig()
	for _, n := range []string{"30", "0"} {
		w.calls = nil
		got := testkit.Read[api.ControlAnswer](t, w.ask(t, "allow", all+`,"endpoints_per_host":`+n+reason))
		want := api.ControlAnswer{TenantID: "acme", Result: "allowed", State: "healthy"}
		if n == "30" {
			want.EndpointsPerHost = 30
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(endpoint.Marks{EndpointsPerHost: want.EndpointsPerHost}, w.aws.Stops["acme"]); diff != "" {
			t.Errorf("marks (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]string{"Audit allow acme", "Mark acme"}, w.calls); diff != "" {
			t.Errorf("writes (-want +got)\n%s", diff)
		}
		line := w.aws.Audited[len(w.aws.Audited)-1]
		if line.Reason != "their quota" || *line.EndpointsPerHost != want.EndpointsPerHost {
			t.Errorf("audited as %+v", line)
		}
	}
	for fields, want := range map[string]string{
		all + `,"endpoints_per_host":0` + reason:           "already_allowed tenant_id",
		all + `,"endpoints_per_host":201` + reason:         "invalid_field endpoints_per_host",
		all + `,"endpoints_per_host":-1` + reason:          "invalid_field endpoints_per_host",
		all + `,"endpoints_per_host":30`:                   "invalid_field reason",
		one + `,"endpoints_per_host":30` + reason:          "invalid_field endpoint_id",
		`"tenant_id":"b","endpoints_per_host":30` + reason: "not_found tenant_id",
	} {
		w := newRig()
		w.mustRefuse(t, "allow", fields, want)
	}
	none := newRig().ask(t, "allow", all+`,"endpoints_per_host":0`+reason)
	if !strings.Contains(none, "the tenant has no allowance to end") {
		t.Errorf("without an allowance: %s", none)
	}
}
