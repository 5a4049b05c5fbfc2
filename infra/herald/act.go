package main

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/urfave/cli/v3"
)

func (a *app) endpoints() *cli.Command {
	tenant, reason := text("tenant", "the tenant's id"), text("reason", "kept with the mark and shown: a ticket, say")
	before := text("before", "deliveries that began before; now by default")
	endpoints := group("endpoints", "endpoints in trouble, or of a tenant",
		command("list", "endpoints in trouble, or all of a tenant's",
			a.list("inspect", "endpoints", troubleColumns...),
			tenant, text("state", "failing, flapping, open, recovering, paused, disabled, healthy or deleted"),
			text("host", "of the URL"), text("description", "its owner's"), limit(maxPage)),
		command("show ENDPOINT", "one endpoint", a.one("inspect", "endpoint"),
			tenant, &cli.BoolFlag{Name: "path", Usage: "show the URL's path, too; this is logged"}),
		a.importEndpoints(),
		command("pause ENDPOINT…", "send it nothing; its deliveries are held", a.actOnEndpoints, tenant, reason),
		command("resume ENDPOINT…", "end a pause: held deliveries are sent", a.actOnEndpoints, tenant),
		command("release ENDPOINT…", "send the backlog at once, regardless of circuit and schedule",
			a.actOnEndpoints, tenant),
		command("discard ENDPOINT…", "throw away its waiting deliveries", a.actOnEndpoints, tenant, before),
	)
	endpoints.Description = "An ENDPOINT is an id, or TENANT/NAME with its host or description, such as \"acme/crm\"."
	return endpoints
}

func (a *app) actOnEndpoints(ctx context.Context, c *cli.Command) error {
	if c.Args().Len() == 0 {
		return fail(exitUsage, "give at least one argument, ENDPOINT; see %s --help", c.FullName())
	}
	targets := make([]fields, c.Args().Len())
	for n, name := range c.Args().Slice() {
		var err error
		if targets[n], err = place(c, name); err != nil {
			return err
		}
	}
	return a.on(func(ctx context.Context, c *cli.Command, s stack, how fields) error {
		return a.act(ctx, c, s, how, targets...)
	})(ctx, c)
}

func (a *app) tenants() *cli.Command {
	act := a.on(func(ctx context.Context, c *cli.Command, s stack, f fields) error { return a.act(ctx, c, s, f, f) })
	return group("tenants", "all endpoints that a tenant has or will have",
		command("pause TENANT", "send it nothing; its deliveries are held", act,
			text("reason", "kept with the mark and shown")),
		command("resume TENANT", "end a pause of the tenant", act),
		command("discard TENANT", "throw away its waiting deliveries", act,
			text("before", "deliveries that began before; now by default")),
		command("erase TENANT", "delete for good everything that is stored of it, its API keys first", a.on(a.eraseTenant),
			text("reason", "for the audit log: a ticket, say")),
	)
}

// questions of the acts that need an answer.
var questions = map[string]string{
	"pause":   "Send nothing to %s",
	"release": "Send %s everything that waits, at once",
	"discard": "Throw away for good the deliveries that wait for %s",
}

// act asks control for the command's action, on each target.
func (a *app) act(ctx context.Context, c *cli.Command, s stack, how fields, targets ...fields) error {
	how["confirm"] = c.Name == "discard"
	names := make([]string, len(targets))
	for n, f := range targets {
		var err error
		if names[n], err = s.named(ctx, f); err != nil {
			return err
		}
	}
	all := strings.Join(names, ", ")
	if c.Bool("dry-run") {
		a.say("would %s: %s", c.Name, all)
		return nil
	}
	if question := questions[c.Name]; question != "" {
		if err := a.confirm(c, fmt.Sprintf(question, all)); err != nil {
			return err
		}
	}
	for n, f := range targets {
		request := maps.Clone(how)
		maps.Copy(request, f)
		if err := a.answer(ctx, c, s, "control", c.Name, request); err != nil {
			return fmt.Errorf("%s: %w", names[n], err)
		}
	}
	return nil
}

// named is the endpoint's or tenant's name in a question. An endpoint is looked up, so that its id is known and a
// typing error is found before anything is done.
func (s stack) named(ctx context.Context, f fields) (string, error) {
	if f["endpoint_id"] == nil {
		return safe("all endpoints of " + cellOf(f, "tenant_id")), nil
	}
	e, err := s.Ask(ctx, "inspect", "endpoint", fields{"endpoint_id": f["endpoint_id"], "tenant_id": f["tenant_id"]})
	if err != nil {
		return "", err
	}
	if f["endpoint_id"] = e["endpoint_id"]; e["tenant_id"] != nil {
		f["tenant_id"] = e["tenant_id"]
	}
	return safe(cellOf(e, "tenant_id") + "/" + cellOf(e, "description") + " (" + cellOf(e, "url") + ")"), nil
}
