package release

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

var environment = map[string]string{
	"ENDPOINTS_TABLE": "Endpoints", "DELIVERIES_TABLE": "Deliveries", "BACKLOG_TABLE": "Backlog",
	"ENDPOINT_HEALTH_TABLE": "EndpointHealth", "RETRY_QUEUE_URL": "https://sqs/RetryQueue",
	"DEAD_LETTER_QUEUE_URL": "https://sqs/DeadLetterQueue", "MINUTE_SECONDS": "30",
	"FUNCTION_TIMEOUT_SECONDS": "90",
}

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	var calls wiring.AWS
	h, err := New(Config{
		Settings: wiring.Settings[Settings](t, environment), AWS: calls.Config(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	thresholds := health.Default().Scaled(30 * time.Second)
	thresholds.FunctionTimeout = 90 * time.Second
	if diff := cmp.Diff(thresholds, h.Thresholds); diff != "" {
		t.Errorf("thresholds (-want +got)\n%s", diff)
	}
	one := []queue.Outgoing{{Body: "x"}}
	key := dynamo.EndpointKey{TenantID: "t", EndpointID: "id"}
	for name, part := range map[string]struct {
		call func() error
		want []string
	}{
		"Due": {
			func() error { _, _, err := h.Due.Due(t.Context(), 0, time.Now(), 1, ""); return err },
			[]string{"Query Backlog"},
		},
		"Shards": {
			func() error { _, err := h.Shards.ReadShard(t.Context(), "id", 0, "", 1); return err },
			[]string{"Query Backlog"},
		},
		"Changes": {
			func() error { return h.Changes.Delete(t.Context(), []backlog.Key{{}})[0] }, []string{"BatchWriteItem Backlog"},
		},
		"Health": {
			func() error { _, _, err := h.Health.Trouble(t.Context(), 0, ""); return err }, []string{"Scan EndpointHealth"},
		},
		"Endpoints": {
			func() error { _, err := h.Endpoints.Read(t.Context(), []dynamo.EndpointKey{key}); return err },
			[]string{"BatchGetItem EndpointHealth", "BatchGetItem Endpoints"},
		},
		"States": {
			func() error { _, err := h.States.Update(t.Context(), delivery.Record{}); return err },
			[]string{"PutItem Deliveries"},
		},
		"RetryQueue": {
			func() error { return h.RetryQueue.Send(t.Context(), one)[0] },
			[]string{"SendMessageBatch https://sqs/RetryQueue"},
		},
		"DeadLetterQueue": {
			func() error { return h.DeadLetterQueue.Send(t.Context(), one)[0] },
			[]string{"SendMessageBatch https://sqs/DeadLetterQueue"},
		},
	} {
		if err := part.call(); err == nil {
			t.Errorf("%s: a refused call succeeds", name)
		}
		if diff := cmp.Diff(part.want, calls.Calls()); diff != "" {
			t.Errorf("calls of %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNew_refusesTimesThatAreNone(t *testing.T) {
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "MINUTE_SECONDS, FUNCTION_TIMEOUT_SECONDS") {
		t.Errorf("%v", err)
	}
}
