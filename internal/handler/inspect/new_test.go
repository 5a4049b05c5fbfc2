package inspect

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{
		"DELIVERIES_TABLE": "Deliveries", "DEAD_LETTERS_TABLE": "DeadLetters", "DEAD_LETTER_KEY_ARN": "key",
		"ENDPOINTS_TABLE": "Endpoints", "ENDPOINT_HEALTH_TABLE": "EndpointHealth", "BACKLOG_TABLE": "Backlog",
		"EVENTS_QUEUE_URL": "url/events", "EVENTS_DEAD_LETTER_QUEUE_URL": "url/rejected",
		"DELIVERY_QUEUE_URL": "url/deliveries", "RETRY_QUEUE_URL": "url/retries", "DEAD_LETTER_QUEUE_URL": "url/dead",
	})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	queues := map[string]string{
		"EventsQueue": "url/events", "EventsDeadLetterQueue": "url/rejected", "DeliveryQueue": "url/deliveries",
		"RetryQueue": "url/retries", "DeadLetterQueue": "url/dead",
	}
	if diff := cmp.Diff(queues, h.Queues); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
	if url := h.Rejected.(rejected.Queue).URL; url != "url/rejected" {
		t.Errorf("rejected events are read from %s", url)
	}
	for name, part := range map[string]struct {
		call func() error
		want string
	}{
		"Deliveries": {
			func() error { _, _, err := h.Deliveries.Get(t.Context(), "id"); return err }, "GetItem Deliveries",
		},
		"DeadLetters": {
			func() error { _, _, err := h.DeadLetters.Get(t.Context(), "id"); return err }, "GetItem DeadLetters",
		},
		"Endpoints": {func() error { _, err := h.Endpoints.List(t.Context(), "t"); return err }, "Query Endpoints"},
		"Health":    {func() error { _, err := h.Health.Get(t.Context(), "id"); return err }, "GetItem EndpointHealth"},
		"Backlog":   {func() error { _, err := h.Backlog.Count(t.Context(), "id"); return err }, "Query Backlog"},
		"Vault": {func() error {
			_, err := h.Vault.SealDeath(t.Context(), deadletter.Binding{}, deadletter.Death{})
			return err
		}, "GenerateDataKey key"},
		"Meter": {func() error { _, err := h.depth(t.Context(), "any"); return err }, "GetQueueAttributes any"},
	} {
		if err := part.call(); err == nil {
			t.Errorf("%s: a refused call succeeds", name)
		}
		if diff := cmp.Diff([]string{part.want}, calls.Calls()); diff != "" {
			t.Errorf("calls of %s (-want +got):\n%s", name, diff)
		}
	}
}
