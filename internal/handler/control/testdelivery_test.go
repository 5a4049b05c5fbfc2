package control

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/event"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// Send keeps a test delivery as deliver reads it.
func (w *world) Send(_ context.Context, messages []queue.Outgoing) []error {
	errs := make([]error, len(messages))
	for n, out := range messages {
		m, err := queue.Decode(events.SQSMessage{Body: out.Body, MessageAttributes: sqsevent.Attributes(out.Attributes)})
		if errs[n] = err; err == nil {
			errs[n] = w.fault("Send")
		}
		w.sent = append(w.sent, m)
		w.calls = append(w.calls, "Send "+m.EndpointID)
	}
	return errs
}

func TestHandler_test_sendsADeliveryOfItsOwnType(t *testing.T) {
	w := newWorld()
	w.endpoints[0].URL, w.endpoints[0].Events = "https://example.com/secret", []string{"user.created"}
	got := testkit.Read[Test](t, w.ask(t, "test", one))
	if len(w.sent) != 1 || !w.sent[0].IsTest() || w.sent[0].EventID != "test_1" {
		t.Fatalf("sent %+v", w.sent)
	}
	id := w.sent[0].DeliveryID
	want := Test{
		TenantID: "acme", EndpointID: "webhook_1", Host: "example.com", DeliveryID: id, Result: "sent",
		Headers: map[string]string{"content-type": "application/json", "wh-id": id, "wh-webhook-event": "herald.test"},
		Body:    `{"type":"herald.test","data":{}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestHandler_test_failsWhereTheQueueRefuses(t *testing.T) {
	w := newWorld()
	w.fails = "Send"
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
