package commands

import (
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/stack"
	"github.com/herald-webhooks/herald/infra/herald/usage"
)

func endpointCommands(s setup) *cli.Command {
	act := s.actOnEndpoints()
	tenant := usage.Text("tenant", "the tenant's id")
	endpoints := group("endpoints", "endpoints in trouble, or of a tenant",
		command("list", "endpoints in trouble, or all of a tenant's", s.list("inspect", "endpoints", troubleColumns...),
			tenant, usage.Text("state", "failing, flapping, open, recovering, paused, disabled, healthy or deleted"),
			usage.Text("host", "of the URL"), usage.Text("description", "its owner's"), limitFlag(stack.MaxPage)),
		command("show ENDPOINT", "one endpoint", s.one("inspect", "endpoint"),
			tenant, &cli.BoolFlag{Name: "path", Usage: "show the URL's path, too; this is logged"}),
		convertCommand(s), importCommand(s),
		command("pause ENDPOINT…", "send it nothing; its deliveries are held", act, tenant,
			usage.Text("reason", "kept with the mark and shown: a ticket, say")),
		command("resume ENDPOINT…", "end a pause: held deliveries are sent", act, tenant),
		command("release ENDPOINT…", "send the backlog at once, regardless of circuit and schedule",
			act, tenant),
		command("discard ENDPOINT…", "throw away its waiting deliveries", act, tenant,
			usage.Text("before", "deliveries that began before; now by default")),
	)
	endpoints.Description = "An ENDPOINT is an id, or TENANT/NAME with its host or description, such as \"acme/crm\"."
	return endpoints
}
