//go:build emulator

package dynamo_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/storetest"
)

func TestStores_keepTheirContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Backend {
		t.Helper()
		r := newRig(t)
		return storetest.Backend{
			Circuits: r.circuits, WithoutNotices: r.circuits.WithoutNotices(), Backlog: r.backlog,
			Tokens: dynamo.NewTokens(r.faulty, r.tables.EndpointHealth),
			Rates:  dynamo.NewRates(r.faulty, r.tables.EndpointHealth), Deliveries: r.deliveries,
			TestCounts:  dynamo.NewTestCounts(r.faulty, r.tables.Deliveries),
			DeadLetters: r.letters, Jobs: r.jobs, APIKeys: r.keys, Endpoints: r.endpoints,
			AtMostThree: r.endpoints.Most(3),
			Reader:      r.reader(dynamo.ReaderConfig{}), Unheard: r.unheard, Breaker: r,
		}
	})
}

var writes = []string{"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}

// unheard loses the answer to every try of a write.
func (r rig) unheard(do func()) {
	r.faults.Add(testkit.Rule{
		When: func(c testkit.Call) bool { return slices.Contains(writes, c.Action) }, Fault: testkit.DropAnswer(),
	})
	defer r.faults.Clear()
	do()
}

func (r rig) BreakCircuit(endpointID string) {
	r.breaks(r.tables.EndpointHealth, "since", keyOf("scope", "endpoint#"+endpointID, "name", "health"))
}

func (r rig) BreakWaiting(k backlog.Key) {
	shard := fmt.Sprint(k.EndpointID, "#", k.Shard)
	r.breaks(r.tables.Backlog, "version", keyOf("endpoint_shard", shard, "position", k.Position))
}

func (r rig) BreakDelivery(id string) {
	r.breaks(r.tables.Deliveries, "attempts", keyOf("delivery_id", id))
}

func (r rig) BreakLetter(id string) {
	r.breaks(r.tables.DeadLetters, "attempts", keyOf("delivery_id", id))
}

func (r rig) BreakEndpoint(key dynamo.EndpointKey) {
	r.breaks(r.tables.Endpoints, "events", rowKey(key.TenantID, key.EndpointID))
}

func (r rig) BreakMarks(tenantID string) {
	r.breaks(r.tables.Endpoints, "tenant", rowKey("marks#"+tenantID, "#marks"))
}
