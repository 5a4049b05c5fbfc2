package inspect

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// The most that a tenant's page has: endpoints, and jobs in a state that are looked at.
const (
	maxTenantEndpoints = 100
	maxTenantJobs      = 100
)

// tenantView shows one tenant.
type tenantView struct {
	directory invoke.Directory
	endpoints endpointList
	causes    causeList
	jobs      Jobs
	allowance allowance.Settings
}

// show shows a tenant. All parts are read at the same time. It fails where one of them cannot be read: without its dead
// letters, a tenant in trouble would look well.
func (v tenantView) show(ctx context.Context, call *invoke.Call, req api.TenantRequest) (api.Tenant, error) {
	if err := invoke.Required("tenant_id", req.TenantID); err != nil {
		return api.Tenant{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID))
	ids, err := v.endpoints.ids.List(ctx, req.TenantID)
	if err != nil {
		return api.Tenant{}, err
	}
	t, orders := api.Tenant{TenantID: req.TenantID}, 0
	err = together(
		func() (err error) { t.Marks, orders, err = v.marks(ctx, req.TenantID); return err },
		func() (err error) { t.SlowUntil, err = v.slowUntil(ctx, req.TenantID); return err },
		func() (err error) { t.Endpoints, err = v.list(ctx, ids); return err },
		func() (err error) { t.Causes, err = v.causesOf(ctx, req.TenantID); return err },
		func() (err error) { t.Jobs, err = v.jobsOf(ctx, req.TenantID, ids); return err },
	)
	if err != nil {
		return api.Tenant{}, err
	}
	empty := len(ids)+orders+len(t.Causes.Data)+len(t.Jobs.Data) == 0 && t.Marks == (api.TenantMarks{})
	if empty && t.SlowUntil.IsZero() {
		return t, v.orMissing(ctx, req.TenantID)
	}
	return t, nil
}

// orMissing refuses a tenant of which nothing is stored, not even a dead letter that was replayed.
func (v tenantView) orMissing(ctx context.Context, tenantID string) error {
	letters, _, err := v.causes.letters.List(ctx, job.Selector{TenantID: tenantID}, dynamo.LetterPage{Limit: 1})
	if err == nil && len(letters) == 0 {
		err = invoke.Refuse(api.CodeNotFound, "tenant_id", "nothing is stored under this id")
	}
	return err
}

// causesOf counts the causes of death of the tenant's dead letters, of those that are not replayed.
func (v tenantView) causesOf(ctx context.Context, tenantID string) (api.Causes, error) {
	died, err := v.causes.latest(ctx, job.Selector{TenantID: tenantID, Status: string(deadletter.Dead)})
	if err != nil {
		return api.Causes{}, err
	}
	return v.causes.causes(ctx, died)
}

// marks are the orders about the tenant as a whole, with the number of those about single endpoints.
func (v tenantView) marks(ctx context.Context, tenantID string) (shown api.TenantMarks, orders int, err error) {
	marks, err := v.directory.Endpoints.Marks(ctx, tenantID)
	if invoke.Unreadable(err) {
		return api.TenantMarks{Unreadable: true}, 0, nil
	}
	m := marks.Tenant
	return api.TenantMarks{
		PausedBy: m.PausedBy, PausedAt: m.PausedAt, PauseReason: m.PauseReason, DiscardedBefore: m.DiscardedBefore,
		RateLimit: m.RateLimit, LimitedBy: m.LimitedBy, LimitedAt: m.LimitedAt, LimitReason: m.LimitReason,
		EndpointsPerHost: m.EndpointsPerHost,
	}, len(marks.Endpoints), err
}

// slowUntil is when the tenant's deliveries stop going through SlowQueue; zero where they do not.
func (v tenantView) slowUntil(ctx context.Context, tenantID string) (time.Time, error) {
	marks, err := v.endpoints.circuits.SlowUntil(ctx, []string{tenantID})
	if err != nil || !v.allowance.Slow(marks[tenantID], v.endpoints.health.now()) {
		return time.Time{}, err
	}
	return v.allowance.End(marks[tenantID]), nil
}

// list shows the endpoints that are not deleted, those in trouble first, each group in the order of creation.
func (v tenantView) list(ctx context.Context, ids []endpoint.Endpoint) (shown api.TenantEndpoints, err error) {
	var keys []dynamo.EndpointKey
	for _, e := range ids {
		if e.Live() {
			keys = append(keys, dynamo.EndpointKey{TenantID: e.TenantID, EndpointID: e.ID})
		}
	}
	shown.Deleted = len(ids) - len(keys)
	found, err := v.endpoints.reader.read(ctx, keys)
	if err != nil {
		return shown, err
	}
	shown.States = map[api.State]int{}
	for _, f := range found {
		shown.States[v.endpoints.health.state(f)]++
	}
	slices.SortStableFunc(found, func(a, b invoke.Found) int {
		return cmp.Compare(v.trouble(b), v.trouble(a))
	})
	shown.More = len(found) > maxTenantEndpoints
	shown.Data, err = v.endpoints.show(ctx, found[:min(len(found), maxTenantEndpoints)])
	return shown, err
}

// trouble is 1 for an endpoint in trouble.
func (v tenantView) trouble(f invoke.Found) int {
	if v.endpoints.health.state(f).Untroubled() {
		return 0
	}
	return 1
}

// jobsOf are the running and the stopped jobs that are about the tenant, or about one of its endpoints.
func (v tenantView) jobsOf(
	ctx context.Context, tenantID string, ids []endpoint.Endpoint,
) (shown api.TenantJobs, err error) {
	for _, state := range []job.State{job.Running, job.Stopped} {
		jobs, next, err := v.jobs.List(ctx, state, maxTenantJobs, "")
		if err != nil {
			return shown, err
		}
		shown.More = shown.More || next != ""
		for _, j := range jobs {
			its := slices.ContainsFunc(ids, func(e endpoint.Endpoint) bool { return e.ID == j.Selector.EndpointID })
			if j.Selector.TenantID == tenantID || its {
				shown.Data = append(shown.Data, invoke.ShowJob(j))
			}
		}
	}
	return shown, nil
}
