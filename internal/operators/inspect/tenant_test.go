package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit"
)

const acme = `"tenant_id":"acme"`

// populate gives acme what a tenant may have, and globex the same, none of which is acme's.
func populate(a *account) {
	a.putEndpoints(
		endpoint.Endpoint{ID: "webhook_1", TenantID: "acme", URL: "https://a.example.com/x", Status: endpoint.Active},
		endpoint.Endpoint{ID: "webhook_2", TenantID: "acme", URL: "https://b.example.com", Status: endpoint.Active},
		endpoint.Endpoint{ID: "webhook_3", TenantID: "acme", URL: "https://c.example.com", Status: endpoint.Deleted},
		endpoint.Endpoint{ID: "webhook_9", TenantID: "globex", URL: "https://g.example.com", Status: endpoint.Active},
	)
	a.putCircuits(circuit.Item{TenantID: "acme", EndpointID: "webhook_2", Version: 1, State: circuit.Open})
	a.wait("webhook_2", 3, 2, at.Add(-time.Hour))
	for n, tenant := range []string{"acme", "acme", "globex"} {
		a.putLetters(deadletter.Record{
			Ref:    delivery.Ref{DeliveryID: fmt.Sprint("msg_", n), TenantID: tenant, EndpointID: "webhook_2"},
			Status: deadletter.Dead, Reason: "timeout", DiedAt: at,
		})
	}
	a.putJob(job.Job{ID: "job_1", State: job.Running, Selector: job.Selector{TenantID: "acme"}})
	a.putJob(job.Job{ID: "job_2", State: job.Stopped, Selector: job.Selector{EndpointID: "webhook_3"}})
	a.putJob(job.Job{ID: "job_3", State: job.Done, Selector: job.Selector{TenantID: "acme"}})
	a.putJob(job.Job{ID: "job_4", State: job.Running, Selector: job.Selector{TenantID: "globex"}})
	a.putJob(job.Job{ID: "job_5", State: job.Running, Selector: job.Selector{Status: "dead"}})
	a.slow(map[string]time.Time{"acme": at.Add(20 * time.Hour)})
}

func TestHandler_tenant_showsWhatIsStoredOfIt(t *testing.T) {
	inAccount(t, func(a *account) {
		populate(a)
		a.Stops["acme"] = endpoint.Marks{
			PausedAt: at, PausedBy: "ann", PauseReason: "INC-7", RateLimit: 5, LimitedBy: "bob", LimitedAt: at,
			LimitReason: "INC-6", EndpointsPerHost: 30, DiscardedBefore: at.Add(-time.Hour),
		}
		got := read[api.Tenant](a, "tenant", acme)
		marks := api.TenantMarks{
			PausedAt: at, PausedBy: "ann", PauseReason: "INC-7", RateLimit: 5, LimitedBy: "bob", LimitedAt: at,
			LimitReason: "INC-6", EndpointsPerHost: 30, DiscardedBefore: at.Add(-time.Hour),
		}
		if diff := cmp.Diff(marks, got.Marks); diff != "" {
			t.Errorf("marks (-want +got):\n%s", diff)
		}
		var endpoints, jobs []string
		for _, e := range got.Endpoints.Data {
			endpoints = append(endpoints, fmt.Sprint(e.EndpointID, " ", e.State, " ", e.Waiting.Count))
		}
		for _, j := range got.Jobs.Data {
			jobs = append(jobs, j.JobID)
		}
		if diff := cmp.Diff([]string{"webhook_1 paused 0", "webhook_2 paused 3"}, endpoints); diff != "" {
			t.Errorf("endpoints (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"job_1", "job_2"}, jobs); diff != "" {
			t.Errorf("jobs (-want +got):\n%s", diff)
		}
		if got.Endpoints.Deleted != 1 || got.Endpoints.States[api.StatePaused] != 2 || got.Endpoints.More || got.Jobs.More {
			t.Errorf("endpoints %+v, jobs %+v", got.Endpoints, got.Jobs)
		}
		if len(got.Causes.Data) != 1 || got.Causes.Data[0].Count != 2 {
			t.Errorf("causes %+v", got.Causes)
		}
		if wait := got.SlowUntil.Sub(at); wait <= 0 || wait >= 20*time.Hour {
			t.Errorf("slow until %v", got.SlowUntil)
		}
	})
}

func TestHandler_tenant_hasThoseInTroubleFirst(t *testing.T) {
	inAccount(t, func(a *account) {
		populate(a)
		got := read[api.Tenant](a, "tenant", acme)
		if len(got.Endpoints.Data) != 2 || got.Endpoints.Data[0].EndpointID != "webhook_2" {
			t.Errorf("%+v", got.Endpoints.Data)
		}
		want := map[api.State]int{api.StateOpen: 1, api.StateHealthy: 1}
		if diff := cmp.Diff(want, got.Endpoints.States); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

// Whatever one thing is stored, there is a tenant; with nothing there is none.
func TestHandler_tenant_ofWhichNothingIsStoredIsNotFound(t *testing.T) {
	for name, store := range map[string]func(a *account){
		"nothing": func(*account) {},
		"another tenant": func(a *account) {
			a.putEndpoints(endpoint.Endpoint{ID: "webhook_1", TenantID: "acme2", Status: endpoint.Active})
		},
		"a deleted endpoint": func(a *account) {
			a.putEndpoints(endpoint.Endpoint{ID: "webhook_1", TenantID: "acme", Status: endpoint.Deleted})
		},
		"an order about an endpoint that is gone": func(a *account) {
			a.Left[dynamo.EndpointKey{TenantID: "acme", EndpointID: "webhook_1"}] = endpoint.Marks{PausedAt: at}
		},
		"an allowance": func(a *account) {
			a.Stops["acme"] = endpoint.Marks{EndpointsPerHost: 30}
		},
		"a replayed letter": func(a *account) {
			a.putLetters(deadletter.Record{Ref: ref("msg_1"), Status: deadletter.Replayed, DiedAt: at})
		},
		"a job": func(a *account) {
			a.putJob(job.Job{ID: "job_1", State: job.Running, Selector: job.Selector{TenantID: "acme"}})
		},
		"a slow lane": func(a *account) { a.slow(map[string]time.Time{"acme": at.Add(20 * time.Hour)}) },
	} {
		want := ""
		if name == "nothing" || name == "another tenant" {
			want = "not_found tenant_id"
		}
		inAccount(t, func(a *account) {
			store(a)
			if got := testkit.Refusal(t, a.ask("tenant", acme)); got != want {
				t.Errorf("%s: refused %q, want %q", name, got, want)
			}
		})
	}
}

// A tenant may have 200 endpoints, and other tenants thousands of jobs.
func TestHandler_tenant_saysWhereABoundWasMet(t *testing.T) {
	inAccount(t, func(a *account) {
		for n := range maxTenantEndpoints + 1 {
			a.putEndpoints(endpoint.Endpoint{
				ID: fmt.Sprintf("webhook_%03d", n), TenantID: "acme", Status: endpoint.Active,
			})
		}
		for n := range maxTenantJobs + 1 {
			a.putJob(job.Job{ID: fmt.Sprint("job_", n), State: job.Running, Selector: job.Selector{TenantID: "globex"}})
		}
		got := read[api.Tenant](a, "tenant", acme)
		if len(got.Endpoints.Data) != maxTenantEndpoints || !got.Endpoints.More || !got.Jobs.More ||
			got.Endpoints.States[api.StateHealthy] != maxTenantEndpoints+1 {
			t.Errorf("%d endpoints of %v, more: %t, more jobs: %t",
				len(got.Endpoints.Data), got.Endpoints.States, got.Endpoints.More, got.Jobs.More)
		}
	})
}

func TestHandler_tenant_refusesWithCodeAndField(t *testing.T) {
	inAccount(t, func(a *account) {
		for fields, want := range map[string]string{
			"": "invalid_field tenant_id", `"tenant_id":"a\"b"`: "invalid_field tenant_id",
			`"tenant_id":"*"`: "invalid_field tenant_id", acme + `,"limit":1`: "unknown_field limit",
		} {
			if got := testkit.Refusal(t, a.ask("tenant", fields)); got != want {
				t.Errorf("%s: refused %q, want %q", fields, got, want)
			}
		}
	})
}

// What operators see of a tenant has neither secrets nor paths, which may be secrets, and opens nothing.
//
// Threat of an operator: looks at any tenant whose id it knows. Held by: it may, and nothing sealed is opened; keys
// have no text, URLs no path.
func TestHandler_tenant_opensNothing(t *testing.T) {
	inAccount(t, func(a *account) {
		populate(a)
		answer := a.ask("tenant", acme)
		if strings.Contains(answer, "/x") || len(a.lines) > 0 || a.calls["Decrypt"] > 0 {
			t.Errorf("%d lines, calls %v: %s", len(a.lines), a.calls, answer)
		}
	})
}
