package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
)

// infra/proofs/template calls every table through the handler.
func TestNew_knowsEachQueueByItsName(t *testing.T) {
	h := New(Config{Settings: Settings{
		EventsQueueURL: "url/events", EventsDeadLetterQueueURL: "url/rejected", DeliveryQueueURL: "url/deliveries",
		RetryQueueURL: "url/retries", SlowQueueURL: "url/slow", DeadLetterQueueURL: "url/dead", MaxLifeDays: 7,
	}})
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
}
