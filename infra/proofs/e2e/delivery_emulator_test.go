//go:build emulator

package e2e

import (
	"context"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

func TestEveryEventReachesExactlyTheEndpointsThatWantIt(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	wanted := map[string]int{
		"*": 26, "user.*": 7, "organization.*": 11, "organizationMembership.*": 4,
		"connection.saml_certificate_renewed": 1,
	}
	subscriptions := map[string]subscription{}
	for pattern := range wanted {
		subscriptions[pattern] = subscribe(t, c, pattern)
	}
	neighbour := subscribe(t, tenant(t), "*")
	payloads := map[string]string{}
	for _, name := range event.Types() {
		payloads[name] = publish(t, c, name).Payload()
	}
	ids := map[string]bool{}
	for pattern, n := range wanted {
		got := subscriptions[pattern].await(t, n)
		genuine(t, got)
		var names []string
		for _, r := range got {
			if r.Status != 200 || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %s of type %s is answered %d", pattern, r.Event, r.Header.Get("Content-Type"), r.Status)
			}
			if diff := cmp.Diff(payloads[r.Event], string(r.Body)); diff != "" {
				t.Errorf("%s: body of %s (-want +got):\n%s", pattern, r.Event, diff)
			}
			names = append(names, r.Event)
			ids[r.ID] = true
		}
		slices.Sort(names)
		if unique := slices.Compact(names); len(unique) != n {
			t.Errorf("%s got %v", pattern, unique)
		}
	}
	if len(ids) != 26+7+11+4+1 {
		t.Errorf("%d different wh-ids", len(ids))
	}
	if got := neighbour.Requests(); len(got) != 0 {
		t.Errorf("another tenant got %d of them", len(got))
	}
}

// sameDelivery tells whether all requests are attempts of one delivery.
func sameDelivery(requests []receiver.Request) bool {
	type content struct{ id, event, body string }
	all := map[content]bool{}
	for _, r := range requests {
		all[content{r.ID, r.Event, string(r.Body)}] = true
	}
	return len(all) <= 1
}

// Two events with one id are two deliveries, also while they wait; the same event twice is one.
func TestEventsThatShareAnIdHideNothing(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	endpoint := api.Target{TenantID: c.TenantID, EndpointID: s.ID}
	if got := get(t, api.Pause, endpoint); got.State != "paused" {
		t.Fatalf("paused: %+v", got)
	}
	id := unique("evt")
	want := map[string]int{}
	for _, data := range []string{`{"userId":"user_1","n":1}`, `{"userId":"user_1","n":2}`, `{"userId":"user_1","n":1}`} {
		m := examples.Message{ID: id, TenantID: c.TenantID, Type: "user.updated", Data: jsontext.Value(data)}
		send(t, c, m)
		want[m.Payload()] = 1
	}
	eventually(t, "two waiting", func(ctx context.Context) (bool, error) {
		return waiting(ctx, c.TenantID, id, 2)
	})
	if got := get(t, api.Resume, endpoint); got.Result != "resumed" {
		t.Fatalf("resumed: %+v", got)
	}
	eventually(t, "both contents", func(context.Context) (bool, error) {
		bodies := map[string]bool{}
		for _, r := range s.Requests() {
			bodies[string(r.Body)] = true
		}
		return len(bodies) == 2, nil
	})
	got := map[string]int{} // wh-ids by body
	ids := map[string]string{}
	for _, r := range s.Requests() {
		if body, again := ids[r.ID]; again && body != string(r.Body) {
			t.Errorf("%s came with two bodies", r.ID)
		} else if !again {
			ids[r.ID] = string(r.Body)
			got[string(r.Body)]++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wh-ids by body (-want +got)\n%s", diff)
	}
	genuine(t, s.Requests())
}
