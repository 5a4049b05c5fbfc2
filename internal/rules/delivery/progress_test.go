package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/retry"
)

var (
	start    = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	schedule = retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9} // 5 s, 20 s, 80 s, then long
	over     = start.Add(7 * 24 * time.Hour)
)

func after(d time.Duration) time.Time { return start.Add(d) }

// in is a delivery in hand, an hour into its life.
func in(from Queue, place int) Progress {
	return Progress{From: from, Place: place, Receives: 1, Life: Life{StartedAt: start}, Now: after(time.Hour)}
}

func TestProgress_Failed(t *testing.T) {
	failed := Outcome{Reason: ReasonHTTP5xx, Status: 503}
	hour := func(d time.Duration) time.Time { return after(time.Hour + d) }
	asked := func(d time.Duration) Outcome { return Outcome{Reason: ReasonHTTP429, Status: 429, RetryAfter: d} }
	life := func(due time.Time) Life {
		return Life{StartedAt: start, DueAt: due, Reason: ReasonHTTP5xx, Status: 503}
	}
	busy := func(due time.Time) Life {
		return Life{StartedAt: start, DueAt: due, Reason: ReasonHTTP429, Status: 429}
	}
	probe := in(RetryQueue, 10)
	probe.Life.Probe = start
	old := in(RetryQueue, 5)
	old.Now = over
	oldProbe := probe
	oldProbe.Now = over
	late := in(RetryQueue, 9)
	late.Now = over.Add(-time.Hour)
	for name, c := range map[string]struct {
		p    Progress
		out  Outcome
		want Move
	}{
		"a first attempt goes to RetryQueue": {in(DeliveryQueue, 1), failed,
			Move{To: ToRetryQueue, Attempts: 1, Due: hour(5 * time.Second), Life: life(hour(5 * time.Second))}},
		"a short wait is spent on RetryQueue": {in(RetryQueue, 2), failed,
			Move{To: Stay, Attempts: 2, Due: hour(20 * time.Second), Life: life(hour(20 * time.Second))}},
		"a short wait of a slow tenant is spent on SlowQueue": {in(SlowQueue, 1), failed,
			Move{To: Stay, Attempts: 1, Due: hour(5 * time.Second), Life: life(hour(5 * time.Second))}},
		"a long wait is spent in Backlog": {in(RetryQueue, 4), failed,
			Move{To: ToBacklog, Attempts: 4, Due: hour(320 * time.Second), Life: life(hour(320 * time.Second))}},
		"Retry-After is a lower bound": {in(RetryQueue, 2), asked(time.Minute),
			Move{To: Stay, Attempts: 2, Due: hour(time.Minute), NotBefore: hour(time.Minute), Life: busy(hour(time.Minute))}},
		"a long Retry-After is spent in Backlog": {in(DeliveryQueue, 1), asked(time.Hour),
			Move{To: ToBacklog, Attempts: 1, Due: hour(time.Hour), NotBefore: hour(time.Hour), Life: busy(hour(time.Hour))}},
		"nothing is due after the end of a life": {late, failed,
			Move{To: ToBacklog, Attempts: 9, Due: over, Life: life(over)}},
		"the last place is the end": {in(RetryQueue, 10), failed,
			Move{To: ToDeadLetterQueue, Attempts: 10, Due: hour(0), Life: life(time.Time{})}},
		"a life that is over ends": {old, failed,
			Move{To: ToDeadLetterQueue, Attempts: 5, Due: over, Life: life(time.Time{})}},
		"a probe uses no place and waits for its endpoint, even at the last": {probe, failed,
			Move{To: ToBacklog, Attempts: 9, Due: over, Held: true, Life: life(hour(0))}},
		"a probe whose life is over ends": {oldProbe, failed,
			Move{To: ToDeadLetterQueue, Attempts: 9, Due: over, Life: life(time.Time{})}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.p.Failed(schedule, c.out)); diff != "" {
				t.Errorf("move (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProgress_withoutAnAttempt(t *testing.T) {
	now := after(time.Hour)
	due := Life{StartedAt: start, DueAt: after(2 * time.Hour)}
	recovered := in(RetryQueue, 5)
	recovered.Life = due
	thrice := in(RetryQueue, 3)
	thrice.Receives = 4
	old := in(RetryQueue, 5)
	old.Now, old.Receives = over, 9
	late := old
	late.Now = over.Add(-time.Hour)
	for name, c := range map[string]struct{ got, want Move }{
		"an internal fault uses no place": {in(DeliveryQueue, 1).Fault(schedule),
			Move{To: ToRetryQueue, Due: now.Add(5 * time.Second), Life: Life{StartedAt: start}}},
		"its wait grows with the receives, into Backlog": {thrice.Fault(schedule),
			Move{To: ToBacklog, Attempts: 2, Due: now.Add(320 * time.Second), Life: Life{StartedAt: start}}},
		"nor is it due after the end of a life": {late.Fault(schedule),
			Move{To: ToBacklog, Attempts: 4, Due: over, Life: Life{StartedAt: start}}},
		"it ends no life": {old.Fault(schedule),
			Move{To: Stay, Attempts: 4, Due: over.Add(retry.MaxDelay), Life: Life{StartedAt: start}}},
		"a delivery that another receive has to attempt": {in(DeliveryQueue, 1).Again(),
			Move{To: ToRetryQueue, Due: now, Life: Life{StartedAt: start}}},
		"a slow tenant's": {recovered.Aside(), Move{To: ToSlowQueue, Attempts: 4, Due: now, Life: due}},
		"held, it keeps its schedule's time": {recovered.Hold(schedule, ReasonEndpointPaused),
			Move{To: ToBacklog, Attempts: 4, Due: over, Held: true,
				Life: Life{StartedAt: start, DueAt: due.DueAt, Reason: ReasonEndpointPaused}}},
		"held before its first attempt": {in(DeliveryQueue, 1).Hold(schedule, ReasonCircuitOpen),
			Move{To: ToBacklog, Due: over, Held: true, Life: Life{StartedAt: start, DueAt: now, Reason: ReasonCircuitOpen}}},
		"held after the end of its life, it dies": {old.Hold(schedule, ReasonCircuitOpen),
			Move{To: ToDeadLetterQueue, Attempts: 4, Due: over, Life: Life{StartedAt: start, Reason: ReasonCircuitOpen}}},
		"buried": {recovered.Bury(ReasonTenantSlow),
			Move{To: ToDeadLetterQueue, Attempts: 4, Due: now,
				Life: Life{StartedAt: start, DueAt: due.DueAt, Reason: ReasonTenantSlow}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.got); diff != "" {
				t.Errorf("move (-want +got):\n%s", diff)
			}
		})
	}
}
