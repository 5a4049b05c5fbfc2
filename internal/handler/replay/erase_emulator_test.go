//go:build emulator

package replay_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/job"
)

func TestHandler_erase_leavesNothingOfTheTenantAndAllOfOthers(t *testing.T) {
	w := newWorld(t)
	w.settle(t, "globex")
	others := w.stored(t)
	w.settle(t, "initech")
	all := w.stored(t)
	for table, items := range others {
		if len(all[table]) != 2*len(items) && table != w.tables.Endpoints {
			t.Errorf("%s: %d items of two tenants, %d of one", table, len(all[table]), len(items))
		}
	}
	want := map[string]int{
		"api_keys": 1, "endpoints": 2, "endpoint_counts": 1, "marks": 1, "health": 2, "backlog": 1, "deliveries": 2,
		"dead_letters": 1, "jobs": 1,
	}
	for _, step := range []struct {
		fields string
		counts map[string]int
		left   map[string][]string
	}{
		{`"dry_run":true`, want, all},
		{`"confirm":"initech"`, want, others},
		{`"confirm":"initech"`, map[string]int{}, others},
	} {
		answer := ask[replay.Erased](t, w, "erase", `"tenant_id":"initech",`+step.fields)
		for kind := range want {
			if answer.Counts[kind] != step.counts[kind] {
				t.Errorf("%s: %d of %s, want %d", step.fields, answer.Counts[kind], kind, step.counts[kind])
			}
		}
		if diff := cmp.Diff(step.left, w.stored(t)); diff != "" || answer.NextCursor != nil {
			t.Errorf("%s: %+v, left (-want +got):\n%s", step.fields, answer, diff)
		}
	}
}

// stored are all items, by table.
func (w *world) stored(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range []string{
		w.tables.ApiKeys, w.tables.Endpoints, w.tables.EndpointHealth, w.tables.Backlog, w.tables.Deliveries,
		w.tables.DeadLetters, w.tables.Jobs,
	} {
		out, err := dynamodb.NewFromConfig(w.cfg).Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			var plain map[string]any
			if err := attributevalue.UnmarshalMap(item, &plain); err != nil {
				t.Fatal(err)
			}
			all[table] = append(all[table], fmt.Sprint(plain))
		}
		slices.Sort(all[table])
	}
	return all
}

// settle gives a tenant something of everything that is stored.
func (w *world) settle(t *testing.T, tenant string) {
	t.Helper()
	ctx, db, now := t.Context(), dynamodb.NewFromConfig(w.cfg), time.Now().UTC().Truncate(time.Millisecond)
	live := endpoint.Endpoint{
		ID: "webhook_" + tenant, TenantID: tenant, URL: "https://example.com/", Events: []string{"*"},
		Status: endpoint.Active, CreatedAt: now, UpdatedAt: now, SecretVersion: 1, SealedSecret: []byte("sealed"),
		Revision: "1",
	}
	gone := live
	gone.ID += "_gone"
	deleted := gone
	deleted.Status, deleted.DeletedAt, deleted.Revision = endpoint.Deleted, now, "2"
	key := dynamo.EndpointKey{TenantID: tenant, EndpointID: live.ID}
	m := message(tenant, live.ID, "event_"+tenant, now)
	waits := backlog.New(m, delivery.Move{Due: now, Held: true, Life: m.Life}, now, "random")
	acknowledged := delivery.Record{Ref: m.Ref, State: delivery.Acknowledged, UpdatedAt: now}
	acknowledged.DeliveryID = "msg_acknowledged_" + tenant
	endpoints, circuits := dynamo.NewEndpoints(db, w.tables.Endpoints), dynamo.NewCircuits(db, w.tables.EndpointHealth)
	_, _, marked := endpoints.Mark(ctx, key, func(m *endpoint.Marks) bool { return m.Pause(now, "ann", "") })
	_, held := circuits.Hold(ctx, key, now, now)
	_, charged := circuits.Charge(ctx, tenant, time.Hour, now)
	err := errors.Join(
		dynamo.NewAPIKeys(db, w.tables.ApiKeys).Put(ctx, apikey.Key{ID: "01" + tenant, TenantID: tenant, CreatedAt: now}),
		endpoints.Create(ctx, live, nil), endpoints.Create(ctx, gone, nil), endpoints.Replace(ctx, gone, deleted),
		marked, held, charged,
		errors.Join(dynamo.NewBacklog(db, w.tables.Backlog).Put(ctx, []backlog.Item{waits})...),
		dynamo.NewDeliveries(db, w.tables.Deliveries).Acknowledge(ctx, []delivery.Record{acknowledged}),
		w.runJob(t, tenant, now),
	)
	if err != nil {
		t.Fatal(err)
	}
	w.die(t, m)
}

// runJob stores a job and pages of its results.
func (w *world) runJob(t *testing.T, tenant string, now time.Time) error {
	t.Helper()
	jobs := dynamo.NewJobs(dynamodb.NewFromConfig(w.cfg), w.tables.Jobs)
	j := job.Job{
		ID: "job_" + tenant, Act: job.Purge, Selector: job.Selector{TenantID: tenant}, State: job.Done, StartedAt: now,
	}
	_, _, err := jobs.Create(t.Context(), j)
	for number := range 3 {
		page := job.Page{Number: number + 1, Done: []string{fmt.Sprint("msg_", number)}}
		err = errors.Join(err, jobs.PutPage(t.Context(), j, page))
	}
	return err
}
