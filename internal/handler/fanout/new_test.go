package fanout

import (
	"log/slog"
	"testing"

	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{
		"ENDPOINTS_TABLE": "Endpoints", "DELIVERY_QUEUE_URL": "DeliveryQueue",
		"EVENTS_DEAD_LETTER_QUEUE_URL": "EventsDeadLetterQueue", "EVENTS_MAX_RECEIVE_COUNT": "50",
		"SUCCESS_LOG_SAMPLE": "2.5", "ENDPOINT_HEALTH_TABLE": "EndpointHealth", "SLOW_QUEUE_URL": "SlowQueue",
		"MAXIMUM_CONCURRENCY": "200", "ATTEMPT_TIMEOUT_SECONDS": "15", "SCHEMA_CHECK": "warn",
	})
	var calls wiring.AWS
	h, err := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, known := h.Types("user.created"); !known || h.SchemaCheck != checkWarn {
		t.Errorf("schemas are checked: %s; user.created has one: %t", h.SchemaCheck, known)
	}
	if h.Sample != 2.5 || h.MaxReceives != 50 {
		t.Errorf("the sample is %v, an event is given up after %d receives", h.Sample, h.MaxReceives)
	}
	messages := []queue.Outgoing{{Body: "{}"}}
	calls.Check(t, func() error {
		_, err := h.Subscriptions.Subscriptions(t.Context(), "t")
		return err
	}, "Query Endpoints")
	calls.Check(t, func() error { return h.Deliveries.Send(t.Context(), messages)[0] }, "SendMessageBatch DeliveryQueue")
	calls.Check(t, func() error { return h.SlowQueue.Send(t.Context(), messages)[0] }, "SendMessageBatch SlowQueue")
	calls.Check(t, func() error {
		_, err := h.Slow.SlowUntil(t.Context(), []string{"t"})
		return err
	}, "BatchGetItem EndpointHealth")
	calls.Check(t, func() error {
		return h.Rejected.Send(t.Context(), messages)[0]
	}, "SendMessageBatch EventsDeadLetterQueue")
}

func TestNew_refusesAnUnknownSchemaCheck(t *testing.T) {
	_, err := New(Config{Settings: Settings{MaximumConcurrency: 2, AttemptTimeout: 1, SchemaCheck: "false"}})
	if want := "reading the environment: SCHEMA_CHECK must be off, warn or reject"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNew_refusesASampleThatIsNoShare(t *testing.T) {
	_, err := New(Config{Settings: Settings{SuccessLogSample: 101}})
	if want := "reading the environment: SUCCESS_LOG_SAMPLE must be 0 to 100"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
