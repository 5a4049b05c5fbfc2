package commands

import (
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

func deliveryCommands(s setup) *cli.Command {
	return group("deliveries", "deliveries of an event or endpoint, or one",
		command("show WH-ID", "one delivery, by the wh-id that its receiver saw", s.one("inspect", "delivery")),
		command("find", "by event, or the unacknowledged ones of an endpoint",
			s.list("inspect", "deliveries", "delivery_id", "endpoint_id", "event_type", "state", "attempts",
				"last_status", "reason", "next_attempt_at", "updated_at"),
			usage.Text("tenant", "the tenant's id"), usage.Text("event", "the event's id"),
			usage.Text("event-file",
				"the event as it was published, or - for standard input: exact, and finds acknowledged ones"),
			usage.Text("endpoint", "its id, or TENANT/NAME with its host or description"), limitFlag(stack.MaxPage)),
	)
}
