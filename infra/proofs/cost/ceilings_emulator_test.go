//go:build emulator

package cost

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// full is a circuit in the middle of all that one can be in.
func full(endpointID string, now time.Time) circuit.Item {
	spell := circuit.Spell{At: now, Reason: "http_5xx", Status: 503, Told: true, EndedAt: now}
	return circuit.Item{
		TenantID: tenantID(0), EndpointID: endpointID, Version: 1, State: circuit.Recovering, Since: now, HeldUntil: now,
		Failures: 50, FailingSince: now, OutageSince: now, Probes: 5, ProbedAt: now, RecoveredAt: now,
		Deliveries: []string{fmt.Sprintf("msg_%032d", 1), fmt.Sprintf("msg_%032d", 2), fmt.Sprintf("msg_%032d", 3)},
		Last:       circuit.Answer{At: now, Status: 503, Reason: "http_5xx"},
		Pace:       circuit.Pace{Quota: 960, Oldest: now}, Outage: spell, Pause: spell, Death: spell,
		Recent: circuit.Recent{Start: now, Tried: 1000, OK: 900, TriedWas: 1000, OKWas: 900},
	}
}

// The arithmetic of ceilings uses the units that DynamoDB reports. A write to a table with one index reports the item's
// own unit, and the rest is for the entry in the index.
func TestTheUnitsOfCeilings(t *testing.T) {
	r := newRig(t, traffic{})
	for n := range endpoint.MaxLive {
		r.subscribe(0, n)
	}
	client := dynamodb.NewFromConfig(r.counted(r.cfg.Copy()))
	of := func(table string) string { return r.options.Resources[table] }
	reader := dynamo.NewReader(dynamo.ReaderConfig{
		Client: client, Endpoints: of("Endpoints"), EndpointHealth: of("EndpointHealth"), EventualCircuits: true,
	})
	subscribed := must(dynamo.NewEndpoints(client, of("Endpoints")).Subscriptions(t.Context(), tenantID(0)))
	keys, quiet := make([]dynamo.EndpointKey, 10), map[dynamo.EndpointKey]bool{}
	for n := range keys {
		keys[n] = dynamo.EndpointKey{TenantID: tenantID(0), EndpointID: subscribed[n].ID}
		quiet[keys[n]] = true
	}
	ref := delivery.Ref{
		DeliveryID: fmt.Sprintf("msg_%032d", 1), TenantID: tenantID(0), EndpointID: keys[0].EndpointID,
		EventID: "evt_01JD00000000000000000000", CreatedAt: r.now,
	}
	small := delivery.Message{Ref: ref, Attempts: 1, Body: make([]byte, 300), Life: delivery.Life{StartedAt: r.now}}
	large := small
	large.Body = make([]byte, 250*1024)
	put := func(m delivery.Message) func() error {
		return func() error {
			move := delivery.Move{Attempts: 1, Life: m.Life, Due: r.now.Add(time.Hour), Held: true}
			item := backlog.New(m, move, r.now, fmt.Sprint("put_", len(m.Body)))
			return dynamo.NewBacklog(client, of("Backlog")).Put(t.Context(), []backlog.Item{item})[0]
		}
	}
	const marks, own, three = 1, 1, 3 // units of the tenant's marks, of an item, and its indexes
	for _, row := range []struct {
		name string
		want float64
		kind kind
		does func() error
	}{
		{"subscriptions of fifty", unitsOfRows, reads, func() error {
			_, err := dynamo.NewEndpoints(client, of("Endpoints")).Subscriptions(t.Context(), tenantID(0))
			return err
		}},
		{"ten endpoints", 10*unitsOfRow + marks, reads, func() error {
			_, err := reader.Read(t.Context(), keys, quiet)
			return err
		}},
		{"an open delivery", own + unitsOfEntry, writes, func() error {
			_, err := dynamo.NewDeliveries(client, of("Deliveries")).Update(t.Context(), delivery.Record{
				Ref: ref, EventType: "user.updated", State: delivery.Waiting, Attempts: 1, UpdatedAt: r.now,
			})
			return err
		}},
		{"a death", own + three*unitsOfEntry, writes, func() error {
			_, err := dynamo.NewDeadLetters(client, of("DeadLetters")).Create(t.Context(), deadletter.Record{
				Ref: ref, EventType: "user.updated", Reason: delivery.ReasonHTTP5xx, Attempts: 10, DiedAt: r.now,
				Sealed: deadletter.Sealed{Body: make([]byte, 300)},
			})
			return err
		}},
		{"a small event in Backlog", own + unitsOfEntry, writes, put(small)},
		{"a large event in Backlog", unitsOfLargest + unitsOfEntry, writes, put(large)},
		{"the first write of a circuit, with its entry", unitsOfCircuit + unitsOfEntry, writes, func() error {
			circuits := dynamo.NewCircuits(client, of("EndpointHealth"))
			_, _, err := circuits.Store(t.Context(), circuit.Item{}, full(ref.EndpointID, r.now))
			return err
		}},
	} {
		before := r.used[row.kind]
		must(0, row.does())
		if got := r.used[row.kind] - before; got != row.want {
			t.Errorf("%s: %v units, want %v", row.name, got, row.want)
		}
	}
}
