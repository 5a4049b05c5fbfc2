package inspect

import (
	"context"
	"errors"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/cursor"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// eventSearch finds the deliveries of one event or trace. No index has them by these, because it would cost each
// delivery a write. If the event is given as it was published, the ids of its deliveries follow from it. Otherwise the
// open deliveries of each endpoint are searched.
type eventSearch struct {
	deliveries Deliveries
	ids        IDs
}

// byContent lists the deliveries of one event, given as it was published, the oldest endpoint first. A
// delivery's id is made of tenant, event, endpoint and body, so it asks for the ids of all the tenant's endpoints,
// deleted ones included. There are at most 200, so it needs no pages.
func (s eventSearch) byContent(
	ctx context.Context, call *invoke.Call, req api.DeliveriesRequest,
) (api.DeliveryList, error) {
	e, err := event.Decode(req.Event, req.EventID)
	invalid, refused := errors.AsType[*event.Invalid](err)
	switch {
	case refused:
		return api.DeliveryList{}, invoke.Invalid("event", invalid.Error())
	case e.ID == "":
		const reason = "is required with an event that has no id: it is then the id of its SQS message"
		return api.DeliveryList{}, invoke.Invalid("event_id", reason)
	case req.EventID != "" && req.EventID != e.ID:
		return api.DeliveryList{}, invoke.Invalid("event_id", "is not the id of the event")
	}
	if err := invoke.CheckTenant(req.TenantID, e.TenantID); err != nil {
		return api.DeliveryList{}, err
	}
	req.TenantID, req.EventID = e.TenantID, e.ID
	endpoints, err := s.endpoints(ctx, call, req)
	if err != nil {
		return api.DeliveryList{}, err
	}
	content := delivery.ContentOf(e.Payload())
	ids := make([]string, len(endpoints))
	for i, endpointID := range endpoints {
		ids[i] = delivery.ID(e.TenantID, e.ID, endpointID, content)
	}
	records, err := s.deliveries.BatchGet(ctx, ids)
	if err != nil {
		return api.DeliveryList{}, err
	}
	var shown []api.Delivery
	for _, id := range ids {
		if r, found := records[id]; found {
			shown = append(shown, showDelivery(r))
		}
	}
	call.Note(slog.Int(telemetry.KeyCount, len(shown)))
	list := api.DeliveryList{List: api.List[api.Delivery]{Data: shown}}
	if len(shown) == 0 {
		list.Note = noteNoMatch
	}
	return list, nil
}

// endpoints returns the ids of the tenant's endpoints, the oldest first. It refuses filters that mean nothing here.
func (s eventSearch) endpoints(ctx context.Context, call *invoke.Call, req api.DeliveriesRequest) ([]string, error) {
	switch {
	case req.EndpointID != "":
		return nil, invoke.Invalid("endpoint_id", "must be left out with event, event_id or trace_id")
	case req.TraceID != "" && (req.EventID != "" || req.Event != nil):
		return nil, invoke.Invalid("trace_id", "give either a trace or an event")
	case !req.PublishedSince.IsZero():
		return nil, invoke.Invalid("published_since", withEndpoint)
	case !req.PublishedUntil.IsZero():
		return nil, invoke.Invalid("published_until", withEndpoint)
	case req.TenantID == "":
		return nil, invoke.Invalid("tenant_id", "is required with event_id and trace_id: each tenant has its own events")
	case req.Limit != nil:
		return nil, invoke.Invalid("limit", "must be left out: a list by event or trace has no pages")
	case req.Cursor != "":
		return nil, cursor.ErrInvalid
	}
	call.Note(slog.String(telemetry.KeyTenant, req.TenantID), slog.String(telemetry.KeyEvent, req.EventID))
	endpoints, err := s.ids.List(ctx, req.TenantID)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(endpoints))
	for i, e := range endpoints {
		ids[i] = e.ID
	}
	return ids, nil
}

const withEndpoint = "selects deliveries of an endpoint: an event is published once"

// noteNoMatch is the note if no delivery belongs to the event as it was given. It names the usual mistakes.
const noteNoMatch = "nothing matches: perhaps no active endpoint of the tenant selected its type. Every byte of data " +
	"counts, spaces included, and so does the id, or the SQS message's where there is none. Search by tenant_id and " +
	"event_id alone, or look at rejected_events"
