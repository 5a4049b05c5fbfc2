package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Reader reads endpoints with their tenants' marks and their circuits.
type Reader interface {
	Read(
		ctx context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool,
	) (map[dynamo.EndpointKey]dynamo.Reading, error)
}

type readings = map[dynamo.EndpointKey]dynamo.Reading

// trouble makes n tenants of one endpoint each: in trouble and marked, and its tenant slow and marked, where n is odd.
func trouble(t testing.TB, b Backend, n int) (keys []dynamo.EndpointKey, want readings) {
	t.Helper()
	want = readings{}
	for n := range n {
		tenant := fmt.Sprint("tenant_", n)
		e := create(t, b, tenant, at)
		k := dynamo.EndpointKey{TenantID: tenant, EndpointID: e.ID}
		reading := dynamo.Reading{CircuitRead: true, Gate: endpoint.Gate{
			Endpoint: e, Found: true, Circuit: circuit.Item{TenantID: tenant, EndpointID: e.ID},
		}}
		if n%2 == 1 {
			reading.Circuit = Circuit(e.ID, 7)
			reading.Circuit.TenantID = tenant
			store(t, b, circuit.Item{}, reading.Circuit)
			reading.SlowUntil = charge(t, b, tenant, time.Hour)
			for _, marked := range []dynamo.EndpointKey{k, {TenantID: tenant}} {
				_, _, err := b.Endpoints.Mark(t.Context(), marked, func(m *endpoint.Marks) bool { *m = AllMarks; return true })
				if err != nil {
					t.Fatal(err)
				}
			}
			reading.Endpoint.Marks, reading.Tenant = AllMarks, AllMarks
		}
		keys, want[k] = append(keys, k), reading
	}
	return keys, want
}

func wantReadings(
	t testing.TB, b Backend, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool, want readings,
) {
	t.Helper()
	got, err := b.Reader.Read(t.Context(), keys, quiet)
	if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// unread is a reading without circuit.
func unread(k dynamo.EndpointKey, r dynamo.Reading) dynamo.Reading {
	r.CircuitRead, r.SlowUntil = false, time.Time{}
	r.Circuit = circuit.Item{TenantID: k.TenantID, EndpointID: k.EndpointID}
	return r
}

var readerPromises = []Promise{
	{"endpoints are read with marks, circuits and moments, and what is not there, too", func(t testing.TB, b Backend) {
		keys, want := trouble(t, b, 4)
		for _, of := range []dynamo.EndpointKey{keys[1], {TenantID: "unknown"}} {
			k := dynamo.EndpointKey{TenantID: of.TenantID, EndpointID: "webhook_x"}
			keys, want[k] = append(keys, k), dynamo.Reading{
				SlowUntil: want[of].SlowUntil, CircuitRead: true, Gate: endpoint.Gate{
					Tenant: want[of].Tenant, Circuit: circuit.Item{TenantID: of.TenantID, EndpointID: "webhook_x"},
				},
			}
		}
		wantReadings(t, b, append(keys, keys[0]), nil, want)
		wantReadings(t, b, nil, nil, readings{})
	}},
	{"the circuits of quiet endpoints are left out", func(t testing.TB, b Backend) {
		keys, want := trouble(t, b, 4)
		quiet := map[dynamo.EndpointKey]bool{keys[0]: true, keys[1]: true}
		for k := range quiet {
			want[k] = unread(k, want[k])
		}
		wantReadings(t, b, keys, quiet, want)
	}},
	{"a deleted endpoint is not there", func(t testing.TB, b Backend) {
		keys, want := trouble(t, b, 2)
		e := want[keys[0]].Endpoint
		replace(t, b, e, gone(e, at))
		reading := want[keys[0]]
		reading.Found, reading.Endpoint = false, endpoint.Endpoint{}
		want[keys[0]] = reading
		wantReadings(t, b, keys, nil, want)
	}},
	{"what cannot be read is the fault of its own endpoints alone", func(t testing.TB, b Backend) {
		keys, want := trouble(t, b, 4)
		b.Breaker.BreakEndpoint(keys[0])
		b.Breaker.BreakMarks(keys[1].TenantID)
		b.Breaker.BreakCircuit(keys[2].EndpointID)
		unreadable := dynamo.Reading{Err: endpoint.ErrUnreadable, Gate: endpoint.Gate{Found: true}}
		want[keys[0]] = unreadable
		want[keys[1]] = unreadable
		want[keys[2]] = unread(keys[2], want[keys[2]])
		wantReadings(t, b, keys, nil, want)
	}},
}
