package release

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/notice"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

var environment = map[string]string{
	"ENDPOINTS_TABLE": "Endpoints", "DELIVERIES_TABLE": "Deliveries", "BACKLOG_TABLE": "Backlog",
	"ENDPOINT_HEALTH_TABLE": "EndpointHealth", "RETRY_QUEUE_URL": "https://sqs/RetryQueue",
	"DEAD_LETTER_QUEUE_URL": "https://sqs/DeadLetterQueue", "MINUTE_SECONDS": "30",
	"FUNCTION_TIMEOUT_SECONDS": "90", "RETRY_BASE_SECONDS": "7", "RETRY_FACTOR": "3", "MAX_RETRIES": "8",
	"LONG_WAIT_SECONDS": "100", "MAX_LIFE_DAYS": "5", "MAXIMUM_CONCURRENCY": "50", "ATTEMPT_TIMEOUT_SECONDS": "10",
	"JOBS_TABLE": "Jobs", "REPLAY_FUNCTION": "replay",
	"NOTICES": "on", "NOTICES_BUS": "herald-notices",
}

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	var calls wiring.AWS
	h, err := New(Config{
		Settings: wiring.Settings[Settings](t, environment), AWS: calls.Config(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	settings := circuit.Default().Scaled(30 * time.Second)
	settings.FunctionTimeout, settings.Notices = 90*time.Second, true
	want := []any{
		settings, allowance.New(50, 10*time.Second), retry.Schedule{
			Base: 7 * time.Second, Factor: 3, MaxRetries: 8, Long: 100 * time.Second, MaxLife: 5 * 24 * time.Hour,
		},
	}
	if diff := cmp.Diff(want, []any{h.Settings, h.Allowance, h.Schedule}); diff != "" {
		t.Errorf("settings (-want +got)\n%s", diff)
	}
	ctx, one := t.Context(), []queue.Outgoing{{Body: "x"}}
	calls.Check(t, func() error { _, _, err := h.Backlog.Due(ctx, 0, time.Now(), 1, ""); return err }, "Query Backlog")
	calls.Check(t, func() error { _, _, err := h.Circuits.All(ctx); return err }, "Scan EndpointHealth")
	calls.Check(t, func() error { return h.Backlog.Delete(ctx, []backlog.Key{{}})[0] }, "DeleteItem Backlog")
	calls.Check(t, func() error {
		_, err := h.Endpoints.Read(ctx, []dynamo.EndpointKey{{TenantID: "t", EndpointID: "id"}}, nil)
		return err
	}, "BatchGetItem EndpointHealth", "BatchGetItem Endpoints")
	calls.Check(t, func() error {
		_, err := h.Records.Update(ctx, delivery.Record{})
		return err
	}, "PutItem Deliveries")
	calls.Check(t, func() error { return h.Waker.Wake(ctx) }, "Query Jobs")
	calls.Check(t, func() error { return h.RetryQueue.Send(ctx, one)[0] }, "SendMessageBatch https://sqs/RetryQueue")
	calls.Check(t, func() error {
		return h.DeadLetterQueue.Send(ctx, one)[0]
	}, "SendMessageBatch https://sqs/DeadLetterQueue")
	calls.Check(t, func() error { return h.Bus.Put(ctx, []notice.Notice{{}})[0] }, "PutEvents herald-notices")
}

func TestNew_namesTheSettingsThatCannotWork(t *testing.T) {
	_, err := New(Config{})
	for _, name := range []string{"MINUTE_SECONDS", "MAX_RETRIES", "MAXIMUM_CONCURRENCY"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v", err)
		}
	}
}
