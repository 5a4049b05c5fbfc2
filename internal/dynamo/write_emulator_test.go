//go:build emulator

package dynamo_test

import (
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/dynamo"
)

// The SDK asks again when an answer is lost, and is then refused by its own write.
func TestWrites_areNotRefusedByThemselves(t *testing.T) {
	r := newRig(t)
	r.loseAnswers()
	putKey(t, r.keys, "acme", createdAt)
	mark(t, r.endpoints, dynamo.EndpointKey{TenantID: "acme"})

	e := mustCreate(t, r.endpoints, "acme", createdAt)
	now := e
	now.URL, now.Revision = "https://second.example", "second"
	for was, now := range pairs(e, now, gone(now, createdAt), back(now), gone(now, createdAt)) {
		if was.Revision != now.Revision {
			mustReplace(t, r.endpoints, was, now)
		}
	}
	if got := r.counts(); got != "counted 0, are 0 of 1" {
		t.Error(got)
	}

	first := mustStore(t, r.circuits, circuit.Item{}, full("webhook_1", 7))
	held := mustHold(t, r.circuits, "webhook_1", at.Add(time.Hour))
	if !held.HeldUntil.Equal(at.Add(time.Hour)) || held.Version != first.Version {
		t.Errorf("held: %+v", held)
	}
	if applied, err := r.circuits.Clear(t.Context(), held); !applied || err != nil {
		t.Errorf("cleared: %v, %v", applied, err)
	}
	if applied, err := r.circuits.Remove(t.Context(), first); !applied || err != nil {
		t.Errorf("removed: %v, %v", applied, err)
	}

	bury(t, r.letters, death("msg_1", "webhook_1", 0, deadAt))
	if replay := claim(t, r.letters, "msg_1"); replay != 1 {
		t.Errorf("replay %d", replay)
	}
	if ok, _, err := r.letters.Append(t.Context(), death("msg_1", "webhook_1", 1, deadAt), 2); !ok || err != nil {
		t.Errorf("appended: %v, %v", ok, err)
	}
	if ok, err := r.letters.Purge(t.Context(), getLetter(t, r.letters, "msg_1")); !ok || err != nil {
		t.Errorf("purged: %v, %v", ok, err)
	}
}
