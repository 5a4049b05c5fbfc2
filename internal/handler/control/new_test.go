package control

import (
	"log/slog"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{
		"ENDPOINTS_TABLE": "Endpoints", "ENDPOINT_HEALTH_TABLE": "EndpointHealth", "BACKLOG_TABLE": "Backlog",
		"DELIVERY_QUEUE_URL": "DeliveryQueue", "AUDIT_LOG_GROUP": "Audit",
		"MINUTE_SECONDS": "60", "FUNCTION_TIMEOUT_SECONDS": "30",
	})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	key := dynamo.EndpointKey{TenantID: "t", EndpointID: "webhook_1"}
	calls.Check(t, func() error { _, err := h.Endpoints.List(t.Context(), "t"); return err }, "Query Endpoints")
	calls.Check(t, func() error { _, err := h.Endpoints.Marks(t.Context(), "t"); return err }, "GetItem Endpoints")
	calls.Check(t, func() error { _, err := h.Circuits.Get(t.Context(), "id"); return err }, "GetItem EndpointHealth")
	calls.Check(t, func() error {
		_, err := h.Circuits.Hold(t.Context(), key, time.Now(), time.Now())
		return err
	}, "UpdateItem EndpointHealth")
	calls.Check(t, func() error { _, err := h.Backlog.Count(t.Context(), "id"); return err }, "Query Backlog")
	calls.Check(t, func() error {
		return h.Deliveries.Send(t.Context(), []queue.Outgoing{{Body: "test"}})[0]
	}, "SendMessageBatch DeliveryQueue")
	calls.Check(t, func() error {
		return h.Audit.Write(t.Context(), audit.Line{Action: "test"})
	}, "PutLogEvents Audit", "PutLogEvents control")
}
