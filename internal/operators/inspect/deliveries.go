package inspect

import (
	"context"
	"errors"
	"log/slog"

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

// list lists an endpoint's deliveries that are not acknowledged, the newest first, or one event's.
func (l deliveryList) list(
	ctx context.Context, call *invoke.Call, req api.DeliveriesRequest,
) (api.DeliveryList, error) {
	switch {
	case req.Event != nil:
		return l.search.byContent(ctx, call, req)
	case req.EventID != "":
		return l.search.byID(ctx, call, req)
	case req.EndpointID == "":
		return api.DeliveryList{}, invoke.Invalid("endpoint_id", "endpoint_id, event or event_id is required")
	}
	id, err := l.directory.ID(ctx, req.TenantID, req.EndpointID)
	if err != nil {
		return api.DeliveryList{}, err
	}
	call.Note(slog.String(telemetry.KeyEndpoint, id))
	read := func(limit int, start string) (shown []api.Delivery, next string, err error) {
		records, next, err := l.deliveries.ListOpen(ctx, id, limit, start)
		// The index has them by endpoint, so each record's tenant is checked.
		for _, r := range records {
			err = errors.Join(err, invoke.CheckTenant(req.TenantID, r.TenantID))
			shown = append(shown, showDelivery(r))
		}
		return shown, next, err
	}
	list, err := invoke.Paged(call, req.Page, "deliveries "+id, read)
	return api.DeliveryList{List: list}, err
}
