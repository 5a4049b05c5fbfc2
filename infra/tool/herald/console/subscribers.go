package console

import (
	"context"
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// subscribersPage lists the endpoints that select an event type. Each page reads a part of all tenants' endpoints,
// which is billed: nothing is read before a type is named.
func subscribersPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of := api.SubscribersRequest{Page: pageOf(q), EventType: q.Get("event_type")}
	if of.EventType == "" {
		return list{Table: &parts.Table{Empty: "Name a type, such as user.signed_in. The stack need not have it yet."}}, nil
	}
	found, err := ask(ctx, s, api.ListSubscribers, of)
	if err != nil {
		return nil, err
	}
	none := "No endpoint selects this type."
	if found.NextCursor != nil {
		none = "None of the endpoints read so far selects this type."
	}
	t := s.site.SubscriberList(q, found.Data).Or(none)
	return list{Table: t.Then(s.nextPage("/subscribers", q, found.NextCursor))}, nil
}
