//go:build emulator

package dynamo_test

import (
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// full has a value in every field but the lease.
func full(endpointID string, version int64) circuit.Item {
	i := wantNotices
	i.TenantID, i.EndpointID, i.Version, i.HeldUntil = "t", endpointID, version, time.Time{}
	return i
}

func mustStore(t *testing.T, s *dynamo.Circuits, was, next circuit.Item) circuit.Item {
	t.Helper()
	stored, applied, err := s.Store(t.Context(), was, next)
	if err != nil || !applied {
		t.Fatalf("storing version %d: %v, %v", next.Version, applied, err)
	}
	return stored
}

func getCircuit(t *testing.T, s *dynamo.Circuits, endpointID string) circuit.Item {
	t.Helper()
	i, err := s.Get(t.Context(), endpointID)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestCircuits_tellAFaultFromARefusal(t *testing.T) {
	r := newRig(t)
	s, faults := r.circuits, r.faults
	faults.On("", 0, testkit.Fail(400, "ResourceNotFoundException"))
	i, key := full("webhook_1", 7), dynamo.EndpointKey{TenantID: "t", EndpointID: "webhook_1"}
	for name, do := range map[string]func() (bool, error){
		"store":   func() (bool, error) { _, applied, err := s.Store(t.Context(), i, i); return applied, err },
		"hold":    func() (bool, error) { return false, s.Hold(t.Context(), key, at, at) },
		"clear":   func() (bool, error) { return s.Clear(t.Context(), i) },
		"remove":  func() (bool, error) { return s.Remove(t.Context(), i) },
		"get":     func() (bool, error) { _, err := s.Get(t.Context(), "webhook_1"); return false, err },
		"all":     func() (bool, error) { _, _, err := s.All(t.Context()); return false, err },
		"trouble": func() (bool, error) { _, _, err := s.Trouble(t.Context(), 1, ""); return false, err },
		"charge":  func() (bool, error) { _, err := s.Charge(t.Context(), "t", 1, at); return false, err },
		"read":    func() (bool, error) { _, err := s.SlowUntil(t.Context(), []string{"t"}); return false, err },
	} {
		if applied, err := do(); applied || err == nil {
			t.Errorf("%s: %v, %v", name, applied, err)
		}
	}
}

// Decisions rest on strongly consistent reads, and the lists of operators take no scan.
func TestCircuits_All_isStronglyConsistentAndTroubleScansNothing(t *testing.T) {
	r := newRig(t)
	mustStore(t, r.circuits, circuit.Item{}, full("webhook_1", 7))
	if _, _, err := r.circuits.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.wantConsistentReads()
	r.faults.Reset()
	if _, _, err := r.circuits.Trouble(t.Context(), 3, ""); err != nil || len(r.faults.Calls("Scan")) != 0 {
		t.Errorf("%d scans, %v", len(r.faults.Calls("Scan")), err)
	}
}

func charge(t *testing.T, s *dynamo.Circuits, tenant string, d time.Duration) time.Time {
	t.Helper()
	until, err := s.Charge(t.Context(), tenant, d, at)
	if err != nil {
		t.Fatal(err)
	}
	return until
}

// slowUntil is the moment that is stored; zero for none.
func slowUntil(t *testing.T, s *dynamo.Circuits, tenant string) time.Time {
	t.Helper()
	slow, err := s.SlowUntil(t.Context(), []string{tenant, "another"})
	if err != nil || len(slow) > 1 {
		t.Fatal(slow, err)
	}
	return slow[tenant]
}

// Between the two forms of a charge another process may have made one.
func TestCircuits_Charge_isTriedOnceMoreWhenRefused(t *testing.T) {
	r := newRig(t)
	s, faults := r.circuits, r.faults
	refuse := testkit.Fail(400, "ConditionalCheckFailedException")
	charge(t, s, "t", time.Minute)
	faults.Add(testkit.Rule{Action: "UpdateItem", Times: 1, Fault: refuse})
	if got := charge(t, s, "t", time.Minute); !got.Equal(at.Add(2 * time.Minute)) {
		t.Errorf("refused by a race: %s", got.Sub(at))
	}
	faults.Clear()
	faults.On("UpdateItem", 0, refuse)
	if until, err := s.Charge(t.Context(), "t", time.Minute, at); err == nil {
		t.Errorf("never stored: %s", until)
	}
}
