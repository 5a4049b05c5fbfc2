//go:build emulator

package template

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit"
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

// trouble is what makes a day bad. All of it lasts as long as the trouble does.
type trouble struct {
	silent    bool                             // no traffic all day
	quiet     bool                             // one delivery in four minutes
	busy      bool                             // enough first attempts for an alarm about them
	fault     func(*stage)                     // what the proxy does to AWS calls
	once      func(*stage)                     // as fault, for the first tick only
	tick      func(*stage)                     // besides the usual traffic
	provided  func(*stage, map[sample]float64) // what AWS's own metrics say each minute
	lost      bool                             // logs, and with them metrics, reach nobody
	yesterday map[sample]float64               // what AWS's own metrics said each minute of the day before
	idle      bool                             // release is not started
}

// sample is one of AWS's own metrics of a resource, named by its logical id.
type sample struct{ namespace, name, dimension, resource string }

func onQueue(name, metric string) sample { return sample{"AWS/SQS", metric, "QueueName", name} }

func onFunction(name, metric string) sample {
	return sample{"AWS/Lambda", metric, "FunctionName", name + "Function"}
}

const (
	visible   = "ApproximateNumberOfMessagesVisible"
	inFlight  = "ApproximateNumberOfMessagesNotVisible"
	age       = "ApproximateAgeOfOldestMessage"
	deletions = "NumberOfMessagesDeleted"
)

func refuse() testkit.Fault { return testkit.Fail(http.StatusBadRequest, "AccessDeniedException") }

// meets makes every call of an action, to resources whose name the request contains, meet a fault.
func meets(action, resource string, fault testkit.Fault) func(*stage) {
	return func(s *stage) {
		s.faults.Add(testkit.Rule{Action: action, Fault: fault, When: func(c testkit.Call) bool {
			return strings.Contains(string(c.Body), resource)
		}})
	}
}

func all(faults ...func(*stage)) func(*stage) {
	return func(s *stage) {
		for _, fault := range faults {
			fault(s)
		}
	}
}

func says(values map[sample]float64) func(*stage, map[sample]float64) {
	return func(_ *stage, provided map[sample]float64) { maps.Copy(provided, values) }
}

var troubles = map[string]trouble{
	"a good day":   {busy: true},
	"a silent day": {silent: true},
	"one invocation meets faults of ours": {
		once: all(meets("Decrypt", "", refuse()), meets("Query", "", refuse()), meets("GenerateDataKey", "", refuse())),
	},
	"a tenant's endpoint is down": {busy: true, tick: func(s *stage) {
		s.down["webhook_bad"] = true
		s.publish("other", 6)
	}},
	"a death a minute, each sealed at once": {
		tick: func(s *stage) { s.put("DeadLetterQueue", "webhook_bad", tickEvery) },
		provided: func(_ *stage, provided map[sample]float64) {
			provided[onQueue("DeadLetterQueue", inFlight)] = 1
			provided[onQueue("DeadLetterQueue", deletions)] = 1
		},
	},

	"KMS refuses to open secrets":                   {fault: meets("Decrypt", "", refuse())},
	"KMS refuses, a delivery every four minutes":    {quiet: true, fault: meets("Decrypt", "", refuse())},
	"IAM refuses deliver and release the endpoints": {fault: meets("BatchGetItem", "", refuse())},
	"IAM refuses fanout the endpoints":              {fault: meets("Query", "Endpoints", refuse())},
	"DeliveryQueue takes nothing":                   {fault: meets("SendMessageBatch", "DeliveryQueue", refuse())},
	"RetryQueue takes nothing": {
		busy: true, fault: meets("SendMessageBatch", "RetryQueue", refuse()),
	},
	"visibility timeouts cannot be changed": {
		fault: meets("ChangeMessageVisibilityBatch", "", testkit.Unavailable()),
	},
	"IAM refuses deliver the delivery states": {
		fault: all(meets("BatchWriteItem", "", refuse()), meets("PutItem", "retrying", refuse())),
	},
	"DynamoDB throttles everything": {
		fault: func(s *stage) {
			s.faults.Add(testkit.Rule{Fault: testkit.Throttle(), When: func(c testkit.Call) bool {
				return c.Service == "dynamodb"
			}})
		},
		provided: says(map[sample]float64{
			{"AWS/DynamoDB", "ReadThrottleEvents", "TableName", "Endpoints"}:   3,
			{"AWS/DynamoDB", "WriteThrottleEvents", "TableName", "Deliveries"}: 5,
		}),
	},
	"KMS refuses data keys": {fault: meets("GenerateDataKey", "", refuse())},
	"deadletter does not run": {
		tick: func(s *stage) { s.unconsumed["DeadLetterQueue"]++ },
		provided: func(s *stage, provided map[sample]float64) {
			provided[onQueue("DeadLetterQueue", visible)] = float64(s.unconsumed["DeadLetterQueue"])
		},
	},
	"every endpoint is down": {busy: true, tick: func(s *stage) { s.down["webhook_good"] = true }},
	"a burst of deaths":      {tick: func(s *stage) { s.put("DeadLetterQueue", "webhook_bad", 15) }},
	"logs are refused":       {lost: true},
	"release does not run":   {idle: true},
	"release cannot read what is due": {
		fault: meets("Query", "by-due", refuse()),
	},
	"Backlog deletes nothing": {
		fault: meets("BatchWriteItem", "DeleteRequest", testkit.Unavailable()),
		tick:  func(s *stage) { s.wait(s.now) },
	},
	"release does not keep up": {tick: func(s *stage) { s.wait(s.now.Add(-11 * time.Minute)) }},
	"DynamoDB throttles Backlog": {silent: true, provided: says(map[sample]float64{
		{"AWS/DynamoDB", "WriteThrottleEvents", "TableName", "Backlog"}: 5,
	})},

	"events are rejected": {tick: (*stage).reject},
	"an event fails again and again": {
		once: meets("Query", "cursed", refuse()), tick: func(s *stage) { s.giveUp("cursed") },
	},
	"rejected events wait for a day": {silent: true, yesterday: map[sample]float64{
		onQueue("EventsDeadLetterQueue", visible): 1, onQueue("EventsDeadLetterQueue", age): 0, // received too often to count
	}},
	"fanout does not keep up": {silent: true, provided: says(map[sample]float64{onQueue("EventsQueue", age): 400})},
	"deliver does not keep up": {silent: true, provided: says(map[sample]float64{
		onQueue("DeliveryQueue", age): 400, onQueue("RetryQueue", visible): 2000,
	})},
	"deliveries pile up in flight": {silent: true, provided: says(map[sample]float64{
		onQueue("DeliveryQueue", inFlight): 70_000, onQueue("RetryQueue", inFlight): 70_000,
	})},
	"every function crashes": {silent: true, provided: func(_ *stage, provided map[sample]float64) {
		for _, name := range functions {
			provided[onFunction(name, "Errors")] = 1
		}
	}},
	"Lambda throttles": {silent: true, provided: says(map[sample]float64{onFunction("Deliver", "Throttles"): 2})},
	"the management API fails": {silent: true, provided: says(map[sample]float64{
		{"AWS/ApiGateway", "5xx", "ApiId", "HttpApi"}: 7,
	})},
}

func TestAlarms_onEveryDay(t *testing.T) {
	tpl := load(t)
	with := configurations(t, tpl)["default"]
	defined := alarmsOf(t, tpl, with)
	var described []string
	for _, d := range days {
		described = append(described, d.name)
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, with)
			s.live(troubles[d.name])
			var raised []string
			for _, name := range slices.Sorted(maps.Keys(defined)) {
				if s.raised(defined[name]) {
					raised = append(raised, name)
				}
			}
			if diff := cmp.Diff(d.raises, raised); diff != "" {
				t.Errorf("alarms (-want +got):\n%s", diff)
			}
		})
	}
	slices.Sort(described)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(troubles)), described); diff != "" {
		t.Errorf("days without trouble, or the other way round (-want +got):\n%s", diff)
	}
}

// What was rejected stays on its queue for fourteen days. The alarm is over long before, and goes off again.
func TestRejectedEventsAlarm_goesOffForEveryArrival(t *testing.T) {
	t.Parallel()
	tpl := load(t)
	with := configurations(t, tpl)["default"]
	s := newStage(t, with)
	s.live(trouble{tick: func(s *stage) {
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
	s.live(trouble{fault: troubles["RetryQueue takes nothing"].fault, tick: func(s *stage) { s.wait(s.now) }})
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
func (s *stage) live(bad trouble) {
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
			s.release(processes.release, minute)
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

func (s *stage) begin(bad trouble) {
	for _, faults := range []func(*stage){bad.fault, bad.once} {
		if faults != nil {
			faults(s)
		}
	}
}

// traffic is what comes in four minutes: events for an endpoint that answers, one for an endpoint that
// does not, a retry of each; once a day one that dies.
func (s *stage) traffic(bad trouble, dies bool) {
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

func (s *stage) consume(by consumers) {
	s.t.Helper()
	s.fanOut(by.fanout)
	s.pump("DeliveryQueue", "Deliver", by.deliver)
	s.pump("RetryQueue", "Deliver", by.deliver)
	if s.unconsumed["DeadLetterQueue"] == 0 {
		s.pump("DeadLetterQueue", "Deadletter", by.deadletter)
	}
}

// provide states AWS's own metrics of the minute: of queues always, of functions where they ran, of
// throttles where there were some.
func (s *stage) provide(bad trouble, inTrouble bool) {
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
