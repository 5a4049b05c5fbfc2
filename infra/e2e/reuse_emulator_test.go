//go:build emulator

package e2e

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/examples"
)

// Two events with one id are two deliveries, also while they wait; the same event twice is one.
func TestEventsThatShareAnIdHideNothing(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	endpoint := about{"tenant_id": c.TenantID, "endpoint_id": s.ID}
	if got := control(t, "pause", endpoint); got.State != "paused" {
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
		n, err := waitingFor(ctx, c.TenantID, id)
		return n == 2, err
	})
	if got := control(t, "resume", endpoint); got.Result != "resumed" {
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
