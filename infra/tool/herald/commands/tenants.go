package commands

import (
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func tenantCommands(s setup) *cli.Command {
	act := s.actOnTenant()
	return group("tenants", "a tenant, and all endpoints that it has or will have",
		command("show TENANT", "its endpoints, dead letters, jobs and keys, and the acts about it", s.on(showTenant),
			usage.Text("since", "what its keys changed: 7d by default, or 2h, 22:00 (here), 2026-01-02"),
			&cli.BoolFlag{Name: "traffic", Usage: "its share of the last hour's attempts; AWS bills the search of the log"}),
		command("pause TENANT", "send it nothing, and hold its deliveries", act,
			usage.Text("reason", "for other operators to see, such as a ticket")),
		command("resume TENANT", "end a pause of the tenant", act),
		command("discard TENANT", "throw away its waiting deliveries", act,
			usage.Text("before", "only deliveries that began before this time; now by default")),
		command("limit TENANT", "limit the deliveries a second of each of its endpoints", act,
			required(usage.Number("rate", "deliveries a second, of each endpoint", 0, endpoint.MinRate, endpoint.MaxRate)),
			required(usage.Text("reason", "for other operators to see, such as a ticket"))),
		command("unlimit TENANT", "remove the limit of a tenant; those of its endpoints stay", act),
		command("allow TENANT", "allow it more endpoints at one domain than the stack does", act,
			required(usage.Number("per-host", "endpoints; 0: as many as the stack allows", 0, 0, endpoint.MostLive)),
			required(usage.Text("reason", "for the audit log, such as a ticket"))),
		command("erase TENANT", "delete for good all that is stored about it, its API keys first (policy Deleters)",
			s.on(eraseTenant),
			usage.Text("reason", "for the audit log, such as a ticket"),
			usage.Text("cursor", "where to continue an erasure that broke off")),
	)
}
