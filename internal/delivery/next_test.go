package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/retry"
)

var tenPlaces = retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}

func TestStanding_Failed(t *testing.T) {
	now := lifeEpoch.Add(time.Hour)
	begun := now.Add(-time.Second)
	out := Outcome{Reason: ReasonHTTP5xx, Status: 503}
	fresh := Life{StartedAt: lifeEpoch}
	failed := Life{StartedAt: lifeEpoch, Reason: ReasonHTTP5xx, Status: 503}
	parked := fresh
	parked.DiesAt, parked.OwnDue, parked.Probe = now.Add(30*time.Hour), now.Add(20*time.Minute), 42
	with := func(l Life, change func(*Life)) Life {
		change(&l)
		return l
	}
	for name, row := range map[string]struct {
		place int
		life  Life
		floor time.Duration
		want  Next
	}{
		"a short wait": {2, fresh, 0, Next{To: ToRetryQueue, Attempts: 2, Wait: 20 * time.Second,
			Due:  now.Add(20 * time.Second),
			Life: with(failed, func(l *Life) { l.OwnDue = now.Add(20 * time.Second) })}},
		"a long wait fixes the end of the life": {4, fresh, 0, Next{To: ToBacklog, Attempts: 4, Wait: 320 * time.Second,
			Due: now.Add(320 * time.Second), Life: with(failed, func(l *Life) {
				l.OwnDue, l.DiesAt = now.Add(320*time.Second), now.Add(tenPlaces.Remaining(4))
			})}},
		"once": {5, with(parked, func(l *Life) { l.OwnDue = begun }), 0, Next{To: ToBacklog, Attempts: 5,
			Wait: 1280 * time.Second,
			Due:  now.Add(1280 * time.Second), Life: with(failed, func(l *Life) {
				l.OwnDue, l.DiesAt = now.Add(1280*time.Second), parked.DiesAt
			})}},
		"Retry-After makes a wait long": {1, fresh, 151 * time.Second, Next{To: ToBacklog, Attempts: 1,
			Wait: 151 * time.Second,
			Due:  now.Add(151 * time.Second), Life: with(failed, func(l *Life) {
				l.OwnDue, l.DiesAt = now.Add(151*time.Second), now.Add(tenPlaces.Remaining(1))
			})}},
		"before its own due time no place is used": {5, parked, 0, Next{To: ToBacklog, Attempts: 4, Wait: 20 * time.Minute,
			Due: parked.OwnDue, Life: with(parked, func(l *Life) { l.Probe, l.Reason, l.Status = 0, ReasonHTTP5xx, 503 })}},
		"also not the last place": {10, parked, 0, Next{To: ToBacklog, Attempts: 9, Wait: 20 * time.Minute,
			Due: parked.OwnDue, Life: with(parked, func(l *Life) { l.Probe, l.Reason, l.Status = 0, ReasonHTTP5xx, 503 })}},
		"Retry-After is a floor of that, too": {5, parked, time.Hour, Next{To: ToBacklog, Attempts: 4, Wait: time.Hour,
			Due: now.Add(time.Hour), Life: with(parked, func(l *Life) { l.Probe, l.Reason, l.Status = 0, ReasonHTTP5xx, 503 })}},
		"a second early is on time": {2, with(fresh, func(l *Life) { l.OwnDue = begun.Add(time.Second) }), 0,
			Next{To: ToRetryQueue, Attempts: 2, Wait: 20 * time.Second, Due: now.Add(20 * time.Second),
				Life: with(failed, func(l *Life) { l.OwnDue = now.Add(20 * time.Second) })}},
		"nothing is due after the end": {8, with(parked, func(l *Life) { l.OwnDue, l.DiesAt = begun, now.Add(time.Hour) }), 0,
			Next{To: ToBacklog, Attempts: 8, Wait: time.Hour, Due: now.Add(time.Hour), Life: with(failed, func(l *Life) {
				l.OwnDue, l.DiesAt = now.Add(retry.Cap), now.Add(time.Hour)
			})}},
		"the last place is the end": {10, fresh, 0, Next{To: ToDeadLetterQueue, Attempts: 10, Due: now, Life: failed}},
		"a probe waits for its circuit, however short its wait": {2, with(fresh, func(l *Life) { l.Probe = 7 }), 0,
			Next{
				To: ToBacklog, Attempts: 2, Wait: 20 * time.Second, Due: now.Add(20 * time.Second),
				Life: with(failed, func(l *Life) {
					l.OwnDue, l.DiesAt = now.Add(20*time.Second), now.Add(tenPlaces.Remaining(2))
				}),
			}},
		"also one before its own due time": {5, with(parked, func(l *Life) { l.OwnDue = now.Add(time.Minute) }), 0,
			Next{To: ToBacklog, Attempts: 4, Wait: time.Minute, Due: now.Add(time.Minute), Life: with(parked, func(l *Life) {
				l.OwnDue, l.Probe, l.Reason, l.Status = now.Add(time.Minute), 0, ReasonHTTP5xx, 503
			})}},
		"what is none waits for little on RetryQueue": {5, with(parked, func(l *Life) {
			l.OwnDue, l.Probe = now.Add(time.Minute), 0
		}), 0, Next{To: ToRetryQueue, Attempts: 4, Wait: time.Minute, Due: now.Add(time.Minute),
			Life: with(parked, func(l *Life) {
				l.OwnDue, l.Probe, l.Reason, l.Status = now.Add(time.Minute), 0, ReasonHTTP5xx, 503
			})}},
		"so is the last attempt": {5, with(parked, func(l *Life) { l.Last = true }), 0, Next{To: ToDeadLetterQueue,
			Attempts: 4, Due: now,
			Life: with(parked, func(l *Life) { l.Last, l.Reason, l.Status = true, ReasonHTTP5xx, 503 })}},
	} {
		t.Run(name, func(t *testing.T) {
			answer := out
			answer.RetryAfter = row.floor
			got := Standing{Place: row.place, Receives: 1, Life: row.life, Now: now}.Failed(tenPlaces, answer, begun)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The end of a life is a last attempt: it does not come before the time that a Retry-After named, unless
// that is beyond MaxLife.
func TestStanding_Failed_movesTheEndBehindRetryAfter(t *testing.T) {
	now := lifeEpoch.Add(time.Hour)
	for name, row := range map[string]struct {
		started, dies, want time.Time
	}{
		"an end before it":    {lifeEpoch, now.Add(time.Minute), now.Add(2 * time.Hour)},
		"an end that is past": {lifeEpoch, now.Add(-time.Minute), now.Add(-time.Minute)},
		"an end after it":     {lifeEpoch, now.Add(3 * time.Hour), now.Add(3 * time.Hour)},
		"seven days are over": {now.Add(time.Hour - retry.MaxLife), now.Add(time.Minute), now.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			life := Life{StartedAt: row.started, DiesAt: row.dies, OwnDue: now.Add(time.Minute)}
			next := Standing{Place: 5, Receives: 1, Life: life, Now: now}.Failed(tenPlaces,
				Outcome{Reason: ReasonHTTP5xx, Status: 503, RetryAfter: 2 * time.Hour}, now.Add(-time.Second))
			if !next.Life.DiesAt.Equal(row.want) || next.Due.After(row.want) {
				t.Errorf("due %s, dies %s, want %s", next.Due, next.Life.DiesAt, row.want)
			}
		})
	}
}

func TestStanding_Fault_growsWithTheReceivesAndUsesNoPlace(t *testing.T) {
	now := lifeEpoch.Add(time.Hour)
	for receives, want := range map[int]struct {
		to   Way
		wait time.Duration
	}{0: {ToRetryQueue, 5 * time.Second}, 1: {ToRetryQueue, 5 * time.Second}, 3: {ToRetryQueue, 80 * time.Second},
		4: {ToBacklog, 320 * time.Second}} {
		got := Standing{Place: 4, Receives: receives, Life: Life{StartedAt: lifeEpoch, Last: true}, Now: now}.Fault(tenPlaces)
		if got.To != want.to || got.Wait != want.wait || got.Attempts != 3 {
			t.Errorf("%d receives: %+v, want %+v", receives, got, want)
		}
	}
}

func TestStanding_Hold(t *testing.T) {
	now := lifeEpoch.Add(time.Hour)
	dies := now.Add(tenPlaces.Remaining(2))
	got := Standing{Place: 2, Receives: 1, Life: Life{StartedAt: lifeEpoch, Probe: 41}, Now: now}.Hold(tenPlaces,
		"circuit_open")
	want := Next{To: ToBacklog, Attempts: 1, Wait: dies.Sub(now), Due: dies, Held: true,
		Life: Life{StartedAt: lifeEpoch, DiesAt: dies, OwnDue: now, Reason: "circuit_open"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	again := Standing{Place: 2, Receives: 1, Life: got.Life, Now: now.Add(time.Hour)}.Hold(tenPlaces, "circuit_open")
	if diff := cmp.Diff(want.Life, again.Life); diff != "" || !again.Due.Equal(dies) {
		t.Errorf("held again it is due at %s (-want +got)\n%s", again.Due, diff)
	}
}

func TestStanding_Later(t *testing.T) {
	now := lifeEpoch.Add(time.Hour)
	got := Standing{Place: 1, Receives: 1, Life: Life{StartedAt: lifeEpoch}, Now: now}.Later(tenPlaces,
		now.Add(time.Minute))
	want := Next{To: ToBacklog, Attempts: 0, Wait: time.Minute, Due: now.Add(time.Minute),
		Life: Life{StartedAt: lifeEpoch, OwnDue: now, DiesAt: now.Add(tenPlaces.Remaining(1))}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A whole life, with holds, faults and early attempts between its places, in any order: every
// place is used once at most, none that is followed by a long wait is skipped, nothing is due
// after the end, and only the last place or the end of the life is death.
func TestStanding_livesAWholeLife(t *testing.T) { rapid.Check(t, wholeLife) }

func FuzzStanding(f *testing.F) { f.Fuzz(rapid.MakeFuzz(wholeLife)) }

func wholeLife(t *rapid.T) {
	now, attempts, receives, posts := lifeEpoch, 0, 1, 0
	life := Life{StartedAt: lifeEpoch}
	for range 200 {
		place := tenPlaces.Place(attempts, receives)
		s := Standing{Place: place, Receives: receives, Life: life, Now: now, Random: rapid.Float64Range(0, 0.999).Draw(t,
			"random")}
		var next Next
		var floor time.Duration
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			next = s.Hold(tenPlaces, "circuit_open")
		case 1:
			next = s.Fault(tenPlaces)
		case 2:
			next = s.Later(tenPlaces, now.Add(time.Minute))
		default:
			s.Life.Last = !life.DiesAt.IsZero() && !now.Before(life.DiesAt)
			floor = time.Duration(rapid.IntRange(0, 400).Draw(t, "floor")) * time.Second
			next = s.Failed(tenPlaces, Outcome{Reason: ReasonTimeout, RetryAfter: floor}, now)
			posts++
		}
		if next.Attempts != place && next.Attempts != place-1 {
			t.Fatalf("at place %d %d are used", place, next.Attempts)
		}
		if next.To == ToDeadLetterQueue {
			if next.Attempts < tenPlaces.Last() && now.Before(life.DiesAt) || posts == 0 {
				t.Fatalf("dead at place %d after %d attempts: %+v", place, posts, next)
			}
			return
		}
		if next.Wait < 0 && !next.Life.DiesAt.Before(now) {
			t.Fatalf("waits %s", next.Wait)
		}
		if next.To == ToBacklog && next.Due.After(next.Life.DiesAt) || next.Life.DiesAt.After(lifeEpoch.Add(retry.MaxLife)) {
			t.Fatalf("due at %s: %+v", next.Due, next.Life)
		}
		asked := now.Before(life.DiesAt) && !next.Life.DiesAt.After(now.Add(floor))
		if moved := !next.Life.DiesAt.Equal(life.DiesAt); moved && !life.DiesAt.IsZero() && !asked {
			t.Fatalf("the end of a life moved from %s to %s", life.DiesAt, next.Life.DiesAt)
		}
		life, now, receives = next.Life, now.Add(max(next.Wait, 0)), receives+1
		if early := rapid.Bool().Draw(t, "early"); next.To == ToBacklog && early { // recovery, an operator
			now = now.Add(-max(next.Wait, 0) / 2)
		}
		if next.To == ToBacklog || attempts == 0 {
			attempts, receives = next.Attempts, 1
		}
	}
}

func TestStanding_withoutAnAttempt(t *testing.T) {
	now := lifeEpoch.Add(time.Hour)
	started := Life{StartedAt: lifeEpoch}
	with := func(change func(*Life)) Life { l := started; change(&l); return l }
	soon := with(func(l *Life) { l.OwnDue = now.Add(time.Minute) })
	late := with(func(l *Life) { l.OwnDue = now.Add(time.Hour) })
	place := func(l Life) Standing { return Standing{Place: 2, Receives: 1, Life: l, Now: now} }
	for name, row := range map[string]struct{ got, want Next }{
		"at once, elsewhere": {place(started).AtOnce(),
			Next{To: ToRetryQueue, Attempts: 1, Due: now, Life: with(func(l *Life) { l.OwnDue = now })}},
		"early by little: on RetryQueue": {place(soon).Early(tenPlaces),
			Next{To: ToRetryQueue, Attempts: 1, Wait: time.Minute, Due: soon.OwnDue, Life: soon}},
		"early by much: in Backlog": {place(late).Early(tenPlaces),
			Next{To: ToBacklog, Attempts: 1, Wait: time.Hour, Due: late.OwnDue, Life: with(func(l *Life) {
				l.OwnDue, l.DiesAt = late.OwnDue, now.Add(tenPlaces.Remaining(2))
			})}},
		"over": {place(with(func(l *Life) { l.Status = 503 })).Die(ReasonEndpointPaused),
			Next{To: ToDeadLetterQueue, Attempts: 1, Due: now, Life: with(func(l *Life) { l.Reason = ReasonEndpointPaused })}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, row.got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
