package control

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// sent are the test deliveries on DeliveryQueue, as deliver reads them.
func (r *rig) sent(t *testing.T) (sent []delivery.Message) {
	t.Helper()
	r.aws.DeliveryQueue.Each(func(received events.SQSMessage, _ time.Duration, _ int) {
		m, err := queue.Decode(received)
		if err != nil {
			t.Error(err)
		}
		sent = append(sent, m)
	})
	return sent
}

func TestHandler_test_sendsADeliveryOfItsOwnType(t *testing.T) {
	w := newRig()
	w.change("webhook_1", func(e *endpoint.Endpoint) {
		e.URL, e.Events = "https://example.com/secret", []string{"user.created"}
	})
	got := testkit.Read[api.TestDelivery](t, w.ask(t, "test", one))
	sent := w.sent(t)
	if len(sent) != 1 || !sent[0].IsTest() || sent[0].EventID != "test_1" {
		t.Fatalf("sent %+v", sent)
	}
	id := sent[0].DeliveryID
	want := api.TestDelivery{
		TenantID: "acme", EndpointID: "webhook_1", Host: "example.com", DeliveryID: id, Result: "sent",
		Headers: map[string]string{"content-type": "application/json", "wh-id": id, "wh-webhook-event": "herald.test"},
		Body:    `{"type":"herald.test","data":{}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestHandler_test_failsWhereTheQueueRefuses(t *testing.T) {
	w := newRig().refuses("Send DeliveryQueue")
	if got := w.ask(t, "test", one); got != testkit.Internal {
		t.Errorf("answered %s", got)
	}
}

func TestNoEventIsATestAndNoPatternMatchesOne(t *testing.T) {
	if event.Known(delivery.TestType) || slices.ContainsFunc(event.Patterns(), func(pattern string) bool {
		return event.Matches(pattern, delivery.TestType)
	}) {
		t.Error("publishers or subscriptions know the type of tests")
	}
}
