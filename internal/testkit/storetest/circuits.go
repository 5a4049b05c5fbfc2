package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

var circuitPromises = []Promise{
	{"a change of state writes every field but the lease", func(t testing.TB, b Backend) {
		held := hold(t, b, "webhook_1", at.Add(time.Hour))
		want := Circuit("webhook_1", held.Version+1)
		want.HeldUntil = held.HeldUntil
		forgetful := want
		forgetful.HeldUntil = time.Time{} // next never says anything about the lease
		next := store(t, b, held, forgetful)
		if diff := cmp.Diff(want, next); diff != "" {
			t.Errorf("answered (-want +got)\n%s", diff)
		}
		wantStored(t, b, "stored", want)
		bare := circuit.Item{
			TenantID: "acme", EndpointID: "webhook_1", Version: want.Version + 1, HeldUntil: held.HeldUntil,
		}
		if diff := cmp.Diff(bare, store(t, b, next, bare)); diff != "" {
			t.Errorf("emptied (-want +got)\n%s", diff)
		}
	}},
	{"the state of an item can be read alone", func(t testing.TB, b Backend) {
		hold(t, b, "webhook_2", at.Add(time.Hour))
		store(t, b, circuit.Item{}, Circuit("webhook_1", 7))
		for endpointID, want := range map[string]circuit.State{
			"webhook_1": circuit.Recovering, "webhook_2": circuit.None, "webhook_3": circuit.None,
		} {
			if got, err := b.Circuits.State(t.Context(), endpointID); err != nil || got != want {
				t.Errorf("%s is %q, %v, want %q", endpointID, got, err, want)
			}
		}
	}},
	{"times are kept to the millisecond", func(t testing.TB, b Backend) {
		fine := Circuit("webhook_1", 7)
		fine.Since, fine.Last.At = at.Add(999*time.Microsecond), at.Add(time.Microsecond)
		want := fine
		want.Since, want.Last.At = at, at
		if diff := cmp.Diff(want, store(t, b, circuit.Item{}, fine)); diff != "" {
			t.Errorf("answered (-want +got)\n%s", diff)
		}
		hold(t, b, "webhook_1", at.Add(time.Hour+time.Microsecond))
		want.HeldUntil = at.Add(time.Hour)
		wantStored(t, b, "stored", want)
	}},
	{"a state replaces the version that was read and no other", func(t testing.TB, b Backend) {
		first := store(t, b, circuit.Item{}, Circuit("webhook_1", 7))
		for _, version := range []int64{0, 6, 7, 8} {
			was, next := first, Circuit("webhook_1", 9)
			was.Version = version
			next.Failures++
			got, ok, err := b.Circuits.Store(t.Context(), was, next)
			if ok != first.Seen(was) || err != nil {
				t.Errorf("over version %d: %v, %v", version, ok, err)
			}
			want := first
			if ok {
				want = next
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("over version %d, answered (-want +got)\n%s", version, diff)
			}
			wantStored(t, b, fmt.Sprint("over version ", version), want)
			if ok {
				first = store(t, b, got, Circuit("webhook_1", 7)) // as it was
			}
		}
		gone, ok, err := b.Circuits.Store(t.Context(), Circuit("webhook_2", 7), Circuit("webhook_2", 8))
		if ok || err != nil || gone.Version != 0 {
			t.Errorf("over an item that was removed: %+v, %v, %v", gone, ok, err)
		}
		wantStored(t, b, "over an item that was removed", circuit.Item{EndpointID: "webhook_2"})
	}},
	{"a lease only grows, and changes nothing else", func(t testing.TB, b Backend) {
		want := circuit.Item{
			TenantID: "acme", EndpointID: "webhook_1", Version: at.UnixNano(), Since: at, HeldUntil: at.Add(time.Hour),
		}
		hold(t, b, "webhook_1", at.Add(time.Hour))
		wantStored(t, b, "made", want)
		want = store(t, b, want, Circuit("webhook_1", want.Version+1))
		for _, until := range []time.Duration{time.Minute, time.Hour, time.Hour + time.Microsecond, 2 * time.Hour} {
			if want.Grows(at.Add(until)) {
				want.HeldUntil = at.Add(until)
			}
			if err := b.Circuits.Hold(t.Context(), key("webhook_1"), at.Add(until), at.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			wantStored(t, b, fmt.Sprint("held until ", until), want)
		}
	}},
	{"a lease is cleared and an item removed only as they were read", func(t testing.TB, b Backend) {
		bare := store(t, b, circuit.Item{}, Circuit("webhook_1", 7))
		held := hold(t, b, "webhook_1", at)
		other, longer := held, held
		other.Version, longer.HeldUntil = 8, at.Add(time.Second)
		for name, seen := range map[string]circuit.Item{"no lease": bare, "other version": other, "other lease": longer} {
			if ok, err := b.Circuits.Remove(t.Context(), seen); ok || err != nil {
				t.Errorf("%s: removed %v, %v", name, ok, err)
			}
			if ok, err := b.Circuits.Clear(t.Context(), seen); name != "no lease" && (ok || err != nil) {
				t.Errorf("%s: cleared %v, %v", name, ok, err)
			}
			wantStored(t, b, name, held)
		}
		if ok, err := b.Circuits.Clear(t.Context(), held); !ok || err != nil {
			t.Errorf("cleared %v, %v", ok, err)
		}
		wantStored(t, b, "cleared", bare)
		if ok, err := b.Circuits.Remove(t.Context(), held); ok || err != nil {
			t.Errorf("removed with the lease that was: %v, %v", ok, err)
		}
		if ok, err := b.Circuits.Remove(t.Context(), bare); !ok || err != nil {
			t.Errorf("removed %v, %v", ok, err)
		}
		wantStored(t, b, "removed", circuit.Item{EndpointID: "webhook_1"})
	}},
	{"a write that is asked for again is no refusal", func(t testing.TB, b Backend) {
		next := Circuit("webhook_1", 7)
		again(t, b, func() error {
			got, ok, err := b.Circuits.Store(t.Context(), circuit.Item{}, next)
			if ok && !cmp.Equal(next, got) {
				t.Errorf("stored (-want +got)\n%s", cmp.Diff(next, got))
			}
			return applied(ok, err)
		})
		again(t, b, func() error { return b.Circuits.Hold(t.Context(), key("webhook_1"), at.Add(time.Hour), at) })
		held := stored(t, b, "webhook_1")
		again(t, b, func() error { return applied(b.Circuits.Clear(t.Context(), held)) })
		wantStored(t, b, "cleared", next)
		again(t, b, func() error { return applied(b.Circuits.Remove(t.Context(), next)) })
		wantStored(t, b, "removed", circuit.Item{EndpointID: "webhook_1"})
	}},
	{"the same change by another is a refusal", func(t testing.TB, b Backend) {
		first := store(t, b, circuit.Item{}, Circuit("webhook_1", 7))
		next := first
		next.Version, next.Failures = 8, 5
		store(t, b, first, next)
		next.Failures = 6 // of the same version by chance
		if got, ok, err := b.Circuits.Store(t.Context(), first, next); ok || err != nil || got.Failures != 5 {
			t.Errorf("%+v, %v, %v", got, ok, err)
		}
	}},
	{"the first death of a day is noted, and is a change", func(t testing.TB, b Backend) {
		was := hold(t, b, "webhook_1", at.Add(time.Hour))
		want := was
		for n, after := range []time.Duration{0, time.Hour, 25 * time.Hour} {
			death := circuit.Spell{At: at.Add(after), Reason: "http_5xx", Status: 500 + n}
			before := death.At.Add(-circuit.DeadLetterEvery)
			if want.TakesDeath("acme", before) {
				want.Death, want.Version = death, want.Version+1
			}
			if err := b.Circuits.MarkDeath(t.Context(), key("webhook_1"), death, before); err != nil {
				t.Fatal(err)
			}
			wantStored(t, b, fmt.Sprint("after ", after), want)
		}
		if _, ok, err := b.Circuits.Store(t.Context(), was, Circuit("webhook_1", was.Version+9)); ok || err != nil {
			t.Errorf("a change of the circuit that was before: %v, %v", ok, err)
		}
		if ok, err := b.Circuits.Remove(t.Context(), was); ok || err != nil {
			t.Errorf("a removal: %v, %v", ok, err)
		}
	}},
	{"a death of another tenant's is not noted", func(t testing.TB, b Backend) {
		want := hold(t, b, "webhook_1", at.Add(time.Hour))
		forged := dynamo.EndpointKey{TenantID: "globex", EndpointID: "webhook_1"}
		if err := b.Circuits.MarkDeath(t.Context(), forged, circuit.Spell{At: at}, at); err != nil {
			t.Fatal(err)
		}
		wantStored(t, b, "forged", want)
	}},
	{"a death makes the item of a healthy endpoint", func(t testing.TB, b Backend) {
		death := circuit.Spell{At: at, Reason: "timeout"}
		if err := b.Circuits.MarkDeath(t.Context(), key("webhook_1"), death, at.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		wantStored(t, b, "made", circuit.Item{
			TenantID: "acme", EndpointID: "webhook_1", Version: at.UnixNano() + 1, Since: at, Death: death,
		})
	}},
	{"deliver's store leaves the notices as they are", func(t testing.TB, b Backend) {
		want := store(t, b, circuit.Item{}, Circuit("webhook_1", 7))
		hold(t, b, "webhook_1", at.Add(time.Hour))
		next := want
		next.Version = 8
		next.Failures = 99
		next.Probes = 0
		next.Outage = circuit.Spell{}
		next.Pause = circuit.Spell{At: at, Reason: "forged"}
		next.Death = circuit.Spell{}
		got, ok, err := b.WithoutNotices.Store(t.Context(), want, next)
		if diff := cmp.Diff(next, got); !ok || err != nil || diff != "" {
			t.Errorf("answered: %v, %v (-want +got)\n%s", ok, err, diff)
		}
		want.Version = 8
		want.Failures = 99
		want.Probes = 0
		want.HeldUntil = at.Add(time.Hour)
		wantStored(t, b, "stored", want)
		next.Failures++
		got, ok, err = b.WithoutNotices.Store(t.Context(), Circuit("webhook_1", 6), next)
		if diff := cmp.Diff(want, got); ok || err != nil || diff != "" {
			t.Errorf("refused: %v, %v (-want +got)\n%s", ok, err, diff)
		}
	}},
	{"all items are listed, with the tenants' moments", func(t testing.TB, b Backend) {
		var want []circuit.Item
		slow := map[string]time.Time{}
		for n := range 5 {
			want = append(want, store(t, b, circuit.Item{}, Circuit(fmt.Sprint("webhook_", n), 7)))
			tenant := fmt.Sprint("tenant_", n)
			slow[tenant] = charge(t, b, tenant, time.Minute)
		}
		wantAll(t, b, want, slow, false)
	}},
	{"an item that cannot be read hides no other", func(t testing.TB, b Backend) {
		want := []circuit.Item{store(t, b, circuit.Item{}, Circuit("webhook_1", 7))}
		store(t, b, circuit.Item{}, Circuit("webhook_2", 7))
		b.Breaker.BreakCircuit("webhook_2")
		wantAll(t, b, want, map[string]time.Time{}, true)
		if i, err := b.Circuits.Get(t.Context(), "webhook_2"); err == nil {
			t.Errorf("read %+v", i)
		}
	}},
	{"endpoints in trouble are named by id, and no tenants", func(t testing.TB, b Backend) {
		var want []dynamo.EndpointKey
		for n := range 3 {
			store(t, b, circuit.Item{}, Circuit(fmt.Sprint("webhook_", n), 7))
			want = append(want, key(fmt.Sprint("webhook_", n)))
			charge(t, b, fmt.Sprint("tenant_", n), time.Minute)
		}
		hold(t, b, "webhook_9", at)
		want = append(want, key("webhook_9"))
		note := circuit.Spell{At: at}
		if err := b.Circuits.MarkDeath(t.Context(), key("webhook_dead"), note, at); err != nil { // it is in no trouble
			t.Fatal(err)
		}
		got := pages(t, 3, func(cursor string) ([]dynamo.EndpointKey, string, error) {
			return b.Circuits.Trouble(t.Context(), 3, cursor)
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if _, _, err := b.Circuits.Trouble(t.Context(), 2, "nonsense"); !errors.Is(err, dynamo.ErrCursor) {
			t.Errorf("cursor: %v", err)
		}
	}},
}
