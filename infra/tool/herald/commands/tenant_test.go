package commands

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// compromised is a tenant with a key that has made one endpoint and changed another.
func compromised() *fake {
	f := &fake{cloud: newAccount(), answers: map[string]string{
		"apikeys:revoke list": written(listOf(api.Key{KeyID: "01"}, api.Key{KeyID: "02", RevokedAt: now})),
	}}
	f.cloud.audit = []string{
		`{"key_id":"01","action":"create","tenant_id":"acme","endpoint_id":"webhook_2","changed":["url"]}`,
		`{"key_id":"01","action":"update","tenant_id":"acme","endpoint_id":"webhook_1","changed":["events"]}`,
		`{"operator_claimed":"bob","function":"control","action":"limit","tenant_id":"acme","reason":"INC-6"}`,
	}
	f.say(to(api.GetTenant, tenantOf(api.TenantMarks{}, false)))
	return f
}

func tenantOf(marks api.TenantMarks, paused bool) api.Tenant {
	return api.Tenant{
		TenantID: "acme", Marks: marks, SlowUntil: now,
		Endpoints: api.TenantEndpoints{States: map[api.State]int{api.StateHealthy: 2}, Deleted: 1, Data: []api.ListedEndpoint{
			{TenantID: "acme", EndpointID: "webhook_1", Host: "crm.example.com"},
			{TenantID: "acme", EndpointID: "webhook_2", Host: "thief.example.com", EndpointPaused: paused},
		}},
		Causes: api.Causes{Data: []api.Cause{{TenantID: "acme", EndpointID: "webhook_1", Reason: "timeout", Count: 7}}},
		Jobs:   api.TenantJobs{Data: []api.Job{{JobID: "job_1"}}, More: true},
	}
}

func TestTenantsShow_hasSectionsWithWhatIsThere(t *testing.T) {
	f := compromised()
	out := f.ends(t, exit.Done, "tenants show acme",
		"2 healthy", "that it can restore", "in the slow lane until", "keys that can be used", "crm.example.com", "timeout",
		"job_1", "There are more than these", "What its keys changed", "create", "What operators did", "control limit",
		"INC-6",
		"was read since 2025-03-28", "next: herald tenants pause acme --reason compromised")
	if strings.Contains(out, "Traffic of the last hour") {
		t.Errorf("the log was searched without being asked for: %s", out)
	}
}

// Each step of the playbook is the next one that is not done.
func TestTenantsShow_leadsThroughThePlaybook(t *testing.T) {
	paused := api.TenantMarks{PausedAt: now, PausedBy: "ann"}
	f := compromised()
	f.say(to(api.GetTenant, tenantOf(paused, false)))
	f.ends(t, exit.Done, "tenants show acme", "next: herald keys revoke-all acme --reason compromised")
	f.answers["apikeys:revoke list"] = written(listOf(api.Key{KeyID: "01", RevokedAt: now}))
	f.ends(t, exit.Done, "tenants show acme",
		"next: herald endpoints pause --tenant=acme --reason compromised webhook_2\n")
	f.say(to(api.GetTenant, tenantOf(paused, true)))
	f.ends(t, exit.Done, "tenants show acme", "once its owner has a new key", "next: herald tenants resume acme\n")
}

// Damaged marks stop all deliveries, and refuse a pause: the keys are what is left to end.
func TestTenantsShow_withDamagedMarksLeadsToItsKeys(t *testing.T) {
	f := compromised()
	f.say(to(api.GetTenant, tenantOf(api.TenantMarks{Unreadable: true}, false)))
	f.ends(t, exit.Done, "tenants show acme", "next: herald keys revoke-all acme --reason compromised")
	f.answers["apikeys:revoke list"] = written(listOf(api.Key{KeyID: "01", RevokedAt: now}))
	if out := f.ends(t, exit.Done, "tenants show acme"); strings.Contains(out, "next:") {
		t.Errorf("leads to a pause that is refused: %s", out)
	}
}

// Keys and acts need rights of their own.
func TestTenantsShow_showsTheRestWithoutARight(t *testing.T) {
	f := compromised()
	f.cloud.denied = "logs"
	delete(f.answers, "apikeys:revoke list")
	f.ends(t, exit.Done, "tenants show acme", "crm.example.com", "timeout", "logs:FilterLogEvents",
		"unexpected apikeys:revoke")
	f.say(to(api.GetTenant, tenantOf(api.TenantMarks{PausedAt: now, PausedBy: "ann"}, true)))
	out := f.ends(t, exit.Done, "tenants show acme", "is not known: do not resume")
	if strings.Contains(out, "next:") {
		t.Errorf("a step is left out because nothing is known of it: %s", out)
	}
	var got map[string]any
	out = f.ends(t, exit.Done, "-o json tenants show acme")
	err := json.Unmarshal([]byte(out), &got)
	if err != nil || got["tenant"] == nil || got["keys"] != nil || got["acts"] != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestTenantsShow_ofWhichNothingIsStored(t *testing.T) {
	missing := refusing(api.GetTenant, api.Refusal{Code: api.CodeNotFound, Message: "nothing is stored under this id"})
	f := compromised()
	f.cloud.audit = nil
	f.say(missing)
	f.answers["apikeys:revoke list"] = emptyList
	f.ends(t, exit.Failed, "tenants show acme", "nothing is stored under this id")
	f = compromised()
	f.say(missing)
	f.ends(t, exit.Done, "tenants show acme", "only its keys", "next: herald keys revoke-all acme")
}

// An id that no tenant can have gets into no filter of the log.
func TestTenantsShow_ofHostileText(t *testing.T) {
	for _, id := range []string{`a"b`, "*", `a\`, `acme") || ($.tenant_id = "*`, "ä", "a b"} {
		f := compromised()
		f.say(refusing(api.GetTenant, api.Refusal{Code: api.CodeInvalidField, Field: "tenant_id", Message: "no id"}))
		code, _, words := f.play(t, "", "tenants", "show", id)
		if code != exit.Usage || len(f.requests) != 1 {
			t.Errorf("%q: exit code %d, %d requests: %s", id, code, len(f.requests), words)
		}
	}
}

// Each order about a tenant is on the page and on the command line.
func TestTenantsShow_hasTheOrdersThatTheConsoleHas(t *testing.T) {
	marks, shown := distinct[api.TenantMarks]()
	marks.Unreadable = false
	f := compromised()
	f.say(to(api.GetTenant, api.Tenant{TenantID: "acme", Marks: marks}))
	out, page := f.ends(t, exit.Done, "tenants show acme"), f.page(t, "/tenant?tenant_id=acme")
	for path, value := range shown {
		if !strings.Contains(page, value) || !strings.Contains(out, value) {
			t.Errorf("%s is %s on the page: %t, on the command line: %t", path, value,
				strings.Contains(page, value), strings.Contains(out, value))
		}
	}
	if len(shown) < 9 {
		t.Errorf("%d orders", len(shown))
	}
}
