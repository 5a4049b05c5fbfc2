//go:build emulator

package replay_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/retry"
)

// What ended the last life, or was asked for during it, says nothing about the next one, and at an
// endpoint that is held a replay waits without using a place of its schedule.
func TestAReplayBeginsANewLife(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	discarded := w.clock()
	if got := w.outcome(t, "msg_1"); got != "replayed" {
		t.Fatal(got)
	}
	sent := w.sent(t)
	if len(sent) != 1 {
		t.Fatalf("sent %+v", sent)
	}
	life := sent[0].Life
	if diff := cmp.Diff(delivery.Life{StartedAt: life.StartedAt}, life); diff != "" || life.StartedAt.Before(discarded) {
		t.Errorf("life began at %s, the replay at %s (-want +got):\n%s", life.StartedAt, discarded, diff)
	}
	now := life.StartedAt.Add(time.Second)
	for name, row := range map[string]struct {
		item health.Item
		want health.Action
	}{
		"at a healthy endpoint":     {health.Item{}, health.Post},
		"after a discard":           {health.Item{Version: 1, DiscardedBefore: discarded}, health.Post},
		"before a discard":          {health.Item{Version: 1, DiscardedBefore: now}, health.Dropped},
		"while its circuit is open": {health.Item{Version: 1, State: health.Open, Held: true}, health.Hold},
		"while it is paused":        {health.Item{Version: 1, Paused: true, Held: true}, health.Hold},
	} {
		view := health.View{TenantID: "acme", EndpointID: "webhook_1", Endpoint: row.item}
		if got := view.Decide(health.Question{StartedAt: life.StartedAt}, now).Action; got != row.want {
			t.Errorf("%s: action %v, want %v", name, got, row.want)
		}
	}
	schedule := retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}
	held := delivery.Standing{Place: 1, Receives: 1, Life: life, Now: now}.Hold(schedule, "circuit_open")
	if held.Attempts != 0 || !held.Held || held.Due.Sub(now) < 24*time.Hour {
		t.Errorf("held: %+v", held)
	}
}
