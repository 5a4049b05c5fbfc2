package inspect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// deliveryList lists deliveries. Those of an endpoint are listed as far as they are open: acknowledged ones would hide
// them.
type deliveryList struct {
	deliveries Deliveries
	directory  invoke.Directory
	search     eventSearch
}

// list lists an endpoint's deliveries that are not acknowledged, the newest first, or those of one event or trace.
func (l deliveryList) list(
	ctx context.Context, call *invoke.Call, req api.DeliveriesRequest,
) (api.DeliveryList, error) {
	switch {
	case req.Event != nil:
		return l.search.byContent(ctx, call, req)
	case req.EventID != "", req.TraceID != "":
		return l.search.byID(ctx, call, req)
	case req.EndpointID == "":
		const missing = "endpoint_id, event, event_id or trace_id is required"
		return api.DeliveryList{}, invoke.Invalid("endpoint_id", missing)
	}
	return l.ofEndpoint(ctx, call, req)
}

// ofEndpoint lists the deliveries of an endpoint, all or those that were published in a time.
func (l deliveryList) ofEndpoint(
	ctx context.Context, call *invoke.Call, req api.DeliveriesRequest,
) (api.DeliveryList, error) {
	if err := invoke.CheckPublished(req.PublishedSince, req.PublishedUntil); err != nil {
		return api.DeliveryList{}, err
	}
	id, err := l.directory.ID(ctx, req.TenantID, req.EndpointID)
	if err != nil {
		return api.DeliveryList{}, err
	}
	call.Note(slog.String(telemetry.KeyEndpoint, id))
	read := func(limit int, start string) (shown []api.Delivery, next string, err error) {
		records, next, err := l.deliveries.ListOpen(ctx, id, dynamo.OpenPage{
			Limit: limit, Cursor: start, Since: req.PublishedSince, Until: req.PublishedUntil,
		})
		// The index has them by endpoint, so each record's tenant is checked.
		for _, r := range records {
			err = errors.Join(err, invoke.CheckTenant(req.TenantID, r.TenantID))
			shown = append(shown, showDelivery(r))
		}
		return shown, next, err
	}
	filter := "deliveries " + id
	if !req.PublishedSince.IsZero() || !req.PublishedUntil.IsZero() {
		filter = fmt.Sprint(filter, req.PublishedSince, req.PublishedUntil)
	}
	list, err := invoke.Paged(call, req.Page, filter, read)
	return api.DeliveryList{List: list}, err
}
