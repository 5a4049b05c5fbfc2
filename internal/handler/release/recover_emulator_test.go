//go:build emulator

package release_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
)

const tenant, hook = "acme", "webhook_1"

// On real tables and queues: deliveries are held under a lease, found, sent and deleted; the recovery ends,
// then the lease, then the item.
func TestARecoveryEndToEnd(t *testing.T) {
	cfg := testkit.Moto(t)
	tables, db := testkit.Tables(t, cfg), dynamodb.NewFromConfig(cfg)
	retries := testkit.NewQueue(t, cfg, "RetryQueue")
	circuits, waiting := dynamo.NewCircuits(db, tables.EndpointHealth), dynamo.NewBacklog(db, tables.Backlog)
	now := time.Now().UTC().Truncate(time.Millisecond)
	h, err := release.New(release.Config{
		Settings: release.Settings{
			EndpointsTable: tables.Endpoints, DeliveriesTable: tables.Deliveries, BacklogTable: tables.Backlog,
			EndpointHealthTable: tables.EndpointHealth, RetryQueueURL: retries.URL,
			DeadLetterQueueURL: testkit.NewQueue(t, cfg, "DeadLetterQueue").URL,
			JobsTable:          tables.Jobs, ReplayFunction: "replay",
			Minute: 60, FunctionTimeout: 30, RetryBase: 5, RetryFactor: 4, MaxRetries: 9, LongWait: 150,
			MaxLifeDays: 7, MaximumConcurrency: 200, AttemptTimeout: 15,
		},
		AWS: cfg, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Metrics: telemetry.NewMetrics(t.Output(), "test", "release", time.Now),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Now = func() time.Time { return now }
	if err := dynamo.NewEndpoints(db, tables.Endpoints).Create(t.Context(), endpoint.Endpoint{
		ID: hook, TenantID: tenant, URL: "https://receiver.example/hook", Events: []string{"*"},
		Status: endpoint.Active, CreatedAt: now, UpdatedAt: now, SecretVersion: 1, SealedSecret: []byte("sealed"),
		Revision: "0",
	}, nil); err != nil {
		t.Fatal(err)
	}
	key := dynamo.EndpointKey{TenantID: tenant, EndpointID: hook}
	if _, err := circuits.Hold(t.Context(), key, now.Add(5*time.Minute), now); err != nil {
		t.Fatal(err)
	}
	want := hold(t, waiting, now)

	run := func(after time.Duration) circuit.Item {
		t.Helper()
		now = now.Add(after)
		if err := h.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		i, err := circuits.Get(t.Context(), hook)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	if got := run(time.Second).State; got != circuit.Recovering {
		t.Fatalf("found, it is %q", got)
	}
	if got := run(time.Minute); got.State != circuit.None || got.HeldUntil.IsZero() {
		t.Errorf("sent, it is %+v", got)
	}
	var sent []string
	for len(sent) < len(want) {
		for _, m := range testkit.Receive(t, cfg, retries, 5*time.Second) {
			sent = append(sent, *m.MessageAttributes["delivery_id"].StringValue)
		}
	}
	slices.Sort(sent)
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (-want +got)\n%s", diff)
	}
	if left, err := waiting.Count(t.Context(), hook); err != nil || left.Items != 0 {
		t.Errorf("%+v waits, %v", left, err)
	}
	if got := run(5 * time.Minute); got.Version == 0 || !got.HeldUntil.IsZero() {
		t.Errorf("after the lease it is %+v", got)
	}
	if got := run(5 * time.Minute); got.Version != 0 {
		t.Errorf("after ten minutes it is %+v", got)
	}
}

// hold puts three deliveries into Backlog as held and returns their ids.
func hold(t *testing.T, waiting *dynamo.Backlog, now time.Time) (ids []string) {
	t.Helper()
	var items []backlog.Item
	for n := range 3 {
		created := now.Add(time.Duration(n-60) * time.Minute)
		m := delivery.Message{
			Ref: delivery.Ref{
				DeliveryID: fmt.Sprintf("msg_%d", n), TenantID: tenant, EndpointID: hook, EventID: "event_1",
				CreatedAt: created,
			},
			Body: []byte(`{"type":"user.created","data":{}}`),
		}
		move := delivery.Move{
			Held: true, Due: created.Add(7 * 24 * time.Hour), Life: delivery.Life{StartedAt: created, DueAt: created},
		}
		items = append(items, backlog.New(m, move, created, "random00"))
		ids = append(ids, m.DeliveryID)
	}
	for _, err := range waiting.Put(t.Context(), items) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return ids
}
