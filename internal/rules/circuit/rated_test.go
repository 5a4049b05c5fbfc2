package circuit

import (
	"testing"
	"time"
)

// waitsForRate is a delivery that the endpoint's limit holds back.
var waitsForRate = Waiting{Held: true, Rated: true, StoredAt: epoch, DueAt: epoch}

func TestItem_Verdict_sendsWhatWaitsForItsRate(t *testing.T) {
	limited := Facts{Limit: 10}
	asked, held := waitsForRate, waitsForRate
	asked.NotBefore, held.Rated = epoch.Add(time.Hour), false
	for name, row := range map[string]struct {
		state State
		facts Facts
		item  Waiting
		want  Verdict
	}{
		"at the pace of the limit":                    {None, limited, waitsForRate, Send},
		"while some fail, too":                        {Failing, limited, waitsForRate, Send},
		"in a recovery, too":                          {Recovering, limited, waitsForRate, Send},
		"not while the circuit is open":               {Open, limited, waitsForRate, Leave},
		"without a limit by now, as a recovery":       {None, Facts{}, waitsForRate, Leave},
		"without a limit by now, in a recovery":       {Recovering, Facts{}, waitsForRate, Send},
		"not before the receiver wants it":            {None, limited, asked, PutBack},
		"what waits for its endpoint has to recover":  {None, limited, held, Leave},
		"what waits for its schedule is let be":       {None, limited, Waiting{StoredAt: epoch}, Leave},
		"of one endpoint with a limit that recovers":  {Recovering, limited, held, Send},
		"what fell due in a recovery is not its part": {Recovering, limited, Waiting{StoredAt: epoch}, Leave},
	} {
		if got := (Item{State: row.state, Since: epoch}).Verdict(row.facts, row.item, epoch); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

func TestItem_Verdict_pacesWhatARecoveryHasLeft(t *testing.T) {
	recovered := epoch.Add(time.Minute)
	held := func(after time.Duration) Waiting {
		return Waiting{Held: true, StoredAt: epoch.Add(after), DueAt: epoch}
	}
	due := held(0)
	due.Held = false
	for name, row := range map[string]struct {
		item  Item
		limit int
		wait  Waiting
		want  Verdict
	}{
		"held before the recovery":           {Item{RecoveredAt: epoch, Since: recovered}, 10, held(-time.Hour), Send},
		"held by a process that was behind":  {Item{RecoveredAt: epoch, Since: recovered}, 10, held(time.Second), Send},
		"held since":                         {Item{RecoveredAt: epoch, Since: recovered}, 10, held(time.Minute), Leave},
		"held without a recovery":            {Item{Since: recovered}, 10, held(0), Leave},
		"without a limit another one begins": {Item{RecoveredAt: epoch, Since: recovered}, 0, held(0), Leave},
		"waiting for its schedule":           {Item{RecoveredAt: epoch, Since: recovered}, 10, due, Leave},
		"while it fails, too": {Item{State: Failing, RecoveredAt: epoch, Since: recovered}, 10, held(0),
			Send},
		"not while the circuit is open": {Item{State: Open, RecoveredAt: epoch, Since: recovered}, 10, held(0), Leave},
	} {
		if got := row.item.Verdict(Facts{Limit: row.limit}, row.wait, recovered); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

func TestItem_Plan_pacesUnderALeaseAlone(t *testing.T) {
	leased := epoch.Add(time.Minute)
	for name, row := range map[string]struct {
		item  Item
		facts Facts
		want  bool
	}{
		"a limit and a lease":   {Item{HeldUntil: leased}, Facts{Limit: 1}, true},
		"a few failures":        {Item{State: Failing, Since: epoch, HeldUntil: leased}, Facts{Limit: 1}, true},
		"no lease":              {Item{}, Facts{Limit: 1}, false},
		"no limit":              {Item{HeldUntil: leased}, Facts{}, false},
		"stopped":               {Item{HeldUntil: leased}, Facts{Limit: 1, Stopped: true}, false},
		"gone":                  {Item{HeldUntil: leased}, Facts{Limit: 1, Gone: true}, false},
		"an open circuit":       {Item{State: Open, Since: epoch, HeldUntil: leased}, Facts{Limit: 1}, false},
		"a recovery as without": {Item{State: Recovering, Since: epoch}, Facts{Limit: 1}, true},
	} {
		if got := row.item.Plan(settings, row.facts, epoch).Recover; got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// Of a limit and a recovery the smaller one holds. A delivery that waits for its rate alone is no part of a recovery.
func TestItem_Quota_isTheSmallerOne(t *testing.T) {
	recovering := Item{State: Recovering, Since: epoch}
	grown := recovering.Paced(960, epoch, epoch)
	for name, row := range map[string]struct {
		item  Item
		limit int
		rated bool // the oldest waits for its rate
		want  int
	}{
		"no limit":                       {recovering, 0, false, 120},
		"no limit any more":              {recovering, 0, true, 120},
		"a limit":                        {Item{}, 10, true, 750},
		"the largest limit":              {Item{}, 300, true, 22_500},
		"a recovery under its limit":     {recovering, 10, false, 120},
		"a recovery beyond its limit":    {grown, 10, false, 750},
		"a recovery that is over by now": {recovering, 10, true, 750},
	} {
		f := Facts{Limit: row.limit}
		if got := row.item.Quota(settings, f, Oldest{At: epoch, Rated: row.rated}, epoch); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

func TestItem_Empty_endsThePace(t *testing.T) {
	paced := Item{HeldUntil: epoch.Add(time.Minute)}.Paced(750, epoch, epoch)
	for name, row := range map[string]struct {
		item  Item
		facts Facts
		want  End
	}{
		"nothing waits for its rate": {paced, Facts{Limit: 10}, Unpace},
		"nor behind a stop":          {paced, Facts{Limit: 10, Stopped: true}, Unpace},
		"nor without the limit":      {paced, Facts{}, Unpace},
		"of a deleted endpoint":      {paced, Facts{Limit: 10, Gone: true}, Keep},
		"it has ended already":       {paced.Unpaced(epoch), Facts{Limit: 10}, Keep},
	} {
		if got := row.item.Empty(settings, row.facts, epoch, epoch); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// In any other state deliveries wait for their endpoint.
func TestItem_Pacing_isWhileNoCircuitDecides(t *testing.T) {
	for state, want := range map[State]bool{None: true, Failing: true, Open: false, Recovering: false} {
		paced := Item{State: state}.Paced(750, epoch, epoch)
		if got, unpaced := paced.Pacing(), paced.Unpaced(epoch).Pacing(); got != want || unpaced {
			t.Errorf("%v: %v, and without a pace %v, want %v", state, got, unpaced, want)
		}
	}
}

func TestItem_Troubled_isNotWhatWaitsForItsRate(t *testing.T) {
	leased := Item{HeldUntil: epoch}
	for name, row := range map[string]struct {
		item  Item
		facts Facts
		want  bool
	}{
		"a lease":               {leased, Facts{}, true},
		"a lease of a rate":     {leased, Facts{Limit: 1}, false},
		"behind a stop":         {leased, Facts{Limit: 1, Stopped: true}, true},
		"it fails":              {Item{State: Failing, HeldUntil: epoch}, Facts{Limit: 1}, true},
		"it recovers":           {Item{State: Recovering}, Facts{Limit: 1}, true},
		"a notice and no lease": {Item{}, Facts{}, false},
	} {
		if got := row.item.Troubled(row.facts); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// An adversary chooses Retry-After. Whatever it is, a first attempt waits for a minute at most, for as long as was
// asked and until then at least, and a 2xx ends the wait.
func TestItem_Backoff_isWhatTheReceiverAskedForUpToAMinute(t *testing.T) {
	for _, asked := range []time.Duration{
		-time.Hour, 0, time.Nanosecond, time.Second, 59 * time.Second, time.Minute, time.Hour, 12 * time.Hour, 1<<63 - 1,
	} {
		result := Result{DeliveryID: "msg_1", Begun: epoch, Status: 429, Reason: "http_429", Retry: true, RetryAfter: asked}
		failing, _ := Item{}.Observe(settings, []Result{result}, Seen{}, epoch)
		want := min(max(asked, 0), settings.Run)
		if got := failing.Backoff(epoch); got != want {
			t.Errorf("asked for %s, a first attempt waits %s", asked, got)
		}
		for _, after := range []time.Duration{time.Second, 30 * time.Second} {
			now := epoch.Add(after)
			if got := failing.Backoff(now); got > 0 && (got != want || now.Add(got).Before(epoch.Add(want))) {
				t.Errorf("asked for %s, after %s it waits %s", asked, after, got)
			}
		}
		if got := failing.Backoff(epoch.Add(want)); got != 0 {
			t.Errorf("asked for %s, afterwards it waits %s", asked, got)
		}
		healthy, _ := failing.Observe(settings, []Result{{OK: true, Begun: epoch}}, Seen{}, epoch)
		if got := healthy.Backoff(epoch); got != 0 {
			t.Errorf("asked for %s, after a 2xx it waits %s", asked, got)
		}
	}
}

func TestItem_Observe_storesNoMomentThatNoReceiverAskedFor(t *testing.T) {
	failed := Result{DeliveryID: "msg_1", Begun: epoch, Status: 503, Reason: "http_5xx", Retry: true}
	failing, _ := Item{}.Observe(settings, []Result{failed, failed}, Seen{}, epoch)
	if want := (Answer{At: epoch, Status: 503, Reason: "http_5xx"}); failing.Last != want {
		t.Errorf("%+v, want %+v", failing.Last, want)
	}
}

// Failures that ask for nothing, in the same batch or a later one, do not end the wait.
func TestItem_Backoff_outlivesOtherFailures(t *testing.T) {
	failed := func(at, after time.Duration) Result {
		return Result{DeliveryID: "msg_1", Begun: epoch.Add(at), Status: 429, Retry: true, RetryAfter: after}
	}
	i, _ := Item{}.Observe(settings, []Result{failed(0, 40*time.Second), failed(0, 0)}, Seen{}, epoch)
	if got := i.Backoff(epoch); got != 40*time.Second {
		t.Errorf("it waits %s", got)
	}
	now := epoch.Add(10 * time.Second)
	other := failed(time.Second, 0)
	other.DeliveryID = "msg_2"
	i, _ = i.Observe(settings, []Result{other}, Seen{}, now)
	if got := i.Backoff(now); got != 30*time.Second {
		t.Errorf("behind another failure it waits %s", got)
	}
	i, _ = i.Observe(settings, []Result{{OK: true, Begun: now}}, Seen{}, now)
	other.Begun = now
	if i, _ = i.Observe(settings, []Result{other}, Seen{}, now); i.Failures != 1 || i.Backoff(now) != 0 {
		t.Errorf("behind a 2xx it waits %s", i.Backoff(now))
	}
}
