//go:build emulator

package inspect_test

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/inspect"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var (
	inTrouble = flag.Int("trouble", 120, "endpoints in trouble")
	letters   = flag.Int("letters", 100, "dead letters")
)

// The first looks of operators cost calls by the hundred endpoints, and scans no table. The defaults are small; with
// -trouble 1000 -letters 10000 it shows the figures of a bad night after some minutes.
func TestViewsScanNothing(t *testing.T) {
	cfg := testkit.Moto(t)
	tables, faults := testkit.Tables(t, cfg), testkit.NewFaults(cfg)
	h := inspect.New(inspect.Config{
		Settings: inspect.Settings{
			EndpointsTable: tables.Endpoints, EndpointHealthTable: tables.EndpointHealth, BacklogTable: tables.Backlog,
			DeliveriesTable: tables.Deliveries, DeadLettersTable: tables.DeadLetters, MaxLifeDays: 7,
		},
		AWS: faults.Config(), Log: slog.New(slog.DiscardHandler),
	})
	h.Queues = nil // SQS is measured elsewhere: six calls
	fill(t, dynamodb.NewFromConfig(cfg), tables)
	hundreds := func(n int) int { return (n + 99) / 100 }
	rows := 2 * hundreds(*inTrouble+1) // rows and circuits
	// A page of a partition has 1 MB: 2,000 letters at least, as they are in the index.
	deaths := backlog.Shards * (1 + *letters/(2000*backlog.Shards))
	trouble := 2 + rows + 16 // with the backlog
	for _, view := range []struct {
		action, fields string
		most           int
	}{
		{"summary", "", trouble + 3*backlog.Shards + deaths},
		{"summary", `"causes":true`, trouble + 2*backlog.Shards + deaths + 2}, // all that status reads of dead letters
		{"endpoints", `"limit":20`, 1 + 2 + 16 + 2},                           // with the contacts of two tenants' endpoints
		{"endpoints", `"tenant_id":"tenant_0"`, 1 + 2 + 16 + 1},               // its 50, without the one that is deleted
		{"causes", "", deaths + 2},
	} {
		faults.Reset()
		begin := time.Now()
		testkit.Read[map[string]any](t, testkit.Ask(t, h.Function(), view.action, view.fields))
		calls, scans := len(faults.Calls("")), len(faults.Calls("Scan"))
		t.Logf("%s: %d calls in %s", view.action, calls, time.Since(begin).Round(time.Millisecond))
		if calls > view.most || scans > 0 {
			t.Errorf("%s: %d calls, %d of them scans; want at most %d and no scan", view.action, calls, scans, view.most)
		}
	}
	got := testkit.Read[api.Summary](t, testkit.Ask(t, h.Function(), "summary", ""))
	if got.Endpoints.States["open"] != *inTrouble || got.DeadLetters["dead"].Count != *letters {
		t.Errorf("%+v", got)
	}
}

// A row with a time that is none hides no other of its tenant, and the circuit of a deleted endpoint hides none.
func TestEndpointsOfATenantAreShownThoughOneIsBroken(t *testing.T) {
	cfg := testkit.Moto(t)
	tables, client := testkit.Tables(t, cfg), dynamodb.NewFromConfig(cfg)
	h := inspect.New(inspect.Config{AWS: cfg, Log: slog.New(slog.DiscardHandler), Settings: inspect.Settings{
		EndpointsTable: tables.Endpoints, EndpointHealthTable: tables.EndpointHealth, BacklogTable: tables.Backlog,
	}})
	well := endpoint.Endpoint{TenantID: "acme", ID: "webhook_2", Status: endpoint.Active, URL: "https://a.example/"}
	if err := dynamo.NewEndpoints(client, tables.Endpoints).Create(t.Context(), well, nil); err != nil {
		t.Fatal(err)
	}
	put(t, client, tables.Endpoints, "tenant_id", "acme", "endpoint_id", "webhook_1", "created_at", "yesterday")
	put(t, client, tables.Endpoints, "tenant_id", "acme", "endpoint_id", "deleted#webhook_3")
	put(t, client, tables.EndpointHealth, "scope", "endpoint#webhook_3", "name", "health", "since", "yesterday")
	answer := testkit.Ask(t, h.Function(), "endpoints", `"tenant_id":"acme"`)
	states := map[string]api.State{}
	for _, e := range testkit.Read[api.List[api.ListedEndpoint]](t, answer).Data {
		states[e.EndpointID] = e.State
	}
	if diff := cmp.Diff(map[string]api.State{"webhook_1": "unreadable", "webhook_2": "healthy"}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	answer = testkit.Ask(t, h.Function(), "endpoint", `"tenant_id":"acme","endpoint_id":"a.example"`)
	if got := testkit.Refusal(t, answer); got != "invalid_field endpoint_id" { // webhook_1 may have this host, too
		t.Errorf("found by its host: %s", answer)
	}
}

// put stores an item of texts.
func put(t *testing.T, client *dynamodb.Client, table string, texts ...string) {
	t.Helper()
	item := map[string]types.AttributeValue{}
	for pair := range slices.Chunk(texts, 2) {
		item[pair[0]] = &types.AttributeValueMemberS{Value: pair[1]}
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

// fill stores endpoints in trouble, 50 of a tenant, a deleted one, and dead letters.
func fill(t *testing.T, client *dynamodb.Client, tables testkit.TableNames) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	put(t, client, tables.Endpoints, "tenant_id", "tenant_0", "endpoint_id", "deleted#webhook_gone", "status", "deleted")
	endpoints := dynamo.NewEndpoints(client, tables.Endpoints)
	circuits := dynamo.NewCircuits(client, tables.EndpointHealth)
	dead := dynamo.NewDeadLetters(client, tables.DeadLetters)
	endpointErrs := parallel.Each(*inTrouble, 8, func(n int) error {
		tenant, id := fmt.Sprint("tenant_", n/50), fmt.Sprint("webhook_", n)
		e := endpoint.Endpoint{ID: id, TenantID: tenant, Events: []string{"user.*"}, Status: endpoint.Active}
		open := circuit.Item{TenantID: tenant, EndpointID: id, Version: 1, State: circuit.Open, Since: now}
		_, _, err := circuits.Store(t.Context(), circuit.Item{}, open)
		return errors.Join(err, endpoints.Create(t.Context(), e, nil))
	})
	letterErrs := parallel.Each(*letters, 8, func(n int) error {
		_, err := dead.Create(t.Context(), deadletter.Record{
			Ref:    delivery.Ref{DeliveryID: fmt.Sprint("msg_", n), TenantID: "tenant_0", EndpointID: "webhook_0"},
			Reason: delivery.ReasonHTTP5xx, DiedAt: now.Add(time.Duration(n) * time.Millisecond),
		})
		return err
	})
	if err := errors.Join(append(endpointErrs, letterErrs...)...); err != nil {
		t.Fatal(err)
	}
}
