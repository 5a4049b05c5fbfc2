//go:build emulator

package inspect_test

import (
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var (
	inTrouble = flag.Int("trouble", 120, "endpoints in trouble")
	letters   = flag.Int("letters", 300, "dead letters")
)

// What operators look at first costs calls by the hundred endpoints, and scans no table. The defaults are small; with
// -trouble 1000 -letters 10000 it shows the figures of a bad night.
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
	for _, view := range []struct {
		action, fields string
		most           int
	}{
		{"summary", "", 2 + rows + 16 + 2*3 + *letters/2000},
		{"endpoints", `"limit":20`, 1 + 2 + 16},
		{"causes", "", 1 + *letters/2000 + 2},
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
	got := testkit.Read[inspect.Summary](t, testkit.Ask(t, h.Function(), "summary", ""))
	if got.Endpoints.States["open"] != *inTrouble || got.DeadLetters["dead"].Count != *letters {
		t.Errorf("%+v", got)
	}
}

// fill stores many like one.
func fill(t *testing.T, client *dynamodb.Client, tables testkit.TableNames) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	err := dynamo.NewEndpoints(client, tables.Endpoints).Create(t.Context(), endpoint.Endpoint{
		ID: "webhook_0", TenantID: "acme", URL: "https://example.com/", Events: []string{"user.*"},
		Status: endpoint.Active, CreatedAt: now, UpdatedAt: now, SecretVersion: 1, SealedSecret: []byte("sealed"),
		Revision: "1",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	open := circuit.Item{TenantID: "acme", EndpointID: "webhook_0", Version: 1, State: circuit.Open, Since: now}
	circuits := dynamo.NewCircuits(client, tables.EndpointHealth)
	if _, applied, err := circuits.Store(t.Context(), circuit.Item{}, open); err != nil || !applied {
		t.Fatal(applied, err)
	}
	text := func(format string, a ...any) types.AttributeValue {
		return &types.AttributeValueMemberS{Value: fmt.Sprintf(format, a...)}
	}
	type item = map[string]types.AttributeValue
	many := func(table string, n int, like item, change func(i int, to item)) {
		var writes []types.WriteRequest
		for i := range n {
			to := maps.Clone(like)
			change(i, to)
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: to}})
		}
		for call := range slices.Chunk(writes, 25) {
			if _, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{table: call},
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	first := func(table string, key item) item {
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
		if err != nil || len(out.Item) == 0 {
			t.Fatal(table, err)
		}
		return out.Item
	}
	row := first(tables.Endpoints, item{"tenant_id": text("acme"), "endpoint_id": text("webhook_0")})
	many(tables.Endpoints, *inTrouble, row, func(i int, to item) { to["endpoint_id"] = text("webhook_%d", i) })
	health := first(tables.EndpointHealth, item{"scope": text("endpoint#webhook_0"), "name": text("health")})
	many(tables.EndpointHealth, *inTrouble, health, func(i int, to item) {
		to["scope"], to["endpoint_id"] = text("endpoint#webhook_%d", i), text("webhook_%d", i)
	})
	letter := item{
		"tenant_id": text("acme"), "endpoint_id": text("webhook_0"), "event_id": text("evt_1"), "status": text("dead"),
		"event_type": text("user.created"), "reason": text("http_5xx"), "created_at": text("2026-05-01T12:00:00.000Z"),
	}
	many(tables.DeadLetters, *letters, letter, func(i int, to item) {
		to["delivery_id"] = text("msg_%d", i)
		to["died_at"] = text("%s", now.Add(time.Duration(i)*time.Millisecond).Format("2006-01-02T15:04:05.000Z"))
	})
}
