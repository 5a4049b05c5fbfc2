package replay

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{
		"DEAD_LETTERS_TABLE": "DeadLetters", "DELIVERIES_TABLE": "Deliveries", "ENDPOINTS_TABLE": "Endpoints",
		"DEAD_LETTER_KEY_ARN": "key", "DELIVERY_QUEUE_URL": "DeliveryQueue", "EVENTS_QUEUE_URL": "EventsQueue",
		"EVENTS_DEAD_LETTER_QUEUE_URL": "EventsDeadLetterQueue",
	})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	messages := []queue.Outgoing{{Body: "{}"}}
	for name, part := range map[string]struct {
		call func() error
		want string
	}{
		"DeadLetters": {
			func() error { _, _, err := h.DeadLetters.Get(t.Context(), "id"); return err }, "GetItem DeadLetters",
		},
		"States": {
			func() error { _, err := h.States.Update(t.Context(), delivery.Record{}); return err }, "PutItem Deliveries",
		},
		"Endpoints": {
			func() error { _, _, err := h.Endpoints.Get(t.Context(), "t", "id"); return err }, "GetItem Endpoints",
		},
		"Vault": {func() error {
			_, err := h.Vault.SealDeath(t.Context(), deadletter.Binding{}, deadletter.Death{})
			return err
		}, "GenerateDataKey key"},
		"Deliveries": {
			func() error { return h.Deliveries.Send(t.Context(), messages)[0] }, "SendMessageBatch DeliveryQueue",
		},
		"Events": {func() error { return h.Events.Send(t.Context(), messages)[0] }, "SendMessageBatch EventsQueue"},
		"Rejected": {
			func() error { _, err := h.Rejected.Receive(t.Context(), 1); return err }, "ReceiveMessage EventsDeadLetterQueue",
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
