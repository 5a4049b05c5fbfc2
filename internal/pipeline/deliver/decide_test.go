package deliver

import (
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// TestDecide documents everything that stands between a delivery and its attempt. internal/rules/endpoint has the order
// of the answers of an endpoint where several are true.
func TestDecide(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	active := endpoint.Gate{Found: true, Endpoint: endpoint.Endpoint{Status: endpoint.Active}}
	healthy := dynamo.Reading{Gate: active, CircuitRead: true}
	young := task{from: delivery.DeliveryQueue, place: 1, sentAt: now}
	young.message.Life.StartedAt = now.Add(-time.Minute)
	retry := young
	retry.from, retry.place = delivery.RetryQueue, 5
	probe := retry
	probe.message.Life.Probe, probe.receives = now.Add(-time.Second), 1
	lane := retry
	lane.from = delivery.SlowQueue
	ended := retry
	ended.message.Attempts, ended.message.Life.Reason = 10, delivery.ReasonHTTP5xx
	again := probe
	again.receives = 2
	overdue := lane
	overdue.message.Life.StartedAt, overdue.sentAt = now.Add(-8*24*time.Hour), now.Add(-2*24*time.Hour)
	asked := overdue
	asked.sentAt = now.Add(-time.Hour)

	created := young
	created.message.Body = []byte(`{"type":"user.created","data":{}}`)
	test := young
	test.message.Body = []byte(`{"type":"herald.test","data":{}}`)
	newer := young
	newer.message.Body = []byte(`{"type":"vault.sealed","data":{}}`)

	with := func(change ...func(r *dynamo.Reading)) dynamo.Reading {
		r := healthy
		for _, c := range change {
			c(&r)
		}
		return r
	}
	gone := func(r *dynamo.Reading) { r.Found = false }
	disabled := func(r *dynamo.Reading) { r.Endpoint.Status = endpoint.Disabled }
	paused := func(r *dynamo.Reading) { r.Endpoint.Marks.PausedAt = now }
	pausedTenant := func(r *dynamo.Reading) { r.Tenant.PausedAt = now }
	discarded := func(r *dynamo.Reading) { r.Endpoint.Marks.DiscardedBefore = now }
	state := func(s circuit.State) func(r *dynamo.Reading) {
		return func(r *dynamo.Reading) { r.Circuit = circuit.Item{State: s, Since: now.Add(-time.Minute)} }
	}
	events := func(events ...string) func(r *dynamo.Reading) {
		return func(r *dynamo.Reading) { r.Endpoint.Events = events }
	}
	reopened := func(r *dynamo.Reading) { r.Circuit = circuit.Item{State: circuit.Open, Since: now} }
	slow := func(r *dynamo.Reading) { r.SlowUntil = now.Add(6 * time.Hour) }
	almost := func(r *dynamo.Reading) { r.SlowUntil = now.Add(time.Minute) }

	for name, c := range map[string]struct {
		task    task
		reading dynamo.Reading
		want    decision
	}{
		"an active endpoint's delivery is attempted": {young, with(), decision{post, ""}},
		"so is its retry": {retry, with(), decision{post, ""}},

		"no endpoint":              {young, with(gone), decision{discard, delivery.ReasonEndpointDeleted}},
		"discarded by an operator": {young, with(discarded), decision{discard, delivery.ReasonDiscarded}},
		"unsubscribed by its owner": {
			created, with(events("user.deleted", "organization.*")), decision{discard, delivery.ReasonUnsubscribed},
		},
		"a test, which no endpoint selects": {test, with(events("user.created")), decision{post, ""}},
		"a type that this release lacks":    {newer, with(events("user.created")), decision{post, ""}},
		"disabled by its owner":             {young, with(disabled), decision{hold, delivery.ReasonEndpointDisabled}},
		"paused by an operator": {
			retry, with(paused, state(circuit.Open)), decision{hold, delivery.ReasonEndpointPaused},
		},
		"a paused tenant's": {
			retry, with(pausedTenant, slow), decision{hold, delivery.ReasonEndpointPaused},
		},
		"a probe of a paused endpoint": {
			probe, with(paused, state(circuit.Open)), decision{hold, delivery.ReasonEndpointPaused},
		},
		"an open circuit": {
			young, with(state(circuit.Open), slow), decision{hold, delivery.ReasonCircuitOpen},
		},
		"a probe of an open circuit": {probe, with(state(circuit.Open)), decision{post, ""}},
		"a probe that is received again": {
			again, with(state(circuit.Open)), decision{hold, delivery.ReasonCircuitOpen},
		},
		"the last place used":                    {ended, with(), decision{bury, delivery.ReasonHTTP5xx}},
		"a probe from before the circuit opened": {probe, with(reopened), decision{hold, delivery.ReasonCircuitOpen}},

		"a slow tenant's first attempt":                  {young, with(slow), decision{aside, delivery.ReasonTenantSlow}},
		"a slow tenant's retry":                          {retry, with(slow), decision{aside, delivery.ReasonTenantSlow}},
		"a slow tenant's probe, where it is received":    {probe, with(state(circuit.Open), slow), decision{post, ""}},
		"a slow tenant's delivery on SlowQueue":          {lane, with(slow), decision{post, ""}},
		"a tenant that is slow no longer, on SlowQueue":  {lane, with(), decision{post, ""}},
		"a tenant within its allowance":                  {young, with(almost), decision{post, ""}},
		"sent to SlowQueue in its life, received after":  {overdue, with(), decision{bury, delivery.ReasonTenantSlow}},
		"sent to SlowQueue after its life, by a release": {asked, with(), decision{post, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := decide(c.task, c.reading, rules, now); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
