package inspect

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// A search by event id or trace looks, at each endpoint, at the newest 1,000 deliveries that are not acknowledged.
const (
	searchPage  = 100
	searchPages = 10
)

// The limits of a search by event id.
const (
	noteSearched = "deliveries that were acknowledged were not searched: give the event as it was published"
	noteNone     = "no delivery of this event id was found; "
	noteNoTrace  = "no delivery of this trace was found; "
	noteTraced   = "deliveries that were acknowledged were not searched: the log has those, by the saved query \"the " +
		"deliveries of one trace\""
	noteBound = "; of an endpoint's deliveries only the newest 1,000 were searched"
)

// byID lists the deliveries of an event id or a trace that are not acknowledged, with any content, the oldest endpoint
// first.
func (s eventSearch) byID(
	ctx context.Context, call *invoke.Call, req api.DeliveriesRequest,
) (api.DeliveryList, error) {
	if req.TraceID != "" {
		id := trace.IDOf(req.TraceID)
		if id == "" {
			return api.DeliveryList{}, invoke.Invalid("trace_id", "is neither a trace's id nor a header that names one")
		}
		req.TraceID = id
	}
	endpoints, err := s.endpoints(ctx, call, req)
	if err != nil {
		return api.DeliveryList{}, err
	}
	found := make([][]api.Delivery, len(endpoints))
	more := make([]bool, len(endpoints))
	errs := parallel.Each(len(endpoints), sideBySide, func(i int) (err error) {
		found[i], more[i], err = s.at(ctx, req, endpoints[i])
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return api.DeliveryList{}, err
	}
	shown := slices.Concat(found...)
	note, none := noteSearched, noteNone
	if req.TraceID != "" {
		note, none = noteTraced, noteNoTrace
	}
	if slices.Contains(more, true) {
		note += noteBound
	}
	call.Note(slog.Int(telemetry.KeyCount, len(shown)))
	if len(shown) == 0 {
		note = none + note
	}
	return api.DeliveryList{List: api.List[api.Delivery]{Data: shown}, Note: note}, nil
}

// at searches the deliveries of one endpoint. More says that there are more than were searched.
func (s eventSearch) at(
	ctx context.Context, req api.DeliveriesRequest, endpointID string,
) (found []api.Delivery, more bool, err error) {
	next := ""
	for range searchPages {
		records, after, err := s.deliveries.ListOpen(ctx, endpointID, dynamo.OpenPage{Limit: searchPage, Cursor: next})
		if err != nil {
			return nil, false, err
		}
		for _, r := range records {
			if r.TenantID == req.TenantID && belongs(r, req) {
				found = append(found, showDelivery(r))
			}
		}
		if after == "" {
			return found, false, nil
		}
		next = after
	}
	return found, true, nil
}

// belongs reports whether a delivery is of the event or the trace that a request names.
func belongs(r delivery.Record, req api.DeliveriesRequest) bool {
	if req.TraceID != "" {
		return r.TraceID == req.TraceID
	}
	return r.EventID == req.EventID
}
