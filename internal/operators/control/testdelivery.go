package control

import (
	"context"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// testRequest names one endpoint. A test of all endpoints of a tenant would be a flood.
type testRequest struct {
	EndpointID string `json:"endpoint_id"`
	TenantID   string `json:"tenant_id"`
}

// Test is a test delivery on its way. inspect shows its result.
type Test struct {
	TenantID   string            `json:"tenant_id"`
	EndpointID string            `json:"endpoint_id"`
	Host       string            `json:"host"`
	DeliveryID string            `json:"delivery_id"`
	Result     string            `json:"result"`
	Headers    map[string]string `json:"headers"` // without timestamp and signature, which deliver makes
	Body       string            `json:"body"`
}

// test sends a test delivery to an endpoint, regardless of its subscriptions. The test is signed and sent like any
// delivery. It is attempted once, leaves no dead letter, and changes no circuit.
func (h *Handler) test(ctx context.Context, call *invoke.Call, req testRequest) (Test, error) {
	if err := invoke.Required("endpoint_id", req.EndpointID); err != nil {
		return Test{}, err
	}
	t, err := h.find(ctx, call, request{EndpointID: req.EndpointID, TenantID: req.TenantID})
	if err != nil {
		return Test{}, err
	}
	if err := t.untestable(); err != nil {
		return Test{}, err
	}
	m := h.newTest(t)
	call.Note(slog.String(telemetry.KeyDelivery, m.DeliveryID))
	line := audit.Line{TenantID: m.TenantID, EndpointID: m.EndpointID, DeliveryID: m.DeliveryID}
	if err := call.Audit(ctx, line); err != nil {
		return Test{}, err
	}
	if err := h.Deliveries.Send(ctx, []queue.Outgoing{queue.Of(m, 0)})[0]; err != nil {
		return Test{}, err
	}
	return Test{
		TenantID: m.TenantID, EndpointID: m.EndpointID, Host: t.found.Endpoint.Host(), DeliveryID: m.DeliveryID,
		Result: resultSent, Body: string(m.Body), Headers: map[string]string{
			"content-type": "application/json", "wh-id": m.DeliveryID, "wh-webhook-event": delivery.TestType,
		},
	}, nil
}

// newTest is a test delivery for the endpoint. It has no data: it shows whether deliveries reach the receiver. Its
// event id is new each time, so that no receiver takes a second test for a duplicate of the first.
func (h *Handler) newTest(t target) delivery.Message {
	return delivery.NewTest(delivery.Ref{
		TenantID: t.key.TenantID, EndpointID: t.key.EndpointID, EventID: "test_" + h.NewID(), CreatedAt: h.Now(),
	}, delivery.TestType, `{}`)
}

// untestable says why the endpoint takes no deliveries now. A test to an open circuit would be held, and its operator
// would wait for a result in vain.
func (t target) untestable() error {
	if err := t.unreleasable(); err != nil {
		return err
	}
	if t.found.Admission() == endpoint.CircuitOpen {
		return invoke.Refuse(codeOpen, "endpoint_id",
			"the endpoint's circuit is open: it gets nothing but probes, and inspect shows their results")
	}
	return nil
}
