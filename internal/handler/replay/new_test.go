package replay

import (
	"log/slog"
	"testing"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{
		"DEAD_LETTERS_TABLE": "DeadLetters", "DELIVERIES_TABLE": "Deliveries", "ENDPOINTS_TABLE": "Endpoints",
		"DEAD_LETTER_KEY_ARN": "key", "DELIVERY_QUEUE_URL": "DeliveryQueue", "EVENTS_QUEUE_URL": "EventsQueue",
		"EVENTS_DEAD_LETTER_QUEUE_URL": "EventsDeadLetterQueue", "JOBS_TABLE": "Jobs", "RETRY_QUEUE_URL": "RetryQueue",
		"AUDIT_LOG_GROUP": "Audit", "API_KEYS_TABLE": "ApiKeys", "BACKLOG_TABLE": "Backlog",
		"ENDPOINT_HEALTH_TABLE": "EndpointHealth",
	})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	messages := []queue.Outgoing{{Body: "{}"}}
	calls.Check(t, func() error { _, _, err := h.DeadLetters.Get(t.Context(), "id"); return err }, "GetItem DeadLetters")
	calls.Check(t, func() error {
		_, err := h.States.Update(t.Context(), delivery.Record{})
		return err
	}, "PutItem Deliveries")
	calls.Check(t, func() error { _, _, err := h.Endpoints.Get(t.Context(), "t", "id"); return err }, "GetItem Endpoints")
	calls.Check(t, func() error {
		_, err := h.Vault.SealDeath(t.Context(), deadletter.Record{}, deadletter.Death{})
		return err
	}, "GenerateDataKey key")
	calls.Check(t, func() error { return h.Deliveries.Send(t.Context(), messages)[0] }, "SendMessageBatch DeliveryQueue")
	calls.Check(t, func() error { return h.Retries.Send(t.Context(), messages)[0] }, "SendMessageBatch RetryQueue")
	calls.Check(t, func() error { _, _, err := h.Jobs.Get(t.Context(), "id"); return err }, "GetItem Jobs")
	calls.Check(t, func() error { return h.Events.Send(t.Context(), messages)[0] }, "SendMessageBatch EventsQueue")
	calls.Check(t, func() error {
		_, err := h.Rejected.Receive(t.Context(), 1)
		return err
	}, "ReceiveMessage EventsDeadLetterQueue")
	for kind, call := range map[string]string{
		"api_keys": "Query ApiKeys", "endpoints": "Query Endpoints", "health": "Scan EndpointHealth",
		"backlog": "Scan Backlog", "deliveries": "Scan Deliveries", "dead_letters": "Query DeadLetters", "jobs": "Scan Jobs",
	} {
		calls.Check(t, func() error {
			_, _, err := h.Erasure.Page(t.Context(), kind, "t", "", true)
			return err
		}, call)
	}
	calls.Check(t, func() error {
		return h.Audit.Write(t.Context(), audit.Line{Action: "test"})
	}, "PutLogEvents Audit", "PutLogEvents replay")
}
