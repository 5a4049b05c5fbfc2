package fanout

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{
		"ENDPOINTS_TABLE": "Endpoints", "DELIVERY_QUEUE_URL": "DeliveryQueue",
		"EVENTS_DEAD_LETTER_QUEUE_URL": "EventsDeadLetterQueue", "EVENTS_MAX_RECEIVE_COUNT": "50",
	})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	if h.MaxReceives != 50 {
		t.Errorf("an event is given up after %d receives, want 50", h.MaxReceives)
	}
	messages := []queue.Outgoing{{Body: "{}"}}
	for name, part := range map[string]struct {
		call func() error
		want string
	}{
		"Subscriptions": {
			func() error { _, err := h.Subscriptions.Subscriptions(t.Context(), "t"); return err }, "Query Endpoints",
		},
		"Deliveries": {
			func() error { return h.Deliveries.Send(t.Context(), messages)[0] }, "SendMessageBatch DeliveryQueue",
		},
		"Rejected": {
			func() error { return h.Rejected.Send(t.Context(), messages)[0] }, "SendMessageBatch EventsDeadLetterQueue",
		},
	} {
		if err := part.call(); err == nil {
			t.Errorf("%s: a refused call succeeds", name)
		}
		if diff := cmp.Diff([]string{part.want}, calls.Calls()); diff != "" {
			t.Errorf("calls of %s (-want +got):\n%s", name, diff)
		}
	}
}
