//go:build emulator

package dynamo_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Threat of the account: finds an [erased](operator-api.md#erase-a-tenant) tenant. Held by: every table is searched;
// backups have it for 35 days.
func TestErasure_Page_leavesNothingOfTheTenantAndAllOfOthers(t *testing.T) {
	r := newRig(t)
	erasure := dynamo.NewErasure(r.client, dynamo.ErasedTables{
		APIKeys: r.tables.ApiKeys, Endpoints: r.tables.Endpoints, EndpointHealth: r.tables.EndpointHealth,
		Backlog: r.tables.Backlog, Deliveries: r.tables.Deliveries, DeadLetters: r.tables.DeadLetters, Jobs: r.tables.Jobs,
	})
	r.populate("globex")
	others := r.everything()
	r.populate("initech")
	want := map[string]int{
		"api_keys": 1, "endpoints": 2, "endpoint_counts": 1, "about_endpoints": 2, "marks": 1, "health": 2, "backlog": 1,
		"deliveries":   2,
		"dead_letters": 1, "jobs": 1,
	}
	none := map[string]int{}
	for kind := range want {
		none[kind] = 0
	}
	for n, step := range []struct {
		dryRun bool
		counts map[string]int
		left   map[string][]string
	}{{true, want, r.everything()}, {false, want, others}, {false, none, others}} {
		counts, place := map[string]int{}, ""
		for first := true; first || place != ""; first = false {
			kind, count, next, err := erasure.Page(t.Context(), "initech", place, step.dryRun)
			if err != nil {
				t.Fatal(err)
			}
			counts[kind], place = counts[kind]+count, next
		}
		if diff := cmp.Diff(step.counts, counts) + cmp.Diff(step.left, r.everything()); diff != "" {
			t.Errorf("step %d: counts, and what is left (-want +got):\n%s", n, diff)
		}
	}
	_, _, _, err := erasure.Page(t.Context(), "initech", "graves ", true)
	if !errors.Is(err, dynamo.ErrCursor) {
		t.Errorf("place: %v", err)
	}
}

// everything is all items, by table.
func (r rig) everything() map[string][]string {
	r.t.Helper()
	all := map[string][]string{}
	for _, table := range []string{
		r.tables.ApiKeys, r.tables.Endpoints, r.tables.EndpointHealth, r.tables.Backlog, r.tables.Deliveries,
		r.tables.DeadLetters, r.tables.Jobs,
	} {
		out, err := r.client.Scan(r.t.Context(), &dynamodb.ScanInput{TableName: &table})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, item := range out.Items {
			var plain map[string]any
			if err := attributevalue.UnmarshalMap(item, &plain); err != nil {
				r.t.Fatal(err)
			}
			all[table] = append(all[table], fmt.Sprint(plain))
		}
		slices.Sort(all[table])
	}
	return all
}

// populate gives a tenant something of everything that is stored.
func (r rig) populate(tenant string) {
	r.t.Helper()
	putKey(r.t, r.keys, tenant, createdAt)
	e, deleted := mustCreate(r.t, r.endpoints, tenant, createdAt), mustCreate(r.t, r.endpoints, tenant, createdAt)
	e, deleted = tell(r.t, r.endpoints, e), tell(r.t, r.endpoints, deleted)
	mustReplace(r.t, r.endpoints, deleted, gone(deleted, createdAt))
	key := dynamo.EndpointKey{TenantID: tenant, EndpointID: e.ID}
	mark(r.t, r.endpoints, key)
	charge(r.t, r.circuits, tenant, time.Hour)
	held := r.circuits.Hold(r.t.Context(), key, at, at)
	waits := waiting(0)
	waits.Message.TenantID, waits.EndpointID = tenant, e.ID
	retrying := state("msg_1"+tenant, delivery.Retrying, 0, 1)
	acknowledged := state("msg_2"+tenant, delivery.Acknowledged, 0, 1)
	retrying.TenantID, acknowledged.TenantID = tenant, tenant
	update(r.t, r.deliveries, retrying)
	letter := death("msg_"+tenant, e.ID, 0, deadAt)
	letter.TenantID = tenant
	bury(r.t, r.letters, letter)
	j := jobAt("job_"+tenant, 0)
	j.Selector.TenantID = tenant
	createJob(r.t, r.jobs, j)
	err := errors.Join(held, r.backlog.Put(r.t.Context(), []backlog.Item{waits})[0],
		r.deliveries.Acknowledge(r.t.Context(), []delivery.Record{acknowledged}))
	for number := range 3 {
		err = errors.Join(err, r.jobs.PutPage(r.t.Context(), j, job.Page{Number: number + 1, Done: []string{"msg_1"}}))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// tell stores what an owner says of an endpoint.
func tell(t *testing.T, s *dynamo.Endpoints, was endpoint.Endpoint) endpoint.Endpoint {
	t.Helper()
	now := was
	now.About, now.AboutRow, now.Revision = endpoint.About{Contact: "ann@example.com"}, endpoint.AboutKept, "told"
	mustReplace(t, s, was, now)
	return now
}

func jobAt(id string, minutes int) job.Job {
	at := deadAt.Add(time.Duration(minutes) * time.Minute)
	return job.Job{
		ID: id, Act: job.Replay, Operator: "ann", StartedAt: at, State: job.Running, Selected: 3,
		Selector: job.Selector{
			TenantID: "acme", EndpointID: "webhook_1", Reason: "timeout", Status: "dead",
			Since: deadAt, Until: at,
		},
		Progress: job.Progress{UpdatedAt: at},
	}
}

func createJob(t *testing.T, jobs *dynamo.Jobs, j job.Job) {
	t.Helper()
	if _, created, err := jobs.Create(t.Context(), j); !created || err != nil {
		t.Fatalf("created: %v, %v", created, err)
	}
}
