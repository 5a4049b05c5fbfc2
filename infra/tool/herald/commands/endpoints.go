package commands

import (
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func endpointCommands(s setup) *cli.Command {
	act := s.actOnEndpoints()
	tenant := usage.Text("tenant", "the tenant's id")
	endpoints := group("endpoints", "endpoints in trouble, or of a tenant",
		command("list", "endpoints in trouble, or all of a tenant's",
			list(s, api.ListEndpoints, endpointsOf, endpointColumns),
			tenant, usage.Text("state", inWords(api.States()...)),
			usage.Text("host", "of the URL"), usage.Text("description", "its owner's description"), limitFlag(stack.MaxPage)),
		command("show ENDPOINT", "one endpoint", s.on(showEndpoint),
			tenant, &cli.BoolFlag{Name: "path", Usage: "show the URL's path, too; this is logged"}),
		convertCommand(s), importCommand(s),
		command("pause ENDPOINT…", "send it nothing, and hold its deliveries", act, tenant,
			usage.Text("reason", "for other operators to see, such as a ticket")),
		command("resume ENDPOINT…", "end a pause, and send held deliveries", act, tenant),
		command("limit ENDPOINT…", "limit its deliveries a second", act, tenant,
			required(usage.Number("rate", "deliveries a second", 0, endpoint.MinRate, endpoint.MaxRate)),
			required(usage.Text("reason", "for other operators to see, such as a ticket"))),
		command("unlimit ENDPOINT…", "remove an operator's limit; its owner's stays", act, tenant),
		command("release ENDPOINT…", "send the backlog at once, regardless of circuit and schedule",
			act, tenant),
		command("discard ENDPOINT…", "throw away its waiting deliveries", act, tenant,
			usage.Text("before", "only deliveries that began before this time; now by default")),
	)
	endpoints.Description = "An ENDPOINT is an id, or TENANT/NAME with its host or description, such as \"acme/crm\"."
	return endpoints
}

// required is a flag without which the command does nothing.
func required(f cli.Flag) cli.Flag {
	switch flag := f.(type) {
	case *cli.IntFlag:
		flag.Required = true
	case *cli.StringFlag:
		flag.Required = true
	}
	return f
}

func endpointsOf(f usage.Fields, page api.Page) api.EndpointsRequest {
	return api.EndpointsRequest{
		Page: page, TenantID: f.TenantID, State: api.State(f.State), Host: f.Host, Description: f.Description,
	}
}
