package control

import (
	"context"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// test sends a test delivery to an endpoint, regardless of its subscriptions. The test is signed and sent like any
// delivery. It is attempted once, leaves no dead letter, and changes no circuit.
func (h *Handler) test(ctx context.Context, call *invoke.Call, req api.TestRequest) (api.TestDelivery, error) {
	if err := invoke.Required("endpoint_id", req.EndpointID); err != nil {
		return api.TestDelivery{}, err
	}
	t, err := h.find(ctx, call, api.Target{EndpointID: req.EndpointID, TenantID: req.TenantID})
	if err != nil {
		return api.TestDelivery{}, err
	}
	if err := t.untestable(); err != nil {
		return api.TestDelivery{}, err
	}
	m := h.newTest(t)
	call.Note(slog.String(telemetry.KeyDelivery, m.DeliveryID))
	line := audit.Line{TenantID: m.TenantID, EndpointID: m.EndpointID, DeliveryID: m.DeliveryID}
	if err := call.Audit(ctx, line); err != nil {
		return api.TestDelivery{}, err
	}
	if err := h.Deliveries.Send(ctx, []queue.Outgoing{queue.Of(m, 0)})[0]; err != nil {
		return api.TestDelivery{}, err
	}
	return api.TestDelivery{
		TenantID: m.TenantID, EndpointID: m.EndpointID, Host: t.found.Endpoint.Host(), DeliveryID: m.DeliveryID,
		Result: api.ResultSent, Body: string(m.Body), Headers: map[string]string{
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
		return invoke.Refuse(api.CodeCircuitOpen, "endpoint_id",
			"the endpoint's circuit is open: it gets nothing but probes, and inspect shows their results")
	}
	return nil
}
