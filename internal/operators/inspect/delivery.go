package inspect

import (
	"context"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// showDelivery shows a record, field for field.
func showDelivery(r delivery.Record) api.Delivery {
	return api.Delivery{
		DeliveryID: r.DeliveryID, TenantID: r.TenantID, EndpointID: r.EndpointID, EventID: r.EventID, EventType: r.EventType,
		TraceID: r.TraceID, Test: r.IsTest(), State: r.State, Attempts: r.Attempts, Replay: r.Replay,
		LastStatus: r.LastStatus, Reason: r.Reason, DurationMS: r.DurationMS, NextAttemptAt: r.NextAttemptAt,
		OccurredAt: r.OccurredAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

// deliveryView shows one delivery. Records of acknowledged ones expire, and the stack may keep none of them.
type deliveryView struct{ deliveries Deliveries }

// show shows the delivery that a request names.
func (v deliveryView) show(ctx context.Context, call *invoke.Call, req api.DeliveryRequest) (api.Delivery, error) {
	const missing = "no delivery has this id, or its record has expired"
	r, err := invoke.Find(ctx, call, telemetry.KeyDelivery, req.DeliveryID, v.deliveries.Get, missing)
	if err != nil {
		return api.Delivery{}, err
	}
	if err := invoke.CheckTenant(req.TenantID, r.TenantID); err != nil {
		return api.Delivery{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, r.TenantID), slog.String(telemetry.KeyEndpoint, r.EndpointID))
	return showDelivery(r), nil
}
