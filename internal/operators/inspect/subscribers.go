package inspect

import (
	"context"
	"log/slog"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// subscriberList lists the endpoints of all tenants that select an event type.
type subscriberList struct{ subscribers Subscribers }

// subscriberCalls bounds the calls of DynamoDB for a page, so that a request reads 1,000 rows at most. The page then
// ends early, with a cursor.
const subscriberCalls = 10

// list lists who selects a type, even if no catalogue has it yet: adopters ask before they deploy the version with it.
func (l subscriberList) list(
	ctx context.Context, call *invoke.Call, req api.SubscribersRequest,
) (api.List[api.Subscriber], error) {
	if err := invoke.ByScan(ctx); err != nil {
		return api.List[api.Subscriber]{}, err
	}
	if err := invoke.Required("event_type", req.EventType); err != nil {
		return api.List[api.Subscriber]{}, err
	}
	if !event.ValidName(req.EventType) {
		return api.List[api.Subscriber]{}, invoke.Invalid("event_type",
			"must be the name of one type, such as user.created, and no wildcard")
	}
	call.Note(slog.String(telemetry.KeyEventType, req.EventType))
	read := func(limit int, start string) ([]api.Subscriber, string, error) {
		return l.page(ctx, req.EventType, limit, start)
	}
	return invoke.Paged(call, req.Page, "subscribers "+req.EventType, read)
}

// page reads on until it has limit endpoints, has made its calls, or is at the end.
func (l subscriberList) page(
	ctx context.Context, eventType string, limit int, start string,
) (shown []api.Subscriber, next string, err error) {
	wanted := func(s dynamo.Subscriber) bool { return s.Err != nil || len(selecting(s.Events, eventType)) > 0 }
	next = start
	for range subscriberCalls {
		found, after, err := l.subscribers.Subscribers(ctx, wanted, limit-len(shown), next)
		if err != nil {
			return nil, "", err
		}
		for _, s := range found {
			shown = append(shown, showSubscriber(s, eventType))
		}
		next = after
		if next == "" || len(shown) == limit {
			break
		}
	}
	return shown, next, nil
}

func showSubscriber(s dynamo.Subscriber, eventType string) api.Subscriber {
	shown := api.Subscriber{
		TenantID: s.TenantID, EndpointID: s.EndpointID, Status: s.Status, SelectedBy: selecting(s.Events, eventType),
	}
	if s.Err != nil {
		shown.Status = api.StatusUnreadable
	}
	return shown
}

// selecting are the entries of a subscription that select a type.
func selecting(entries []string, eventType string) []string {
	return slices.DeleteFunc(slices.Clone(entries), func(entry string) bool { return !event.WouldMatch(entry, eventType) })
}
