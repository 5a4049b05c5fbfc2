package inspect

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Delivery is the state of one delivery.
type Delivery struct {
	DeliveryID    string          `json:"delivery_id"`
	TenantID      string          `json:"tenant_id"`
	EndpointID    string          `json:"endpoint_id"`
	EventID       string          `json:"event_id"`
	EventType     string          `json:"event_type"`
	State         delivery.State  `json:"state"`
	Attempts      int             `json:"attempts"`
	Replay        int             `json:"replay"`
	LastStatus    int             `json:"last_status"` // 0: no response
	Reason        delivery.Reason `json:"reason"`
	DurationMS    int64           `json:"duration_ms"`
	NextAttemptAt time.Time       `json:"next_attempt_at"`
	OccurredAt    time.Time       `json:"occurred_at"` // as the event was published; null where it did not say
	CreatedAt     time.Time       `json:"created_at"`
	UpdatedAt     time.Time       `json:"updated_at"`
}

func showDelivery(r delivery.Record) Delivery {
	return Delivery{
		DeliveryID: r.DeliveryID, TenantID: r.TenantID, EndpointID: r.EndpointID, EventID: r.EventID, EventType: r.EventType,
		State: r.State, Attempts: r.Attempts, Replay: r.Replay, LastStatus: r.LastStatus, Reason: r.Reason,
		DurationMS: r.DurationMS, NextAttemptAt: r.NextAttemptAt, OccurredAt: r.OccurredAt,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

type deliveryRequest struct {
	DeliveryID string `json:"delivery_id"`
	TenantID   string `json:"tenant_id"`
}

func (h *Handler) delivery(ctx context.Context, call *operator.Call, req deliveryRequest) (Delivery, error) {
	const missing = "no delivery has this id, or its record has expired"
	r, err := operator.Find(ctx, call, telemetry.KeyDelivery, req.DeliveryID, h.Deliveries.Get, missing)
	if err != nil {
		return Delivery{}, err
	}
	if err := operator.CheckTenant(req.TenantID, r.TenantID); err != nil {
		return Delivery{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, r.TenantID), slog.String(telemetry.KeyEndpoint, r.EndpointID))
	return showDelivery(r), nil
}

type deliveriesRequest struct {
	operator.Page
	EndpointID string         `json:"endpoint_id"`
	EventID    string         `json:"event_id"`
	Event      jsontext.Value `json:"event"` // as it was published
	TenantID   string         `json:"tenant_id"`
}

// DeliveryList is a list of deliveries.
type DeliveryList struct {
	operator.List[Delivery] `json:",embed"`
	Note                    string `json:"note,omitzero"` // limits of the search
}

// deliveries lists an endpoint's deliveries that are not acknowledged, the newest first, or one event's.
func (h *Handler) deliveries(ctx context.Context, call *operator.Call, req deliveriesRequest) (DeliveryList, error) {
	switch {
	case req.Event != nil:
		return h.deliveriesOfEvent(ctx, call, req)
	case req.EventID != "":
		return h.searchDeliveries(ctx, call, req)
	case req.EndpointID == "":
		return DeliveryList{}, operator.Invalid("endpoint_id", "endpoint_id, event or event_id is required")
	}
	id, err := h.Directory.ID(ctx, req.TenantID, req.EndpointID)
	if err != nil {
		return DeliveryList{}, err
	}
	call.Note(slog.String(telemetry.KeyEndpoint, id))
	read := func(limit int, start string) (shown []Delivery, next string, err error) {
		records, next, err := h.Deliveries.ListOpen(ctx, id, limit, start)
		for _, r := range records {
			err = errors.Join(err, operator.CheckTenant(req.TenantID, r.TenantID))
			shown = append(shown, showDelivery(r))
		}
		return shown, next, err
	}
	list, err := operator.Paged(call, req.Page, "deliveries "+id, read)
	return DeliveryList{List: list}, err
}
