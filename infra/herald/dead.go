package main

import (
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
)

var letterColumns = []string{
	"delivery_id", "tenant_id", "host", "description", "event_type", "status", "reason", "last_status", "died_at",
}

func (a *app) dead() *cli.Command {
	selectors := func(another cli.Flag) []cli.Flag {
		return append(eventSelectors("such as http_5xx or timeout; selects alone, too, as each of these flags does"), another,
			text("endpoint", "its id, or TENANT/NAME with its host or description"),
			text("status", "dead, replaying or replayed"))
	}
	return &cli.Command{Name: "dead", Usage: "dead letters", Commands: []*cli.Command{
		{
			Name: "list", Usage: "bodies stay sealed", Flags: selectors(limit(maxPage)),
			Action: a.list(a.letters, "inspect", "dead_letters", letterColumns...),
		},
		{
			Name: "show", Usage: "open one: body, headers, history; CloudTrail records it", ArgsUsage: "WH-ID",
			Action: a.one("inspect", "dead_letter", "delivery_id"),
		},
		{
			Name: "replay", Usage: "send again by id, or all that the flags select, as a job", ArgsUsage: "[WH-ID…]",
			Flags:  selectors(watchFlag()),
			Action: a.bulk(bulk{act: "replay", action: "deliveries", id: "delivery_id", question: "Replay %d dead letters"}),
		},
		{
			Name: "purge", Usage: "delete for good by id, or all that the flags select, as a job", ArgsUsage: "[WH-ID…]",
			Flags: selectors(watchFlag()),
			Action: a.bulk(bulk{act: "purge", action: "purge", id: "delivery_id", confirm: true,
				question: "Delete %d dead letters for good"}),
		},
	}}
}

// letters is the selector of dead letters.
func (a *app) letters(c *cli.Command) (fields, error) {
	f, err := a.flags(c)
	if err != nil {
		return nil, err
	}
	return console.OrDead(f), nil
}

func watchFlag() cli.Flag {
	return &cli.BoolFlag{Name: "watch", Usage: "stay until the job and its deliveries end; Ctrl-C leaves them running"}
}
