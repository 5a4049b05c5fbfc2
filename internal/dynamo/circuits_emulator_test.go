//go:build emulator

package dynamo_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/dynamo"
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

func mustHold(t *testing.T, s *dynamo.Circuits, endpointID string, until time.Time) circuit.Item {
	t.Helper()
	if err := s.Hold(t.Context(), dynamo.EndpointKey{TenantID: "t", EndpointID: endpointID}, until, at); err != nil {
		t.Fatal(err)
	}
	return getCircuit(t, s, endpointID)
}

func getCircuit(t *testing.T, s *dynamo.Circuits, endpointID string) circuit.Item {
	t.Helper()
	i, err := s.Get(t.Context(), endpointID)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestCircuits_Store_writesAndRemovesEveryFieldButTheLease(t *testing.T) {
	s := newRig(t).circuits
	held := mustHold(t, s, "webhook_1", at.Add(time.Hour))
	want := full("webhook_1", held.Version+1)
	want.HeldUntil = held.HeldUntil
	forgetful := want
	forgetful.HeldUntil = time.Time{} // next never says anything about the lease
	stored := mustStore(t, s, held, forgetful)
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("answered (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want, getCircuit(t, s, "webhook_1")); diff != "" {
		t.Errorf("read (-want +got)\n%s", diff)
	}
	bare := circuit.Item{TenantID: "t", EndpointID: "webhook_1", Version: want.Version + 1, HeldUntil: held.HeldUntil}
	if diff := cmp.Diff(bare, mustStore(t, s, stored, bare)); diff != "" {
		t.Errorf("emptied (-want +got)\n%s", diff)
	}
}

func TestCircuits_Store_refusesAnyOtherVersion(t *testing.T) {
	s := newRig(t).circuits
	stored := mustStore(t, s, circuit.Item{}, full("webhook_1", 7))
	for _, version := range []int64{0, 6, 8} {
		was, next := stored, full("webhook_1", stored.Version) // the same by chance
		was.Version = version
		next.Failures++
		got, applied, err := s.Store(t.Context(), was, next)
		if diff := cmp.Diff(stored, got); applied || err != nil || diff != "" {
			t.Errorf("over version %d: %v, %v (-want +got)\n%s", version, applied, err, diff)
		}
	}
	gone, applied, err := s.Store(t.Context(), full("webhook_2", 7), full("webhook_2", 8))
	if applied || err != nil || gone.Version != 0 {
		t.Errorf("over an item that was removed: %+v, %v, %v", gone, applied, err)
	}
}

func TestCircuits_Hold_onlyGrows(t *testing.T) {
	s := newRig(t).circuits
	want := circuit.Item{
		TenantID: "t", EndpointID: "webhook_1", Version: at.UnixNano(), Since: at, HeldUntil: at.Add(time.Hour),
	}
	if diff := cmp.Diff(want, mustHold(t, s, "webhook_1", at.Add(time.Hour))); diff != "" {
		t.Errorf("made (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want, mustHold(t, s, "webhook_1", at.Add(time.Minute))); diff != "" {
		t.Errorf("shorter (-want +got)\n%s", diff)
	}
	next := mustStore(t, s, want, full("webhook_1", want.Version+1))
	next.HeldUntil = at.Add(2 * time.Hour)
	if diff := cmp.Diff(next, mustHold(t, s, "webhook_1", at.Add(2*time.Hour))); diff != "" {
		t.Errorf("longer, beside a state (-want +got)\n%s", diff)
	}
}

func TestCircuits_Clear_Remove_refuseAChangedItem(t *testing.T) {
	s := newRig(t).circuits
	bare := mustStore(t, s, circuit.Item{}, full("webhook_1", 7))
	held := mustHold(t, s, "webhook_1", at)
	other, longer := held, held
	other.Version, longer.HeldUntil = 8, at.Add(time.Second)
	for name, seen := range map[string]circuit.Item{"no lease": bare, "other version": other, "other lease": longer} {
		if applied, err := s.Remove(t.Context(), seen); applied || err != nil {
			t.Errorf("%s: removed %v, %v", name, applied, err)
		}
		if seen.HeldUntil.IsZero() {
			continue
		}
		if applied, err := s.Clear(t.Context(), seen); applied || err != nil {
			t.Errorf("%s: cleared %v, %v", name, applied, err)
		}
	}
	if applied, err := s.Clear(t.Context(), held); !applied || err != nil {
		t.Errorf("cleared %v, %v", applied, err)
	}
	if diff := cmp.Diff(bare, getCircuit(t, s, "webhook_1")); diff != "" {
		t.Errorf("cleared (-want +got)\n%s", diff)
	}
	if applied, err := s.Remove(t.Context(), held); applied || err != nil {
		t.Errorf("removed with the lease that was: %v, %v", applied, err)
	}
	if applied, err := s.Remove(t.Context(), bare); !applied || err != nil {
		t.Errorf("removed %v, %v", applied, err)
	}
	if diff := cmp.Diff(circuit.Item{EndpointID: "webhook_1"}, getCircuit(t, s, "webhook_1")); diff != "" {
		t.Errorf("removed (-want +got)\n%s", diff)
	}
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

func TestCircuits_All_hasCircuitsAndTenants(t *testing.T) {
	r := newRig(t)
	s := r.circuits
	var want []circuit.Item
	slow := map[string]time.Time{}
	for n := range 5 {
		want = append(want, mustStore(t, s, circuit.Item{}, full(fmt.Sprint("webhook_", n), 7)))
		tenant := fmt.Sprint("t_", n)
		slow[tenant] = charge(t, s, tenant, time.Minute)
	}
	got, gotSlow, err := s.All(t.Context())
	slices.SortFunc(got, func(a, b circuit.Item) int { return strings.Compare(a.EndpointID, b.EndpointID) })
	if diff := cmp.Diff(want, got) + cmp.Diff(slow, gotSlow); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	r.wantConsistentReads()
}

// Operators find endpoints that have a circuit or a lease, and tenants that became slow: no others, and without a scan.
func TestCircuits_Trouble_namesEndpointsAndNoTenants(t *testing.T) {
	r := newRig(t)
	s, faults := r.circuits, r.faults
	var want []dynamo.EndpointKey
	slow := map[string]time.Time{}
	for n := range 3 {
		i := mustStore(t, s, circuit.Item{}, full(fmt.Sprint("webhook_", n), 7))
		want = append(want, dynamo.EndpointKey{TenantID: i.TenantID, EndpointID: i.EndpointID})
		tenant := fmt.Sprint("t_", n)
		until := charge(t, s, tenant, time.Minute)
		if n > 0 {
			slow[tenant] = until.Add(time.Hour)
			if err := s.MoveSlow(t.Context(), tenant, until, slow[tenant]); err != nil {
				t.Fatal(err)
			}
		}
	}
	held := dynamo.EndpointKey{TenantID: "t_9", EndpointID: "webhook_9"}
	if err := s.Hold(t.Context(), held, at, at); err != nil {
		t.Fatal(err)
	}
	want = append(want, held)
	got := pages(t, 3, func(cursor string) ([]dynamo.EndpointKey, string, error) {
		return s.Trouble(t.Context(), 3, cursor)
	})
	gotSlow, more, err := s.Slow(t.Context(), 10)
	if diff := cmp.Diff(want, got) + cmp.Diff(slow, gotSlow); err != nil || more || diff != "" {
		t.Errorf("%v, %v (-want +got)\n%s", more, err, diff)
	}
	if _, more, err = s.Slow(t.Context(), 1); err != nil || !more {
		t.Errorf("one of two slow tenants: more is %v, %v", more, err)
	}
	if _, _, err := s.Trouble(t.Context(), 2, "nonsense"); !errors.Is(err, dynamo.ErrCursor) {
		t.Errorf("cursor: %v", err)
	}
	if n := len(faults.Calls("Scan")); n != 0 {
		t.Errorf("%d scans", n)
	}
}

// One item that nobody can read keeps release from no other.
func TestCircuits_All_listsTheOthersBesideAnUnreadableOne(t *testing.T) {
	r := newRig(t)
	s := r.circuits
	want := []circuit.Item{mustStore(t, s, circuit.Item{}, full("webhook_1", 7))}
	mustStore(t, s, circuit.Item{}, full("webhook_2", 7))
	r.breaks(r.tables.EndpointHealth, "since", keyOf("scope", "endpoint#webhook_2", "name", "health"))
	got, _, err := s.All(t.Context())
	if diff := cmp.Diff(want, got); err == nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
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

func TestCircuits_Charge_addsUpAndBeginsAnewWhenItHasPassed(t *testing.T) {
	s := newRig(t).circuits
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, err := s.Charge(t.Context(), "t", time.Minute, at); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := slowUntil(t, s, "t"); !got.Equal(at.Add(8 * time.Minute)) {
		t.Errorf("eight minutes make %s", got.Sub(at))
	}
	later := at.Add(8 * time.Minute)
	until, err := s.Charge(t.Context(), "t", time.Second, later)
	if err != nil || !until.Equal(later.Add(time.Second)) {
		t.Errorf("when it has passed: %s, %v", until.Sub(later), err)
	}
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

func TestCircuits_MoveSlow_neverMovesBeyondAnother(t *testing.T) {
	s := newRig(t).circuits
	until := charge(t, s, "t", time.Hour)
	for _, row := range []struct{ from, to, want time.Duration }{
		{time.Hour, 2 * time.Hour, 2 * time.Hour},                        // raised
		{time.Hour, 90 * time.Minute, 2 * time.Hour},                     // raised by another already
		{3 * time.Hour, 150 * time.Minute, 2 * time.Hour},                // lowered by another already
		{2 * time.Hour, 30 * time.Minute, 30 * time.Minute},              // lowered
		{30 * time.Minute, 6 * time.Hour, 6 * time.Hour},                 // raised again
		{6 * time.Hour, 6*time.Hour + time.Millisecond/2, 6 * time.Hour}, // no millisecond
	} {
		if err := s.MoveSlow(t.Context(), "t", at.Add(row.from), at.Add(row.to)); err != nil {
			t.Fatal(err)
		}
		if got := slowUntil(t, s, "t").Sub(at); got != row.want {
			t.Errorf("from %s to %s: %s, want %s", row.from, row.to, got, row.want)
		}
	}
	if err := s.MoveSlow(t.Context(), "unknown", at, until); err != nil || !slowUntil(t, s, "unknown").IsZero() {
		t.Errorf("a tenant that was forgotten: %v", err)
	}
}

func TestCircuits_ForgetSlow_keepsANewMoment(t *testing.T) {
	r := newRig(t)
	s, faults := r.circuits, r.faults
	old := charge(t, s, "t", time.Minute)
	now := charge(t, s, "t", time.Minute)
	if err := s.ForgetSlow(t.Context(), "t", old); err != nil || !slowUntil(t, s, "t").Equal(now) {
		t.Errorf("forgotten: %v", err)
	}
	faults.On("DeleteItem", 1, testkit.DropAnswer())
	if err := s.ForgetSlow(t.Context(), "t", now); err != nil || !slowUntil(t, s, "t").IsZero() {
		t.Errorf("remembered: %v", err)
	}
}

// Of a day's dead letters the first is noted, and whoever has read the circuit before may not overwrite it.
func TestCircuits_MarkDeath_notesTheFirstOfADay(t *testing.T) {
	s := newRig(t).circuits
	key := dynamo.EndpointKey{TenantID: "t", EndpointID: "webhook_1"}
	was := mustHold(t, s, "webhook_1", at.Add(time.Hour))
	first := circuit.Spell{At: at.Add(time.Minute), Reason: "http_5xx", Status: 503}
	for n := range 3 {
		death := first
		death.At = first.At.Add(time.Duration(n) * time.Hour)
		if err := s.MarkDeath(t.Context(), key, death, death.At.Add(-circuit.DeadLetterEvery)); err != nil {
			t.Fatal(err)
		}
	}
	want := was
	want.Death, want.Version = first, was.Version+1
	got := getCircuit(t, s, "webhook_1")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, applied, err := s.Store(t.Context(), was, full("webhook_1", was.Version+2)); applied || err != nil {
		t.Errorf("a change of the circuit before: %v, %v", applied, err)
	}
	if applied, err := s.Remove(t.Context(), was); applied || err != nil {
		t.Errorf("a removal: %v, %v", applied, err)
	}
	told, _ := got.Told(circuit.Notice{Kind: circuit.NoticeDeadLetter, At: first.At}, at)
	mustStore(t, s, got, told)
	next := circuit.Spell{At: first.At.Add(25 * time.Hour), Reason: "timeout"}
	if err := s.MarkDeath(t.Context(), key, next, next.At.Add(-circuit.DeadLetterEvery)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(next, getCircuit(t, s, "webhook_1").Death); diff != "" {
		t.Errorf("on the next day (-want +got)\n%s", diff)
	}
}
