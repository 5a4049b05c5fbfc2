package main

import "github.com/urfave/cli/v3"

func (a *app) dead() *cli.Command {
	selectors := func(another cli.Flag) []cli.Flag {
		return eventSelectors("such as http_5xx or timeout; selects alone, too, as each of these flags does", another,
			text("endpoint", "its id, or TENANT/NAME with its host or description"),
			text("status", "dead, replaying or replayed"))
	}
	return group("dead", "dead letters",
		command("list", "bodies stay sealed", a.list("inspect", "dead_letters", "delivery_id", "tenant_id", "host",
			"description", "event_type", "status", "reason", "last_status", "died_at"), selectors(limit(maxPage))...),
		command("show WH-ID", "open one: body, headers, history; CloudTrail records it",
			a.one("inspect", "dead_letter")),
		command("replay [WH-ID…]", "send again by id, or all that the flags select, as a job",
			a.bulk(bulk{act: "replay", action: "deliveries", id: "delivery_id", question: "Replay %d dead letters"}),
			selectors(watchFlag())...),
		command("purge [WH-ID…]", "delete for good by id, or all that the flags select, as a job",
			a.bulk(bulk{act: "purge", action: "purge", id: "delivery_id", confirm: true,
				question: "Delete %d dead letters for good"}),
			selectors(watchFlag())...),
	)
}

func watchFlag() cli.Flag {
	return &cli.BoolFlag{Name: "watch", Usage: "stay until the job and its deliveries end; Ctrl-C leaves them running"}
}
