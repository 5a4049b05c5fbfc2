package deliver

import (
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
)

// What the alarms divide by each other counts attempts and faults of ours, and nothing else.
func TestHandler_tally_countsAttemptsAndFaultsOfOurs(t *testing.T) {
	unreadable := fresh("u", "webhook_1")
	unreadable.MessageAttributes = nil
	for name, c := range map[string]struct {
		given   func(*world)
		records []events.SQSMessage
		want    map[string]float64
	}{
		"first attempts that succeed": {
			records: []events.SQSMessage{fresh("a", "webhook_1"), fresh("b", "webhook_1")},
			want: map[string]float64{
				"Records": 2, "Tried": 2, "Faults": 0, "FirstAttempts": 2, "FirstAttemptsAcknowledged": 2,
			},
		},
		"a first attempt and a retry that fail": {
			given:   func(w *world) { w.respond = status(500) },
			records: []events.SQSMessage{fresh("a", "webhook_1"), retried("b", "webhook_1", 2)},
			want: map[string]float64{
				"Records": 2, "Tried": 2, "Faults": 0, "FirstAttempts": 1, "FirstAttemptsAcknowledged": 0,
			},
		},
		"a secret that does not open": {
			given:   func(w *world) { w.secretErr = errAWS },
			records: []events.SQSMessage{fresh("a", "webhook_1"), retried("b", "webhook_1", 2)},
			want:    map[string]float64{"Records": 2, "Tried": 2, "Faults": 2},
		},
		"a delivery and its duplicate": {
			records: []events.SQSMessage{fresh("a", "webhook_1"), fresh("a", "webhook_1")},
			want: map[string]float64{
				"Records": 2, "Tried": 1, "Faults": 0, "FirstAttempts": 1, "FirstAttemptsAcknowledged": 1,
			},
		},
		"an endpoint that its owner disabled": {
			given: func(w *world) {
				e := active("webhook_1")
				e.Status = endpoint.Disabled
				w.endpoints["webhook_1"] = e
			},
			records: []events.SQSMessage{fresh("a", "webhook_1")},
			want:    map[string]float64{"Records": 1},
		},
		"an open circuit": {
			given:   func(w *world) { w.health["webhook_1"] = in(health.Open) },
			records: []events.SQSMessage{fresh("a", "webhook_1"), retried("b", "webhook_1", 2)},
			want:    map[string]float64{"Records": 2, "FirstAttempts": 1, "FirstAttemptsAcknowledged": 0},
		},
		"a message that cannot be read": {
			records: []events.SQSMessage{unreadable},
			want:    map[string]float64{"Records": 1, "Tried": 1, "Faults": 1},
		},
		"a retry that cannot be sent and a state that cannot be written": {
			given:   func(w *world) { w.respond, w.sendErr, w.stateErr = status(500), errAWS, errAWS },
			records: []events.SQSMessage{fresh("a", "webhook_1")},
			want: map[string]float64{
				"Records": 1, "Tried": 1, "Faults": 0, "FirstAttempts": 1, "FirstAttemptsAcknowledged": 0, "ResultsLost": 2,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(204))
			if c.given != nil {
				c.given(w)
			}
			w.process(t, c.records...)
			w.metrics(t)
			if diff := cmp.Diff(c.want, w.tallied); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
