package inspect

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{
		"DELIVERIES_TABLE": "Deliveries", "DEAD_LETTERS_TABLE": "DeadLetters", "DEAD_LETTER_KEY_ARN": "key",
		"ENDPOINTS_TABLE": "Endpoints", "ENDPOINT_HEALTH_TABLE": "EndpointHealth", "BACKLOG_TABLE": "Backlog",
		"JOBS_TABLE":       "Jobs",
		"EVENTS_QUEUE_URL": "url/events", "EVENTS_DEAD_LETTER_QUEUE_URL": "url/rejected",
		"DELIVERY_QUEUE_URL": "url/deliveries", "RETRY_QUEUE_URL": "url/retries", "DEAD_LETTER_QUEUE_URL": "url/dead",
		"SLOW_QUEUE_URL": "url/slow", "MINUTE_SECONDS": "60", "MAXIMUM_CONCURRENCY": "200", "ATTEMPT_TIMEOUT_SECONDS": "15",
		"MAX_LIFE_DAYS": "7",
	})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	queues := map[string]string{
		"EventsQueue": "url/events", "EventsDeadLetterQueue": "url/rejected", "DeliveryQueue": "url/deliveries",
		"RetryQueue": "url/retries", "SlowQueue": "url/slow", "DeadLetterQueue": "url/dead",
	}
	if diff := cmp.Diff(queues, h.Queues); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
	if h.MaxLife != 7*24*time.Hour {
		t.Errorf("deliveries are kept for %s", h.MaxLife)
	}
	if url := h.Rejected.(rejected.Queue).URL; url != "url/rejected" {
		t.Errorf("rejected events are read from %s", url)
	}
	calls.Check(t, func() error { _, _, err := h.Deliveries.Get(t.Context(), "id"); return err }, "GetItem Deliveries")
	calls.Check(t, func() error { _, _, err := h.DeadLetters.Get(t.Context(), "id"); return err }, "GetItem DeadLetters")
	calls.Check(t, func() error { _, err := h.Endpoints.List(t.Context(), "t"); return err }, "Query Endpoints")
	calls.Check(t, func() error { _, err := h.Circuits.Get(t.Context(), "id"); return err }, "GetItem EndpointHealth")
	calls.Check(t, func() error {
		_, _, err := h.Circuits.Trouble(t.Context(), 1, "")
		return err
	}, "Query EndpointHealth")
	calls.Check(t, func() error {
		_, err := h.Readings.Read(t.Context(), []dynamo.EndpointKey{{TenantID: "t", EndpointID: "id"}}, nil)
		return err
	}, "BatchGetItem EndpointHealth", "BatchGetItem Endpoints")
	calls.Check(t, func() error { _, _, err := h.Jobs.Get(t.Context(), "id"); return err }, "GetItem Jobs")
	calls.Check(t, func() error { _, err := h.Backlog.Count(t.Context(), "id"); return err }, "Query Backlog")
	calls.Check(t, func() error {
		_, err := h.Vault.SealDeath(t.Context(), deadletter.Record{}, deadletter.Death{})
		return err
	}, "GenerateDataKey key")
	calls.Check(t, func() error { _, err := h.depth(t.Context(), "any"); return err }, "GetQueueAttributes any")
}
