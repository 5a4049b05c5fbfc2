package release

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// rated has an item wait for its rate.
func rated(i *backlog.Item) { i.Message.Life.Reason = delivery.ReasonRateLimited }

func (a *account) limit(id string, limit int) {
	a.known(id)
	a.change(id, func(e *endpoint.Endpoint) { e.RateLimit = limit })
}

// arrives is when SQS shows a message at the earliest.
func (m message) arrives() time.Time {
	return m.At.Add(time.Duration(math.Ceil(m.Delay.Seconds())) * time.Second)
}

func TestRun_sendsAtThePaceOfALimit(t *testing.T) {
	inAccount(t, func(a *account) {
		items := a.held(hook, 3000, rated)
		a.store(hook, circuit.None)
		a.limit(hook, 10)
		began := time.Now()
		a.minutes(4)
		perMinute, perSecond := map[int]int{}, map[int]int{}
		last := time.Time{}
		for n, m := range a.sent {
			if m.ID != items[n].Message.DeliveryID {
				a.Fatalf("number %d is %s", n, m.ID)
			}
			if early := m.arrives().Sub(m.Life.Slot); early < 0 || early > time.Second {
				a.Errorf("%s arrives %s after its slot", m.ID, early)
			}
			if m.Life.Slot.Sub(last) < 99*time.Millisecond {
				a.Errorf("the slot of %s is %s after the one before", m.ID, m.Life.Slot.Sub(last))
			}
			last = m.Life.Slot
			perMinute[int(m.arrives().Sub(began)/time.Minute)]++
			perSecond[int(m.arrives().Sub(began)/time.Second)]++
		}
		for second, n := range perSecond {
			if n > 20 {
				a.Errorf("%d in second %d", n, second)
			}
		}
		for minute := range 4 {
			if n := perMinute[minute]; n < 590 || n > 610 {
				a.Errorf("%d in minute %d", n, minute)
			}
		}
		got := a.Circuits[hook]
		if got.State != circuit.None || got.Pace.Quota != 750 || got.Pace.Oldest.IsZero() {
			a.Errorf("then %+v", got)
		}
		a.logged(`"rate_wait_s":3659.249`, `"RateWaitSeconds":[`, `"paced":750`, `"paced":600`, `"endpoints":0`)
		if a.minutes(2); len(a.sent) != 3000 || a.Circuits[hook].Pacing() {
			a.Errorf("%d sent in all, then %+v", len(a.sent), a.Circuits[hook])
		}
	})
}

// A limit and a trouble at once: the smaller pace holds, and deliveries held for another cause need a recovery.
func TestRun_pacesBesideATrouble(t *testing.T) {
	for name, row := range map[string]struct {
		state             circuit.State
		limit             int
		held, rated, sent int
		then              circuit.State
	}{
		"a recovery is slower":                {circuit.Recovering, 10, 500, 0, 120, circuit.Recovering},
		"a limit is slower":                   {circuit.Recovering, 1, 500, 0, 75, circuit.Recovering},
		"a recovery has become a pace":        {circuit.Recovering, 10, 0, 900, 750, circuit.None},
		"a recovery ends behind its last":     {circuit.Recovering, 10, 100, 900, 120, circuit.Recovering},
		"nothing is paced while it is open":   {circuit.Open, 10, 0, 900, 0, circuit.Open},
		"it fails, and is paced":              {circuit.Failing, 10, 0, 900, 750, circuit.Failing},
		"what was held waits for a recovery":  {circuit.None, 10, 100, 900, 0, circuit.Recovering},
		"without a limit it recovers":         {circuit.None, 0, 0, 900, 0, circuit.Recovering},
		"everything is sent within the limit": {circuit.None, 10, 0, 100, 100, circuit.None},
	} {
		t.Run(name, func(t *testing.T) {
			inAccount(t, func(a *account) {
				a.held(hook, row.held)
				a.held(hook, row.rated, rated)
				a.store(hook, row.state, func(i *circuit.Item) {
					if i.State == circuit.Open {
						i.ProbedAt = i.Since
					}
				})
				a.limit(hook, row.limit)
				a.run()
				if got := a.Circuits[hook].State; len(a.sent) != row.sent || got != row.then {
					a.Errorf("%d sent, then %s", len(a.sent), got)
				}
			})
		})
	}
}

// Deliveries that an outage held may lie between deliveries that wait for their rate. A recovery that has become a pace
// leaves it to the pace: another recovery may not begin for long, and would hold up everything younger until then.
func TestRun_pacesWhatARecoveryHasLeft(t *testing.T) {
	inAccount(t, func(a *account) {
		items := append(a.held(hook, 900, rated), append(a.held(hook, 500), a.held(hook, 900, rated)...)...)
		a.store(hook, circuit.Recovering)
		a.limit(hook, 10)
		var got []int
		for range 3 {
			before := len(a.sent)
			a.minutes(1)
			got = append(got, len(a.sent)-before)
		}
		if diff := cmp.Diff([]int{750, 600, 600}, got); diff != "" {
			a.Errorf("sent in each minute (-want +got)\n%s", diff)
		}
		for n, m := range a.sent {
			if m.ID != items[n].Message.DeliveryID {
				a.Fatalf("number %d is %s", n, m.ID)
			}
		}
		if state := a.Circuits[hook].State; state != circuit.None {
			a.Errorf("then it is %s", state)
		}
	})
}

// A limit that is changed while deliveries wait holds from the next run on.
//
// Threat of a tenant: exceeds an operator's limit, or gains by changing its own. Held by: the smaller limit holds;
// taken slots stay taken; 300 a second at most.
func TestRun_takesUpAChangedLimit(t *testing.T) {
	inAccount(t, func(a *account) {
		a.held(hook, 6000, rated)
		a.store(hook, circuit.None)
		var got []int
		for _, limit := range []int{10, 30, 1, 10} {
			a.limit(hook, limit)
			before := len(a.sent)
			a.minutes(1)
			got = append(got, len(a.sent)-before)
		}
		// The first takes 75 s ahead; each other 60 s more, at its own limit. Rounding never exceeds the limit.
		if diff := cmp.Diff([]int{750, 1799, 60, 600}, got); diff != "" {
			a.Errorf("sent in each minute (-want +got)\n%s", diff)
		}
		a.change(hook, func(e *endpoint.Endpoint) { e.RateLimit, e.Marks.RateLimit = 300, 1 })
		before := len(a.sent)
		if a.minutes(1); len(a.sent)-before != 60 {
			a.Errorf("%d sent under an operator's smaller limit", len(a.sent)-before)
		}
		a.change(hook, func(e *endpoint.Endpoint) { e.RateLimit, e.Marks.RateLimit = 0, 0 })
		before = len(a.sent)
		if a.minutes(2); len(a.sent)-before != 120 || a.Circuits[hook].State != circuit.Recovering {
			a.Errorf("without a limit %d are sent, and it is %s", len(a.sent)-before, a.Circuits[hook].State)
		}
	})
}

// Nothing is sent without its slot: where the table refuses, and where others have taken them all.
func TestRun_sendsNothingWithoutASlot(t *testing.T) {
	inAccount(t, func(a *account) {
		a.held(hook, 30, rated)
		a.store(hook, circuit.None)
		a.limit(hook, 1)
		a.refuse("Take")
		a.minutes(1)
		a.logged(`"action":"taking slots","fault":"internal"`)
		a.refuse("")
		a.change(hook, func(e *endpoint.Endpoint) { e.RateLimit = 1 })
		if a.Rates[model.RateKey{EndpointID: hook}] = time.Now().Add(time.Hour); len(a.sent) > 0 {
			a.Errorf("%d sent while slots could not be taken", len(a.sent))
		}
		a.minutes(1)
		if got, stored := a.Circuits[hook]; len(a.sent) > 0 || len(a.left(hook)) != 30 || !stored {
			a.Errorf("%d sent, %d left, then %+v", len(a.sent), len(a.left(hook)), got)
		}
	})
}

// Only age ends a delivery that waits for its rate. Once the limit is gone, it gets a last attempt.
func TestRun_buriesWhatHasWaitedForItsRateForALife(t *testing.T) {
	old := func(i *backlog.Item) { i.DueAt = time.Now().Add(-time.Second) }
	for limit, reason := range map[int]delivery.Reason{0: "", 1: delivery.ReasonRateLimited} {
		inAccount(t, func(a *account) {
			a.held(hook, 1, rated, old)
			a.limit(hook, limit)
			a.run()
			dead := len(a.buried) == 1 && a.buried[0].Life.Reason == reason
			if sent := len(a.sent) == 1; sent == (limit > 0) || dead != (limit > 0) {
				a.Errorf("with the limit %d: sent %+v, dead %+v", limit, a.sent, a.buried)
			}
		})
	}
}

// A tenant's limits and floods take its own share of a run only: another tenant's recovery is sent in full.
func TestRun_leavesOthersTheirShareBesidePaces(t *testing.T) {
	inAccount(t, func(a *account) {
		for n := range 50 {
			id := fmt.Sprint("webhook_flood", n, "@flooder")
			a.held(id, 200, rated)
			a.store(id, circuit.None)
			a.limit(id, 1)
		}
		a.held(hook, 120)
		a.store(hook, circuit.Recovering)
		took := a.run()
		to := a.sentTo()
		if to[hook] != 120 || to["webhook_flood7@flooder"] != 75 || took > 5*time.Second {
			a.Errorf("%d of 120 and %d of 75 in %s", to[hook], to["webhook_flood7@flooder"], took)
		}
	})
}
