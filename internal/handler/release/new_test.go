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
	calls.Check(t, func() error { _, _, err := h.Due.Due(t.Context(), 0, time.Now(), 1, ""); return err }, "Query Backlog")
	calls.Check(t, func() error { _, err := h.Shards.ReadShard(t.Context(), "id", 0, "", 1); return err }, "Query Backlog")
	calls.Check(t, func() error { return h.Changes.Delete(t.Context(), []backlog.Key{{}})[0] }, "BatchWriteItem Backlog")
	calls.Check(t, func() error { _, _, err := h.Health.Trouble(t.Context(), 0, ""); return err }, "Scan EndpointHealth")
	calls.Check(t, func() error {
		_, err := h.Endpoints.Read(t.Context(), []dynamo.EndpointKey{key})
		return err
	}, "BatchGetItem EndpointHealth", "BatchGetItem Endpoints")
	calls.Check(t, func() error {
		_, err := h.States.Update(t.Context(), delivery.Record{})
		return err
	}, "PutItem Deliveries")
	calls.Check(t, func() error {
		return h.RetryQueue.Send(t.Context(), one)[0]
	}, "SendMessageBatch https://sqs/RetryQueue")
	calls.Check(t, func() error {
		return h.DeadLetterQueue.Send(t.Context(), one)[0]
	}, "SendMessageBatch https://sqs/DeadLetterQueue")
}

func TestNew_refusesTimesThatAreNone(t *testing.T) {
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "MINUTE_SECONDS, FUNCTION_TIMEOUT_SECONDS") {
		t.Errorf("%v", err)
	}
}
