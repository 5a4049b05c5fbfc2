//go:build emulator

package template

import (
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// day is a kind of day: the alarms that it raises, no more and no fewer, and its trouble, all of which lasts
// equally long.
type day struct {
	raises    []string
	silent    bool                             // no traffic, and release does as ever
	quiet     bool                             // one delivery in four minutes
	busy      bool                             // enough first attempts for an alarm about them
	fault     func(*stage)                     // meets AWS calls
	once      func(*stage)                     // as fault, for the first tick only
	tick      func(*stage)                     // besides the usual traffic
	provided  func(*stage, map[sample]float64) // AWS's own metrics of each minute
	lost      bool                             // no line of the functions' logs arrives, and so no metric
	yesterday map[sample]float64               // AWS's own metrics of each minute of the day before
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

// meets lets the calls of an action meet a fault. It chooses the calls that name the resource in their request.
func meets(action, resource string, fault testkit.Fault) func(*stage) {
	return func(s *stage) {
		s.faults.Add(testkit.Rule{Action: action, Fault: fault, When: func(c testkit.Call) bool {
			return strings.Contains(string(c.Body), resource)
		}})
	}
}

// throttled makes DynamoDB throttle every call to a table.
func throttled(table string) func(*stage) {
	return func(s *stage) {
		s.faults.Add(testkit.Rule{Fault: testkit.Throttle(), When: func(c testkit.Call) bool {
			return c.Service == "dynamodb" && strings.Contains(string(c.Body), table)
		}})
	}
}

func all(faults ...func(*stage)) func(*stage) {
	return func(s *stage) {
		for _, fault := range faults {
			if fault != nil {
				fault(s)
			}
		}
	}
}

func says(values map[sample]float64) func(*stage, map[sample]float64) {
	return func(_ *stage, provided map[sample]float64) { maps.Copy(provided, values) }
}

func rings(alarms ...string) []string { return alarms }

var days = map[string]day{
	"a good day": {busy: true, tick: func(s *stage) {
		replayed := s.message("webhook_good")
		replayed.Replay, replayed.Attempts = 1, 0
		s.send("DeliveryQueue", queue.Of(replayed, 0))
	}},
	"a silent day": {silent: true},
	"one invocation meets internal faults": {
		once: all(meets("Decrypt", "", refuse()), meets("Query", "", refuse()), meets("GenerateDataKey", "", refuse())),
	},
	"a tenant's endpoint is down": {busy: true, tick: func(s *stage) {
		s.down["webhook_bad"] = true
		s.publish("other", 6)
	}},
	"a death a minute, each sealed at once": {
		tick: func(s *stage) { s.put("DeadLetterQueue", "webhook_bad", tickEvery) },
		provided: says(map[sample]float64{
			onQueue("DeadLetterQueue", inFlight): 1, onQueue("DeadLetterQueue", deletions): 1,
		}),
	},

	"KMS refuses, a delivery every four minutes": {
		raises: rings("DeliverFaultsAlarm"), quiet: true, fault: meets("Decrypt", "", refuse()),
	},
	"KMS refuses data keys": {
		raises: rings("DeadLettersStuckAlarm", "DeadletterFaultsAlarm"), fault: meets("GenerateDataKey", "", refuse()),
	},
	"DeliveryQueue takes nothing": {
		raises: rings("FanoutFaultsAlarm"), fault: meets("SendMessageBatch", "DeliveryQueue", refuse()),
	},
	"RetryQueue takes nothing": {
		// A failed delivery stays on DeliveryQueue and is attempted again, later and later.
		raises: rings("FirstAttemptsLateAlarm", "ResultsLostAlarm"), busy: true,
		fault: meets("SendMessageBatch", "RetryQueue", refuse()),
	},
	"leases cannot be stored": {
		raises: rings("ResultsLostAlarm"), fault: meets("UpdateItem", "held_until", refuse()),
		tick: func(s *stage) { s.put("RetryQueue", "webhook_off", 1) },
	},
	"visibility timeouts cannot be changed": {
		raises: rings("ResultsLostAlarm"), fault: meets("ChangeMessageVisibilityBatch", "", testkit.Unavailable()),
		tick: func(s *stage) { s.put("RetryQueue", "webhook_bad", 2) },
	},

	"DynamoDB throttles every table": {
		raises: rings("DeadLettersStuckAlarm", "DeadletterFaultsAlarm", "DeliverFaultsAlarm", "FanoutFaultsAlarm",
			"ReleaseFaultsAlarm", "ReleaseRunsMissingAlarm", "ResultsLostAlarm"),
		fault: throttled(""),
	},
	"DynamoDB throttles Endpoints": {
		raises: rings("DeliverFaultsAlarm", "FanoutFaultsAlarm", "ReleaseFaultsAlarm"), fault: throttled("Endpoints-"),
	},
	"DynamoDB throttles EndpointHealth": {
		raises: rings("ReleaseFaultsAlarm", "ReleaseRunsMissingAlarm"), fault: throttled("EndpointHealth-"),
	},
	"DynamoDB throttles Backlog": {
		raises: rings("ReleaseFaultsAlarm", "ReleaseRunsMissingAlarm"), fault: throttled("Backlog-"),
	},
	"DynamoDB throttles Deliveries": {
		raises: rings("DeadLettersStuckAlarm", "DeadletterFaultsAlarm", "ResultsLostAlarm"), fault: throttled("Deliveries-"),
	},
	"DynamoDB throttles DeadLetters": {
		raises: rings("DeadLettersStuckAlarm", "DeadletterFaultsAlarm"), fault: throttled("DeadLetters-"),
	},

	"deadletter does not run": {
		raises: rings("DeadLettersStuckAlarm"),
		tick:   func(s *stage) { s.unconsumed["DeadLetterQueue"]++ },
		provided: func(s *stage, provided map[sample]float64) {
			provided[onQueue("DeadLetterQueue", visible)] = float64(s.unconsumed["DeadLetterQueue"])
		},
	},
	"events reach their first attempts late": {
		raises: rings("FirstAttemptsLateAlarm"), tick: func(s *stage) {
			late := s.message("webhook_good")
			late.CreatedAt = s.now.Add(-31 * time.Second)
			s.send("DeliveryQueue", queue.Of(late, 0))
		},
	},
	"every endpoint is down": {
		raises: rings("FirstAttemptsAlarm"), busy: true, tick: func(s *stage) { s.down["webhook_good"] = true },
	},
	"a burst of deaths": {
		raises: rings("DeathsAlarm"), tick: func(s *stage) { s.put("DeadLetterQueue", "webhook_bad", 20) },
	},
	"logs are refused": {
		raises: rings("DeliverMetricsLostAlarm", "FanoutMetricsLostAlarm", "ReleaseRunsMissingAlarm"), lost: true,
	},
	"the log of deadletter is refused": {
		raises: rings("DeadletterMetricsLostAlarm"), silent: true,
		provided: says(map[sample]float64{onFunction("Deadletter", "Invocations"): 1}),
	},
	"release does not run": {raises: rings("ReleaseRunsMissingAlarm"), idle: true},
	"Backlog deletes nothing": {
		raises: rings("BacklogLateAlarm", "ReleaseFaultsAlarm"),
		fault:  meets("DeleteItem", "Backlog-", testkit.Unavailable()),
		tick:   func(s *stage) { s.wait(s.message("webhook_good"), s.now, false) },
	},
	"release does not keep up": {
		raises: rings("BacklogLateAlarm"), tick: func(s *stage) {
			s.wait(s.message("webhook_good"), s.now.Add(-11*time.Minute), false)
		},
	},
	"deliveries wait for their rate for a day": {
		raises: rings("RateWaitAlarm"), tick: func(s *stage) {
			s.limit("webhook_bad", 300)
			rated := s.message("webhook_bad")
			rated.CreatedAt = s.now.Add(-25 * time.Hour)
			rated.Life.Reason = delivery.ReasonRateLimited
			s.wait(rated, s.now.Add(time.Hour), true)
			s.hold("webhook_bad")
		},
	},

	// They stay on their queue for fourteen days. The alarm is over long before, and goes off again.
	"events are rejected twice": {
		raises: rings("RejectedEventsAlarm", "RejectedEventsAlarm"), tick: func(s *stage) {
			if minute := int(s.now.Sub(start) / time.Minute); minute == troubleFrom || minute == troubleFrom+16 {
				s.reject()
			}
		},
	},
	"an event fails again and again": {
		raises: rings("RejectedEventsAlarm"),
		once:   meets("Query", "cursed", refuse()), tick: func(s *stage) { s.publish("cursed", 1) },
	},
	"rejected events wait for a day": {
		raises: rings("RejectedEventsWaitingAlarm"), silent: true,
		yesterday: map[sample]float64{ // received too often to have an age
			onQueue("EventsDeadLetterQueue", visible): 1, onQueue("EventsDeadLetterQueue", age): 0,
		},
	},
	"fanout does not keep up": {
		raises: rings("EventsAgeAlarm"), silent: true,
		provided: says(map[sample]float64{onQueue("EventsQueue", age): 400}),
	},
	"deliver does not keep up": {
		raises: rings("DeliveryAgeAlarm", "RetryBacklogAlarm"), silent: true,
		provided: says(map[sample]float64{onQueue("DeliveryQueue", age): 400, onQueue("RetryQueue", visible): 2000}),
	},
	"a slow tenant's deliveries wait for a day": {
		raises: rings("SlowQueueAgeAlarm"), silent: true,
		provided: says(map[sample]float64{onQueue("SlowQueue", age): 90_000}),
	},
	"first attempts pile up in flight": {
		raises: rings("InFlightAlarm"), silent: true,
		provided: says(map[sample]float64{onQueue("DeliveryQueue", inFlight): 70_000}),
	},
	"retries pile up in flight": {
		raises: rings("InFlightAlarm"), silent: true,
		provided: says(map[sample]float64{onQueue("RetryQueue", inFlight): 70_000}),
	},
	"a function of an operator crashes": {
		raises: rings("FunctionErrorsAlarm"), silent: true,
		provided: says(map[sample]float64{onFunction("Replay", "Errors"): 1}),
	},
	"Lambda takes deliver for a loop": {
		raises: rings("RecursiveInvocationsAlarm"), silent: true,
		provided: says(map[sample]float64{onFunction("Deliver", "RecursiveInvocationsDropped"): 2}),
	},
	"Lambda throttles deliver": {
		raises: rings("ThrottlesAlarm"), silent: true,
		provided: says(map[sample]float64{onFunction("Deliver", "Throttles"): 2}),
	},
	"the management API fails": {
		raises: rings("ApiErrorsAlarm"), silent: true,
		provided: says(map[sample]float64{{"AWS/ApiGateway", "5xx", "ApiId", "HttpApi"}: 7}),
	},
}
