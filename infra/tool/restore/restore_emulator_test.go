//go:build emulator

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// scene is a stack's tables and copies of them.
type scene struct {
	t           *testing.T
	faults      *testkit.Faults
	client      *dynamodb.Client
	own, copied testkit.TableNames

	kms            *kms.Client
	oldKey, ownKey string
}

func newScene(t *testing.T) scene {
	t.Helper()
	cfg := testkit.Moto(t)
	s := scene{
		t: t, faults: testkit.NewFaults(cfg), own: testkit.Tables(t, cfg), copied: testkit.Tables(t, cfg),
		kms: kms.NewFromConfig(cfg), oldKey: testkit.Key(t, cfg), ownKey: testkit.Key(t, cfg),
	}
	s.client = dynamodb.NewFromConfig(s.faults.Config(), func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	return s
}

func tableOf(n testkit.TableNames, id string) string {
	return map[string]string{
		"Endpoints": n.Endpoints, "ApiKeys": n.ApiKeys, "DeadLetters": n.DeadLetters, "Backlog": n.Backlog,
	}[id]
}

// restorer is the command's, past the search for the tables.
func (s scene) restorer(o options) *restorer {
	s.t.Helper()
	o.stack, o.from = "test", tableOf(s.copied, o.table)
	if o.rate == 0 {
		o.rate = 10_000
	}
	if err := o.complete(); err != nil {
		s.t.Fatal(err)
	}
	return &restorer{
		options: o, plan: plans[o.table], client: s.client, kms: s.kms, ownKey: s.ownKey,
		into: tableOf(s.own, o.table), deliveries: s.own.Deliveries, health: s.own.EndpointHealth,
		writes: time.NewTicker(time.Second / time.Duration(o.rate)),
	}
}

// restore runs the command.
func (s scene) restore(o options) (counts, error) {
	s.t.Helper()
	r := s.restorer(o)
	err := r.run(s.t.Context())
	return r.done, err
}

// restored restores all of a table and compares the counts.
func (s scene) restored(o options, want counts) {
	s.t.Helper()
	got, err := s.restore(o)
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("%s (-want +got)\n%s", o.table, diff)
	}
}

func made(t *testing.T, s *dynamo.Endpoints, tenant string) endpoint.Endpoint {
	t.Helper()
	e := endpoint.Endpoint{
		ID: endpoint.NewID(at), TenantID: tenant, URL: "https://example.com/hooks", Status: endpoint.Active,
		Events: []string{"*"}, CreatedAt: at, UpdatedAt: at,
		SecretVersion: 1, SealedSecret: []byte("sealed"), Revision: rand.Text(),
	}
	if err := s.Create(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
	return e
}

// change replaces an endpoint by its owner.
func change(t *testing.T, s *dynamo.Endpoints, e endpoint.Endpoint, with func(*endpoint.Endpoint)) endpoint.Endpoint {
	t.Helper()
	now := e
	now.Revision = rand.Text()
	with(&now)
	if err := s.Replace(t.Context(), e, now); err != nil {
		t.Fatal(err)
	}
	return now
}

func gone(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Deleted, at }
func back(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Active, time.Time{} }
func moved(e *endpoint.Endpoint) {
	e.URL = "https://example.com/moved"
}

// duplicate copies all of a table.
func (s scene) duplicate(from, to string) {
	s.t.Helper()
	out, err := s.client.Scan(s.t.Context(), &dynamodb.ScanInput{TableName: &from})
	for _, i := range out.Items {
		s.put(to, i)
	}
	if err != nil || len(out.Items) == 0 {
		s.t.Fatal(out, err)
	}
}

func (s scene) put(table string, i item) {
	s.t.Helper()
	if _, err := s.client.PutItem(s.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: i}); err != nil {
		s.t.Fatal(err)
	}
}

func (s scene) lose(table string, key item) {
	s.t.Helper()
	_, err := s.client.DeleteItem(s.t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key})
	if err != nil {
		s.t.Fatal(err)
	}
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func endpointRow(tenant, key string) item {
	return item{"tenant_id": str(tenant), "endpoint_id": str(key)}
}

func TestRestore_Endpoints_bringsBackWhatIsMissingAndNothingElse(t *testing.T) {
	s := newScene(t)
	store := dynamo.NewEndpoints(s.client, s.own.Endpoints)
	lost, changed, deleted := made(t, store, "acme"), made(t, store, "acme"), made(t, store, "acme")
	restored := change(t, store, made(t, store, "acme"), gone)
	other := made(t, store, "other")
	marks := endpointRow(marksPrefix+"acme", "#marks")
	s.put(s.own.Endpoints, marks)
	s.duplicate(s.own.Endpoints, s.copied.Endpoints)

	s.lose(s.own.Endpoints, marks)
	changed = change(t, store, changed, moved)
	deleted = change(t, store, deleted, gone)
	restored = change(t, store, restored, back)
	s.lose(s.own.Endpoints, endpointRow("acme", lost.ID))
	s.lose(s.own.Endpoints, endpointRow("other", other.ID))
	s.lose(s.own.Endpoints, endpointRow("other", countsKey))
	later := made(t, store, "other")

	s.restored(options{table: "Endpoints", dryRun: true}, counts{Read: 8, Restored: 3, Kept: 3, Left: 2})
	s.restored(options{table: "Endpoints", dryRun: true, tenant: "acme"}, counts{Read: 6, Restored: 2, Kept: 2, Left: 2})
	// acme's number was right before its endpoint was lost, and is again.
	s.restored(options{table: "Endpoints"}, counts{Read: 8, Restored: 3, Kept: 3, Left: 2, Mended: 1})
	s.restored(options{table: "Endpoints"}, counts{Read: 8, Kept: 6, Left: 2})
	for tenant, want := range map[string][]endpoint.Endpoint{
		"acme": {lost, changed, deleted, restored}, "other": {other, later},
	} {
		got, err := store.List(t.Context(), tenant)
		byID := cmpopts.SortSlices(func(a, b endpoint.Endpoint) bool { return a.ID < b.ID })
		if diff := cmp.Diff(want, got, byID); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", tenant, err, diff)
		}
	}
	row, err := s.client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &s.own.Endpoints, Key: endpointRow("other", countsKey),
	})
	if n, ok := row.Item["live_count"].(*types.AttributeValueMemberN); err != nil || !ok || n.Value != "2" {
		t.Errorf("count of other: %v, %v", row.Item, err)
	}
}

func TestRestore_overwritesOnlyWhereItIsTold(t *testing.T) {
	s := newScene(t)
	store := dynamo.NewEndpoints(s.client, s.own.Endpoints)
	spoilt, same := made(t, store, "acme"), made(t, store, "acme")
	s.duplicate(s.own.Endpoints, s.copied.Endpoints)
	change(t, store, spoilt, moved)
	late := []item{endpointRow("acme", same.ID)} // it has come since the restore looked, and stays as it is
	if err := s.restorer(options{table: "Endpoints"}).write(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	s.restored(options{table: "Endpoints", overwrite: true}, counts{Read: 3, Restored: 1, Kept: 2})
	for _, want := range []endpoint.Endpoint{spoilt, same} {
		got, _, err := store.Get(t.Context(), "acme", want.ID)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}
}

// waiting is an item of Backlog.
func waiting(n int, held bool) backlog.Item {
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: fmt.Sprintf("msg_%032d", n), TenantID: "acme", EndpointID: "webhook_1", EventID: "e",
			CreatedAt: at, Replay: 1,
		},
		Body: []byte(`{"type":"user.created","data":{}}`),
	}
	life := delivery.Life{StartedAt: at, DueAt: at.Add(time.Hour)}
	return backlog.New(m, delivery.Move{Attempts: 4, Due: at.Add(time.Hour), Held: held, Life: life}, at, "random23")
}

func TestRestore_Backlog_leavesOutWhatHasEnded(t *testing.T) {
	s := newScene(t)
	var all []backlog.Item
	for n := range 6 {
		all = append(all, waiting(n, n == 5))
	}
	for _, err := range dynamo.NewBacklog(s.client, s.copied.Backlog).Put(t.Context(), all) {
		if err != nil {
			t.Fatal(err)
		}
	}
	records := dynamo.NewDeliveries(s.client, s.own.Deliveries)
	for n, end := range []struct {
		state  delivery.State
		replay int
	}{
		0: {delivery.Acknowledged, 1}, 1: {delivery.Discarded, 1}, 2: {delivery.Dead, 1}, 3: {delivery.Dead, 0},
		4: {delivery.Retrying, 1},
	} {
		r := delivery.Record{Ref: all[n].Message.Ref, State: end.state, UpdatedAt: at}
		r.Replay = end.replay
		if end.state == delivery.Acknowledged {
			if err := records.Acknowledge(t.Context(), []delivery.Record{r}); err != nil {
				t.Fatal(err)
			}
		} else if written, err := records.Update(t.Context(), r); err != nil || !written {
			t.Fatal(written, err)
		}
	}
	s.restored(options{table: "Backlog", dryRun: true}, counts{Read: 6, Restored: 3, Left: 3})
	s.restored(options{table: "Backlog"}, counts{Read: 6, Restored: 3, Left: 3})
	s.restored(options{table: "Backlog"}, counts{Read: 6, Kept: 3, Left: 3})
	keys := []backlog.Key{}
	for _, i := range all {
		keys = append(keys, i.Key)
	}
	page, err := dynamo.NewBacklog(s.client, s.own.Backlog).BatchGet(t.Context(), keys)
	byPosition := cmpopts.SortSlices(func(a, b backlog.Item) bool { return a.Position < b.Position })
	if diff := cmp.Diff(dynamo.Page{Items: all[3:]}, page, byPosition); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	circuit, err := dynamo.NewCircuits(s.client, s.own.EndpointHealth).Get(t.Context(), "webhook_1")
	if err != nil || time.Until(circuit.HeldUntil) < leased/2 || circuit.TenantID != "acme" {
		t.Errorf("release would not look for what is held: %+v, %v", circuit, err)
	}
}

func TestRestore_writesAgainOnlyWhatABrokenOffRunDidNot(t *testing.T) {
	s := newScene(t)
	const items = 250
	for n := range items {
		s.put(s.copied.DeadLetters, item{"delivery_id": str(fmt.Sprintf("msg_%03d", n)), "body": str("sealed")})
	}
	s.restored(options{table: "DeadLetters", dryRun: true}, counts{Read: items, Restored: items})
	s.faults.Reset()
	s.faults.Add(testkit.Rule{
		Action: "PutItem", After: 150, Fault: testkit.Fail(400, "ProvisionedThroughputExceededException"),
	})
	if _, err := s.restore(options{table: "DeadLetters"}); err == nil {
		t.Fatal("what is not written is no error")
	}
	s.faults.Clear()
	s.restored(options{table: "DeadLetters"}, counts{Read: items, Restored: items - 150, Kept: 150})
}

func TestRestore_endsWhenItIsInterrupted(t *testing.T) {
	s := newScene(t)
	s.put(s.copied.ApiKeys, item{"key_id": str("1")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := s.restorer(options{table: "ApiKeys"})
	r.writes.Reset(time.Hour)
	if err := r.write(ctx, []item{{"key_id": str("1")}}); err == nil {
		t.Error("it writes on")
	}
	if calls := s.faults.Calls("PutItem"); len(calls) != 1 { // the scene's own
		t.Errorf("%d writes", len(calls))
	}
}
