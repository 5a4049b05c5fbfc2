package inspect

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Delivery is the state of one delivery.
type Delivery struct {
	DeliveryID string         `json:"delivery_id"`
	TenantID   string         `json:"tenant_id"`
	EndpointID string         `json:"endpoint_id"`
	EventID    string         `json:"event_id"`
	EventType  string         `json:"event_type"`
	TraceID    string         `json:"trace_id,omitempty"` // that its publisher sent
	Test       bool           `json:"test,omitzero"`      // asked for by the endpoint's owner or an operator
	State      delivery.State `json:"state"`

	// How many POSTs were made in this life of the delivery.
	Attempts int `json:"attempts"`

	// How often an operator has sent it again.
	Replay int `json:"replay"`

	// 0 means that there was no response.
	LastStatus int `json:"last_status"`

	// Why the last attempt failed, why the delivery waits, or why it ended.
	Reason delivery.Reason `json:"reason"`

	// How long the last attempt took.
	DurationMS int64 `json:"duration_ms"`

	// Null where no attempt is planned.
	NextAttemptAt time.Time `json:"next_attempt_at"`

	// The time that the publisher gave. Null where the event had none.
	OccurredAt time.Time `json:"occurred_at"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// showDelivery shows a record, field for field.
func showDelivery(r delivery.Record) Delivery {
	return Delivery{
		DeliveryID: r.DeliveryID, TenantID: r.TenantID, EndpointID: r.EndpointID, EventID: r.EventID, EventType: r.EventType,
		TraceID: r.TraceID, Test: r.IsTest(), State: r.State, Attempts: r.Attempts, Replay: r.Replay,
		LastStatus: r.LastStatus, Reason: r.Reason, DurationMS: r.DurationMS, NextAttemptAt: r.NextAttemptAt,
		OccurredAt: r.OccurredAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

type deliveryRequest struct {
	DeliveryID string `json:"delivery_id"`

	// Where it is given, the delivery of another tenant is refused.
	TenantID string `json:"tenant_id"`
}

// deliveryView shows one delivery. Records of acknowledged ones expire, and the stack may keep none of them.
type deliveryView struct{ deliveries Deliveries }

// show shows the delivery that a request names.
func (v deliveryView) show(ctx context.Context, call *invoke.Call, req deliveryRequest) (Delivery, error) {
	const missing = "no delivery has this id, or its record has expired"
	r, err := invoke.Find(ctx, call, telemetry.KeyDelivery, req.DeliveryID, v.deliveries.Get, missing)
	if err != nil {
		return Delivery{}, err
	}
	if err := invoke.CheckTenant(req.TenantID, r.TenantID); err != nil {
		return Delivery{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, r.TenantID), slog.String(telemetry.KeyEndpoint, r.EndpointID))
	return showDelivery(r), nil
}
