//go:build emulator

package template

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// The constants are minutes of a day. The trouble lasts from the first to the second, and traffic ends at the third.
// The rest is for the alarms to end: one of them looks back an hour.
const (
	troubleFrom  = 12
	troubleUntil = 36
	trafficUntil = 44
	dayUntil     = 105
	tickEvery    = 4 // minutes between batches
)

// Each day raises exactly its alarms, and each alarm has a day. On none of them does a function call anything
// that its role does not allow.
func TestAlarms_onEveryDay(t *testing.T) {
	tpl := load(t)
	defined := alarmsOf(t, tpl, configurations(t, tpl)["default"])
	proven, called := map[string]bool{}, calls{all: map[string]map[asked]bool{}}
	var emitted sync.Map // metrics of all days
	idle := newStage(t)
	idle.runRelease(idle.start().Release)
	called.add(t, idle)
	t.Run("days", func(t *testing.T) {
		for name, d := range days {
			for _, alarm := range d.raises {
				proven[alarm] = true
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := idle.still(t)
				if !d.silent {
					s = newStage(t)
				}
				s.live(d)
				var raised []string
				for _, name := range slices.Sorted(maps.Keys(defined)) {
					raised = append(raised, slices.Repeat([]string{name}, s.raised(defined[name]))...)
				}
				if diff := cmp.Diff(d.raises, raised); diff != "" {
					t.Errorf("alarms (-want +got):\n%s", diff)
				}
				if !d.silent {
					called.add(t, s)
				}
				for _, m := range s.data.Metrics() {
					emitted.Store(m, true)
				}
			})
		}
	})
	called.refused(t, withoutNotices(t))
	for name := range defined {
		if !proven[name] {
			t.Errorf("no day raises %s", name)
		}
	}
	for _, m := range shown(t, tpl, configurations(t, tpl)["default"]) {
		if _, is := emitted.Load(m); strings.HasPrefix(m.Namespace, "Herald/") && !is {
			t.Errorf("the dashboard shows %s, which is emitted on no day", m)
		}
	}
}

// withoutNotices is the template where no owner is told.
func withoutNotices(t *testing.T) template {
	t.Helper()
	tpl := load(t)
	maps.DeleteFunc(tpl.Resources, func(_ string, r cfn.Resource) bool {
		return slices.Contains([]any{"HasNotices", "HasContacts"}, r.All["Condition"])
	})
	return tpl
}

var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// still is a stage without traffic. Its release says every minute the same as in its last run here.
func (s *stage) still(t *testing.T) *stage {
	t.Helper()
	quiet := &stage{t: t, queues: s.queues, ranAt: s.ranAt}
	quiet.ran.Write(s.ran.Bytes())
	return quiet
}

// live lives through a day.
func (s *stage) live(bad day) {
	s.t.Helper()
	for minute := range 24 * 60 {
		s.say(bad.yesterday, start.Add(-time.Duration(minute+1)*time.Minute))
	}
	var functions functions.Functions
	for minute := range dayUntil {
		s.now = start.Add(time.Duration(minute)*time.Minute + 30*time.Second)
		inTrouble := minute >= troubleFrom && minute < troubleUntil
		if !bad.silent {
			if minute == 0 || minute == troubleFrom {
				functions = s.start() // with nothing in memory, so that KMS is asked
			}
			s.work(functions, bad, minute)
		}
		if !inTrouble || !bad.idle {
			s.release(functions.Release, minute)
		}
		if inTrouble && bad.lost {
			s.output.Reset()
		}
		s.provide(bad, inTrouble)
	}
	s.must(s.data.ReadEMF(&s.output))
}

// work has the functions behind queues do a minute's.
func (s *stage) work(functions functions.Functions, bad day, minute int) {
	s.t.Helper()
	if minute == troubleFrom {
		all(bad.fault, bad.once)(s)
	}
	if minute == troubleUntil {
		s.faults.Clear()
		clear(s.down)
		clear(s.unconsumed)
	}
	if minute%tickEvery != 0 || minute >= trafficUntil {
		return
	}
	if minute >= troubleFrom && minute < troubleUntil && bad.tick != nil {
		bad.tick(s)
	}
	s.traffic(bad, minute == troubleFrom)
	s.consume(functions)
	if minute == troubleFrom && bad.once != nil {
		s.faults.Clear()
	}
}

// traffic sends four minutes of traffic: events for an endpoint that answers, an event for one that does not, and a
// retry of each. With dies, which is set once a day, a delivery dies as well.
func (s *stage) traffic(bad day, dies bool) {
	s.t.Helper()
	if bad.quiet {
		s.publish("acme", 1)
		return
	}
	s.publish("acme", 3)
	if bad.busy {
		s.publish("acme", 9)
	}
	s.publish("other", 1)
	s.put("RetryQueue", "webhook_good", 1)
	s.put("RetryQueue", "webhook_bad", 1)
	if dies {
		s.put("DeadLetterQueue", "webhook_bad", 1)
	}
}

// provide states AWS's own metrics of the minute: of queues always, of functions where they ran, of
// throttles where there were some.
func (s *stage) provide(bad day, inTrouble bool) {
	provided := map[sample]float64{}
	for name := range s.queues {
		provided[onQueue(name, visible)], provided[onQueue(name, age)] = 0, 0
		provided[onQueue(name, inFlight)] = s.inFlight[name]
		provided[onQueue(name, deletions)] = s.deleted[name]
	}
	provided[onQueue("EventsDeadLetterQueue", visible)] = s.rejected
	for name, n := range s.invocations {
		provided[onFunction(name, "Invocations")] = n
		provided[onFunction(name, "Errors")], provided[onFunction(name, "Throttles")] = 0, 0
	}
	if inTrouble && bad.provided != nil {
		bad.provided(s, provided)
	}
	s.say(provided, s.now)
	s.deleted, s.invocations = map[string]float64{}, map[string]float64{}
}

func (s *stage) say(values map[sample]float64, at time.Time) {
	for m, value := range values {
		s.data.Put(alarms.NewMetric(m.namespace, m.name, map[string]string{m.dimension: m.resource}), at, value)
	}
}

// raised is how often the alarm rang that day. It must be over at its end.
func (s *stage) raised(a alarms.Alarm) (times int) {
	s.t.Helper()
	changes, err := a.History(&s.data, start, start.Add(dayUntil*time.Minute))
	s.must(err)
	if last := changes[len(changes)-1].State; last == alarms.InAlarm {
		s.t.Errorf("%s does not end: %v", a.Name, changes)
	}
	for _, c := range changes {
		if c.State == alarms.InAlarm {
			times++
		}
	}
	return times
}
