//go:build emulator

package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/pipeline"
	"github.com/herald-webhooks/herald/internal/testkit/alarms"
)

// Of a day's minutes the trouble lasts from the first to the second; traffic ends at the third. The
// rest is for the alarms to end, of which one looks back an hour.
const (
	troubleFrom  = 16
	troubleUntil = 48
	trafficUntil = 60
	dayUntil     = 125
	tickEvery    = 4 // minutes between batches
)

// Each day raises exactly its alarms, and each alarm has a day. On none of them does a function call anything
// that its role does not allow.
func TestAlarms_onEveryDay(t *testing.T) {
	tpl := load(t)
	with := configurations(t, tpl)["default"]
	defined := alarmsOf(t, tpl, with)
	proven, called := map[string]bool{}, rights{used: map[string]map[string]bool{}}
	t.Run("days", func(t *testing.T) {
		for name, d := range days {
			for _, alarm := range d.raises {
				proven[alarm] = true
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, with)
				s.live(d)
				var raised []string
				for _, name := range slices.Sorted(maps.Keys(defined)) {
					if s.raised(defined[name]) {
						raised = append(raised, name)
					}
				}
				if diff := cmp.Diff(d.raises, raised); diff != "" {
					t.Errorf("alarms (-want +got):\n%s", diff)
				}
				called.add(t, s.faults.Calls(""))
			})
		}
	})
	called.check(t, tpl)
	for name := range defined {
		if !proven[name] {
			t.Errorf("no day raises %s", name)
		}
	}
}

// What was rejected stays on its queue for fourteen days. The alarm is over long before, and goes off again.
func TestRejectedEventsAlarm_goesOffForEveryArrival(t *testing.T) {
	t.Parallel()
	tpl := load(t)
	with := configurations(t, tpl)["default"]
	s := newStage(t, with)
	s.live(day{tick: func(s *stage) {
		if at := s.now.Sub(start); at < (troubleFrom+1)*time.Minute || at > 40*time.Minute && at < 44*time.Minute {
			s.reject()
		}
	}})
	alarm := alarmsOf(t, tpl, with)["RejectedEventsAlarm"]
	changes, err := alarm.History(&s.data, start, start.Add(dayUntil*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprint(c.At.Sub(start), " ", c.State))
	}
	want := []string{"0s OK", "17m0s ALARM", "22m0s OK", "41m0s ALARM", "46m0s OK"}
	if diff := cmp.Diff(want, got); diff != "" || s.rejected != 2 {
		t.Errorf("after %v rejections (-want +got):\n%s", s.rejected, diff)
	}
}

// Every metric of Herald's own that an alarm reads is emitted on a day with a fault of each kind: a
// name or a dimension that nobody emits would be an alarm that never rings.
func TestAlarms_readMetricsThatAreEmitted(t *testing.T) {
	tpl := load(t)
	with := configurations(t, tpl)["default"]
	s := newStage(t, with)
	s.live(day{fault: days["RetryQueue takes nothing"].fault, tick: func(s *stage) { s.wait(s.now) }})
	for name, a := range alarmsOf(t, tpl, with) {
		for _, m := range a.Metrics() {
			if strings.HasPrefix(m.Namespace, "Herald/") && !s.data.Has(m) {
				t.Errorf("%s reads %s, which is not emitted", name, m)
			}
		}
	}
}

var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// live lives through a day.
func (s *stage) live(bad day) {
	s.t.Helper()
	processes := s.start()
	for minute := range 24 * 60 {
		s.say(bad.yesterday, start.Add(-time.Duration(minute+1)*time.Minute))
	}
	for minute := range dayUntil {
		s.now = start.Add(time.Duration(minute)*time.Minute + 30*time.Second)
		inTrouble := minute >= troubleFrom && minute < troubleUntil
		if minute == troubleFrom {
			processes = s.start() // with nothing in memory, so that KMS is asked
			s.begin(bad)
		}
		if minute == troubleUntil {
			s.end()
		}
		if minute%tickEvery == 0 && minute < trafficUntil && !bad.silent {
			if inTrouble && bad.tick != nil {
				bad.tick(s)
			}
			s.traffic(bad, minute == troubleFrom)
			s.consume(processes)
			if minute == troubleFrom && bad.once != nil {
				s.faults.Clear()
			}
		}
		if !inTrouble || !bad.idle {
			s.release(processes.Release, minute)
		}
		if inTrouble && bad.lost {
			s.output.Reset()
		}
		s.provide(bad, inTrouble)
	}
	if err := s.data.ReadEMF(&s.output); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) end() {
	s.faults.Clear()
	clear(s.down)
	clear(s.unconsumed)
}

func (s *stage) begin(bad day) {
	for _, faults := range []func(*stage){bad.fault, bad.once} {
		if faults != nil {
			faults(s)
		}
	}
}

// traffic is what comes in four minutes: events for an endpoint that answers, one for an endpoint that
// does not, a retry of each; once a day one that dies.
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

func (s *stage) consume(by pipeline.Functions) {
	s.t.Helper()
	s.fanOut(by.Fanout)
	s.pump("DeliveryQueue", "Deliver", by.Deliver)
	s.pump("RetryQueue", "Deliver", by.Deliver)
	if s.unconsumed["DeadLetterQueue"] == 0 {
		s.pump("DeadLetterQueue", "Deadletter", by.Deadletter)
	}
}

// provide states AWS's own metrics of the minute: of queues always, of functions where they ran, of
// throttles where there were some.
func (s *stage) provide(bad day, inTrouble bool) {
	provided := map[sample]float64{}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(s.queues)), []string{"EventsQueue"}) {
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

// raised reports whether the alarm rang that day. It must be over at its end.
func (s *stage) raised(a alarms.Alarm) bool {
	s.t.Helper()
	changes, err := a.History(&s.data, start, start.Add(dayUntil*time.Minute))
	if err != nil {
		s.t.Fatal(err)
	}
	if last := changes[len(changes)-1].State; last == alarms.InAlarm {
		s.t.Errorf("%s does not end: %v", a.Name, changes)
	}
	return slices.ContainsFunc(changes, func(c alarms.Change) bool { return c.State == alarms.InAlarm })
}
