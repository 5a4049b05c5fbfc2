package deliver

import (
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// trial is a test delivery to an endpoint.
func trial(event, endpointID string) delivery.Message {
	return trialOf(event, endpointID, delivery.TestType)
}

func trialOf(event, endpointID, eventType string) delivery.Message {
	ref := message(event, endpointID).Ref
	return delivery.NewTest(ref, eventType, "{}")
}

// A test is made once and recorded, whatever becomes of it. It moves nowhere but to the slow lane.
func TestHandler_Process_triesATestOnce(t *testing.T) {
	disabled := func(w *rig) {
		w.change("webhook_1", func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
	}
	for name, row := range map[string]struct {
		status int
		given  func(w *rig)
		from   string
		posts  int
		state  delivery.State // "" for none
		reason delivery.Reason
		sent   int // to SlowQueue
	}{
		"a 2xx is recorded": {204, func(*rig) {}, "delivery", 1, delivery.Acknowledged, "", 0},
		"so it is where most are not": {204, func(w *rig) { w.rules.Unrecorded = true }, "delivery", 1,
			delivery.Acknowledged, "", 0},
		"a failure":             {503, func(*rig) {}, "delivery", 1, delivery.Discarded, delivery.ReasonHTTP5xx, 0},
		"a failure in the lane": {503, func(*rig) {}, "slow", 1, delivery.Discarded, delivery.ReasonHTTP5xx, 0},
		"a disabled endpoint":   {204, disabled, "delivery", 0, delivery.Discarded, delivery.ReasonEndpointDisabled, 0},
		"an open circuit": {204, func(w *rig) { w.opened(time.Minute) }, "delivery", 0, delivery.Discarded,
			delivery.ReasonCircuitOpen, 0},
		"an internal fault": {204, func(w *rig) { w.refuses(openSecret) }, "delivery", 0, delivery.Discarded,
			delivery.ReasonInternal, 0},
		"a slow tenant": {204, func(w *rig) { w.slow() }, "delivery", 0,
			delivery.Retrying, delivery.ReasonTenantSlow, 1},
	} {
		for _, eventType := range []string{delivery.TestType, "organization.created"} { // the endpoint selects neither
			t.Run(name+" of "+eventType, func(t *testing.T) {
				in(t, status(row.status), func(w *rig) {
					row.given(w)
					w.change("webhook_1", func(e *endpoint.Endpoint) { e.Events = []string{"user.created"} })
					m := trialOf("test", "webhook_1", eventType)
					returned := w.process(w.on(row.from, 1, m))
					got := w.aws.States[m.DeliveryID]
					if len(returned) > 0 || len(w.posts) != row.posts || got.State != row.state || got.Reason != row.reason {
						w.Errorf("returned %v, %d POSTs, %s %q", returned, len(w.posts), got.State, got.Reason)
					}
					others := len(w.held) + len(w.sent["Retry"]) + len(w.sent["DeadLetter"]) + len(w.hidden)
					if others > 0 || len(w.sent["Slow"]) != row.sent {
						w.Errorf("moved to %v, held %v, hidden %v", w.sent, w.held, w.hidden)
					}
				})
			})
		}
	}
}

// Neither failures nor successes of tests change a circuit, and no service level counts them.
func TestHandler_Process_learnsNothingFromTests(t *testing.T) {
	for _, code := range []int{204, 503} {
		in(t, status(code), func(w *rig) {
			w.aws.Circuits["webhook_1"] = circuit.Item{EndpointID: "webhook_1", Version: 1, State: circuit.Failing, Failures: 3}
			before := w.aws.Circuits["webhook_1"]
			batch := make([]events.SQSMessage, 60)
			for n := range batch {
				batch[n] = w.on("delivery", 1, trial(string(rune('A'+n)), "webhook_1"))
			}
			w.process(batch...)
			if diff := cmp.Diff(before, w.aws.Circuits["webhook_1"]); diff != "" || len(w.posts) != len(batch) {
				w.Errorf("%d POSTs, circuit (-want +got):\n%s", len(w.posts), diff)
			}
			if w.logged("FirstAttemptsAcknowledged") || w.logged("FirstAttemptSeconds") ||
				w.logged("AcknowledgedSeconds") {
				w.Errorf("service levels count tests: %s", w.logs[len(w.logs)-1])
			}
		})
	}
}
