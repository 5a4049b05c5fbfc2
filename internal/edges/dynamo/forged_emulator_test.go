//go:build emulator

package dynamo_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// forges gives an attribute of an item of EndpointHealth another text, as a compromised deliver can.
func (r rig) forges(scope, attribute, value string) {
	r.t.Helper()
	key := keyOf("scope", scope, "name", "health")
	forged := r.stored(r.tables.EndpointHealth, key)
	forged[attribute] = text(value)
	r.put(r.tables.EndpointHealth, forged)
}

// An attribute that repeats a part of the item's key, or names another item, decides over nothing but its own item.
func TestCircuits_believeTheKeyAndNoAttribute(t *testing.T) {
	r := newRig(t)
	s := r.circuits
	mine, other := full("webhook_1", 7), full("webhook_2", 7)
	mustStore(t, s, circuit.Item{}, mine)
	mustStore(t, s, circuit.Item{}, other)
	until := charge(t, s, "t", time.Hour)
	if err := s.MoveSlow(t.Context(), "t", until, until.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	r.forges("endpoint#webhook_1", "endpoint_id", "webhook_2")
	r.forges("tenant#t", "tenant_id", "other")

	items, slow, err := s.All(t.Context())
	slices.SortFunc(items, func(a, b circuit.Item) int { return strings.Compare(a.EndpointID, b.EndpointID) })
	want := map[string]time.Time{"t": until.Add(time.Minute)}
	if diff := cmp.Diff([]circuit.Item{mine, other}, items) + cmp.Diff(want, slow); err != nil || diff != "" {
		t.Errorf("all: %v (-want +got)\n%s", err, diff)
	}
	got := getCircuit(t, s, "webhook_1")
	if diff := cmp.Diff(mine, got); diff != "" {
		t.Errorf("one (-want +got)\n%s", diff)
	}
	slow, err = s.SlowUntil(t.Context(), []string{"t", "other"})
	listed, _, failed := s.Slow(t.Context(), 9)
	if diff := cmp.Diff(want, slow) + cmp.Diff(want, listed); err != nil || failed != nil || diff != "" {
		t.Errorf("slow: %v, %v (-want +got)\n%s", err, failed, diff)
	}

	next := got
	next.Version, next.Failures = got.Version+1, 99
	if stored := mustStore(t, s, got, next); stored.EndpointID != "webhook_1" {
		t.Errorf("stored %+v", stored)
	}
	if diff := cmp.Diff(other, getCircuit(t, s, "webhook_2")); diff != "" {
		t.Errorf("the other's, after a change of the forged one (-want +got)\n%s", diff)
	}
}

func TestReader_Read_namesACircuitAsItWasAsked(t *testing.T) {
	r := newRig(t)
	mustStore(t, r.circuits, circuit.Item{}, full("webhook_1", 7))
	r.forges("endpoint#webhook_1", "tenant_id", "other")
	r.forges("endpoint#webhook_1", "endpoint_id", "webhook_2")
	reader := dynamo.NewReader(dynamo.ReaderConfig{
		Client: r.client, Endpoints: r.tables.Endpoints, EndpointHealth: r.tables.EndpointHealth,
	})
	key := dynamo.EndpointKey{TenantID: "t", EndpointID: "webhook_1"}
	found, err := reader.Read(t.Context(), []dynamo.EndpointKey{key}, nil)
	if diff := cmp.Diff(full("webhook_1", 7), found[key].Circuit); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// A write of deliver asks for nothing that its role may not see.
func TestCircuits_WithoutNotices_namesNone(t *testing.T) {
	r := newRig(t)
	mustStore(t, r.circuits.WithoutNotices(), circuit.Item{}, full("webhook_1", 7))
	for _, call := range r.faults.Calls("UpdateItem") {
		for _, word := range []string{"outage\"", "pause\"", "death\"", "ALL_NEW"} {
			if strings.Contains(string(call.Body), word) {
				t.Errorf("it names %s: %s", word, call.Body)
			}
		}
	}
}

func TestDeliveries_ListOpen_listsTheEndpointsOwn(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"msg_own", "msg_strange"} {
		record := delivery.Record{
			Ref:   delivery.Ref{DeliveryID: id, TenantID: "t", EndpointID: "webhook_1", EventID: "e", CreatedAt: at},
			State: delivery.Retrying, UpdatedAt: at,
		}
		if _, err := r.deliveries.Update(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	forged := r.stored(r.tables.Deliveries, keyOf("delivery_id", "msg_strange"))
	forged["endpoint_id"] = text("webhook_2")
	r.put(r.tables.Deliveries, forged)
	got, _, err := r.deliveries.ListOpen(t.Context(), "webhook_1", dynamo.OpenPage{Limit: 9})
	if err != nil || len(got) != 1 || got[0].DeliveryID != "msg_own" {
		t.Errorf("%+v, %v", got, err)
	}
}
