package commands

import (
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

func deadCommands(s setup) *cli.Command {
	selectors := func(another cli.Flag) []cli.Flag {
		return eventSelectors("such as http_5xx or timeout; selects alone, too, as each of these flags does", another,
			usage.Text("endpoint", "its id, or TENANT/NAME with its host or description"),
			usage.Text("status", "dead, replaying or replayed"))
	}
	return group("dead", "dead letters",
		command("list", "bodies stay sealed", s.list("inspect", "dead_letters", "delivery_id", "tenant_id", "host",
			"description", "event_type", "status", "reason", "last_status", "died_at"), selectors(limitFlag(stack.MaxPage))...),
		command("show WH-ID", "open one: body, headers, history; CloudTrail records it", s.one("inspect", "dead_letter")),
		command("replay [WH-ID…]", "send again by id, or all that the flags select, as a job",
			s.bulk(bulk{act: "replay", action: "deliveries", id: "delivery_id", question: "Replay %d dead letters"}),
			selectors(watchFlag())...),
		command("purge [WH-ID…]", "delete for good by id, or all that the flags select, as a job (policy Deleters)",
			s.bulk(bulk{act: "purge", action: "purge", id: "delivery_id", confirm: true,
				question: "Delete %d dead letters for good"}),
			selectors(watchFlag())...),
	)
}
