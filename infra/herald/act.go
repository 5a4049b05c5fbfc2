package main

import (
	"context"
	"maps"

	"github.com/urfave/cli/v3"
)

func (a *app) endpoints() *cli.Command {
	tenant, reason := text("tenant", "the tenant's id"), text("reason", "kept with the mark and shown: a ticket, say")
	act := func(name, usage string, flags ...cli.Flag) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, ArgsUsage: "ENDPOINT", Flags: append([]cli.Flag{tenant}, flags...),
			Action: func(ctx context.Context, c *cli.Command) error {
				endpoint, err := argument(c, "ENDPOINT")
				if err != nil {
					return err
				}
				return a.act(ctx, c, fields{"endpoint_id": endpoint, "tenant_id": c.String("tenant")})
			},
		}
	}
	return &cli.Command{
		Name: "endpoints", Usage: "endpoints in trouble, or of a tenant; an ENDPOINT is an id, a host or a description",
		Commands: []*cli.Command{
			{
				Name: "list", Usage: "those in trouble, or all of a tenant", Flags: []cli.Flag{
					tenant, text("state", "failing, flapping, open, recovering, paused, disabled, healthy or deleted"),
					text("host", "of the URL"), text("description", "its owner's"), limit(maxPage),
				},
				Action: func(ctx context.Context, c *cli.Command) error {
					return a.list(ctx, c, "inspect", "endpoints", fields{
						"tenant_id": c.String("tenant"), "state": c.String("state"), "host": c.String("host"),
						"description": c.String("description"),
					}, troubleColumns...)
				},
			},
			{
				Name: "show", Usage: "one endpoint", ArgsUsage: "ENDPOINT",
				Flags: []cli.Flag{tenant, &cli.BoolFlag{Name: "path", Usage: "show the URL's path, too; this is logged"}},
				Action: func(ctx context.Context, c *cli.Command) error {
					endpoint, err := argument(c, "ENDPOINT")
					if err != nil {
						return err
					}
					f := fields{"endpoint_id": endpoint, "tenant_id": c.String("tenant")}
					if c.Bool("path") {
						f["show_path"] = true
					}
					return a.one(ctx, c, "inspect", "endpoint", f)
				},
			},
			act("pause", "send it nothing; its deliveries are held", reason),
			act("resume", "end a pause: what is held is sent"),
			act("release", "send at once what waits, whatever circuit and schedule say"),
			act("discard", "throw away what waits for it", text("before", "deliveries that began before; now by default")),
		},
	}
}

func (a *app) tenants() *cli.Command {
	act := func(name, usage string, flags ...cli.Flag) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, ArgsUsage: "TENANT", Flags: flags,
			Action: func(ctx context.Context, c *cli.Command) error {
				tenant, err := argument(c, "TENANT")
				if err != nil {
					return err
				}
				return a.act(ctx, c, fields{"tenant_id": tenant})
			},
		}
	}
	return &cli.Command{Name: "tenants", Usage: "all endpoints that a tenant has or will have", Commands: []*cli.Command{
		act("pause", "send it nothing; its deliveries are held", text("reason", "kept with the mark and shown")),
		act("resume", "end a pause of the tenant"),
		act("discard", "throw away what waits for it", text("before", "deliveries that began before; now by default")),
	}}
}

// questions of the acts that need an answer.
var questions = map[string]string{
	"pause":   "Send nothing to %s",
	"release": "Send %s everything that waits, at once",
	"discard": "Throw away for good what waits for %s",
}

// act has control do what the command is called.
func (a *app) act(ctx context.Context, c *cli.Command, f fields) error {
	whom, _ := f["endpoint_id"].(string)
	if whom == "" {
		whom = "all endpoints of " + f["tenant_id"].(string)
	}
	f["reason"] = c.String("reason")
	if before := c.String("before"); before != "" {
		at, err := parseTime("before", before, a.now())
		if err != nil {
			return err
		}
		f["discarded_before"] = at.UTC().Format("2006-01-02T15:04:05Z")
	}
	if c.Name == "discard" {
		f["confirm"] = true
	}
	if c.Bool("dry-run") {
		a.say("would %s: %s", c.Name, safe(whom))
		return nil
	}
	if question := questions[c.Name]; question != "" {
		if err := a.confirm(c, sprintf(question, safe(whom))); err != nil {
			return err
		}
	}
	return a.one(ctx, c, "control", c.Name, f)
}

// selectors are the flags that choose dead letters or rejected events.
func selectors() []cli.Flag {
	return []cli.Flag{
		text("tenant", "the tenant's id"), text("endpoint", "id, host or description of an endpoint"),
		text("reason", "such as http_5xx or timeout"), text("status", "dead, replaying or replayed"),
		text("since", "22:00, 2h (ago), 2026-01-02 or 2026-01-02T15:04:05Z"), text("until", "likewise"),
	}
}

// selected are the fields of those flags. Without any of them, dead letters are the dead ones.
func (a *app) selected(c *cli.Command) (fields, error) {
	f, err := span(c.String("since"), c.String("until"), a.now())
	if err != nil {
		return nil, err
	}
	maps.Copy(f, fields{"tenant_id": c.String("tenant"), "endpoint_id": c.String("endpoint"),
		"reason": c.String("reason"), "status": c.String("status")})
	return f, nil
}
