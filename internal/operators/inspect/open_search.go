package inspect

import (
	"context"
	"errors"
	"fmt"
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
	noteLate  = "; there was no time for all: at %d of %d endpoints, not all were searched"
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
	ends := make([]end, len(endpoints))
	errs := parallel.Each(len(endpoints), sideBySide, func(i int) (err error) {
		found[i], ends[i], err = s.at(ctx, req, endpoints[i])
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return api.DeliveryList{}, err
	}
	shown := slices.Concat(found...)
	call.Note(slog.Int(telemetry.KeyCount, len(shown)))
	return api.DeliveryList{List: api.List[api.Delivery]{Data: shown}, Note: noteOf(req, len(shown), ends)}, nil
}

// end is how the search of an endpoint ended.
type end int

const (
	searchedAll end = iota
	metBound
	outOfTime
)

// noteOf says what was searched.
func noteOf(req api.DeliveriesRequest, found int, ends []end) string {
	note, none := noteSearched, noteNone
	if req.TraceID != "" {
		note, none = noteTraced, noteNoTrace
	}
	if slices.Contains(ends, metBound) {
		note += noteBound
	}
	late := 0
	for _, e := range ends {
		if e == outOfTime {
			late++
		}
	}
	if late > 0 {
		note += fmt.Sprintf(noteLate, late, len(ends))
	}
	if found == 0 {
		note = none + note
	}
	return note
}

// at searches the deliveries of one endpoint. Where time runs out, those that were found are better than none.
func (s eventSearch) at(
	ctx context.Context, req api.DeliveriesRequest, endpointID string,
) (found []api.Delivery, ended end, err error) {
	next := ""
	for range searchPages {
		if invoke.OutOfTime(ctx) {
			return found, outOfTime, nil
		}
		records, after, err := s.deliveries.ListOpen(ctx, endpointID, dynamo.OpenPage{Limit: searchPage, Cursor: next})
		if err != nil {
			return nil, searchedAll, err
		}
		for _, r := range records {
			if r.TenantID == req.TenantID && belongs(r, req) {
				found = append(found, showDelivery(r))
			}
		}
		if after == "" {
			return found, searchedAll, nil
		}
		next = after
	}
	return found, metBound, nil
}

// belongs reports whether a delivery is of the event or the trace that a request names.
func belongs(r delivery.Record, req api.DeliveriesRequest) bool {
	if req.TraceID != "" {
		return r.TraceID == req.TraceID
	}
	return r.EventID == req.EventID
}
