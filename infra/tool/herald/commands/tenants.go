package commands

import (
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

func tenantCommands(s setup) *cli.Command {
	act := s.actOnTenant()
	return group("tenants", "all endpoints that a tenant has or will have",
		command("pause TENANT", "send it nothing; its deliveries are held", act,
			usage.Text("reason", "kept with the mark and shown")),
		command("resume TENANT", "end a pause of the tenant", act),
		command("discard TENANT", "throw away its waiting deliveries", act,
			usage.Text("before", "deliveries that began before; now by default")),
		command("erase TENANT", "delete for good all that is stored of it, its API keys first (policy Deleters)",
			s.on(eraseTenant),
			usage.Text("reason", "for the audit log: a ticket, say"),
			usage.Text("cursor", "where an erasure of the tenant broke off, to go on from there")),
	)
}
