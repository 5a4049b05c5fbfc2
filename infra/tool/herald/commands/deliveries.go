package commands

import (
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

func deliveryCommands(s setup) *cli.Command {
	return group("deliveries", "deliveries of an event or endpoint, or one",
		command("show WH-ID", "one delivery, by the wh-id that its receiver saw", s.on(showDelivery)),
		command("find", "by event, or the unacknowledged ones of an endpoint",
			list(s, api.ListDeliveries, deliveriesOf, deliveryColumns),
			append([]cli.Flag{
				usage.Text("tenant", "the tenant's id"), usage.Text("event", "the event's id"),
				usage.Text("event-file",
					"the event as it was published, or - for standard input: exact, and finds acknowledged ones"),
				endpointFlag(), limitFlag(stack.MaxPage),
			}, publishedFlags()...)...),
	)
}

// deliveriesOf asks for no page of a list by event: that has none.
func deliveriesOf(f usage.Fields, page api.Page) api.DeliveriesRequest {
	request := api.DeliveriesRequest{EndpointID: f.EndpointID, EventID: f.EventID, Event: f.Event, TenantID: f.TenantID,
		PublishedSince: f.PublishedSince, PublishedUntil: f.PublishedUntil}
	if f.Event == nil && f.EventID == "" {
		request.Page = page
	}
	return request
}
