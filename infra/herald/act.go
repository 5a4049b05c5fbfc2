package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/internal/endpoint"
)

func (a *app) endpoints() *cli.Command {
	tenant, reason := text("tenant", "the tenant's id"), text("reason", "kept with the mark and shown: a ticket, say")
	act := func(name, usage string, flags ...cli.Flag) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, ArgsUsage: "ENDPOINT…", Flags: append([]cli.Flag{tenant}, flags...),
			Action: func(ctx context.Context, c *cli.Command) error {
				var whom []fields
				for _, name := range c.Args().Slice() {
					whom = append(whom, place(c, name))
				}
				if len(whom) == 0 || slices.ContainsFunc(whom, func(f fields) bool { return f["endpoint_id"] == "" }) {
					return fail(exitUsage, "give at least one argument, ENDPOINT; see %s --help", c.FullName())
				}
				return a.act(ctx, c, whom...)
			},
		}
	}
	return &cli.Command{
		Name: "endpoints", Usage: "endpoints in trouble, or of a tenant",
		Description: "An ENDPOINT is an id, or TENANT/NAME with its host or description, such as \"acme/crm\".",
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
					f := place(c, endpoint)
					if c.Bool("path") {
						f["show_path"] = true
					}
					return a.one(ctx, c, "inspect", "endpoint", f)
				},
			},
			a.importEndpoints(),
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
		a.eraseTenant(),
	}}
}

// questions of the acts that need an answer.
var questions = map[string]string{
	"pause":   "Send nothing to %s",
	"release": "Send %s everything that waits, at once",
	"discard": "Throw away for good what waits for %s",
}

// act has control do what the command is called, to each that is named.
func (a *app) act(ctx context.Context, c *cli.Command, whom ...fields) error {
	s, err := a.stack(ctx, c)
	if err != nil {
		return err
	}
	names := make([]string, len(whom))
	for n, f := range whom {
		if names[n], err = a.named(ctx, s, f); err != nil {
			return err
		}
		if err := a.details(c, f); err != nil {
			return err
		}
	}
	all := strings.Join(names, ", ")
	if c.Bool("dry-run") {
		a.say("would %s: %s", c.Name, all)
		return nil
	}
	if question := questions[c.Name]; question != "" {
		if err := a.confirm(c, sprintf(question, all)); err != nil {
			return err
		}
	}
	for n, f := range whom {
		var answer row
		if _, err := s.ask(ctx, "control", c.Name, f, &answer); err != nil {
			return fmt.Errorf("%s: %w", names[n], err)
		}
		if err := a.printOne(c, answer); err != nil {
			return err
		}
	}
	return nil
}

// details are what the flags add to an act.
func (a *app) details(c *cli.Command, f fields) error {
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
	return nil
}

// named is what a question calls the endpoint or tenant. An endpoint is looked up, so that its id is known and a typing
// error is found before anything is done.
func (a *app) named(ctx context.Context, s stack, f fields) (string, error) {
	if f["endpoint_id"] == nil {
		return safe("all endpoints of " + f["tenant_id"].(string)), nil
	}
	var e struct {
		ID          string `json:"endpoint_id"`
		Tenant      string `json:"tenant_id"`
		URL         string `json:"url"`
		Description string `json:"description"`
	}
	if _, err := s.ask(ctx, "inspect", "endpoint", f, &e); err != nil {
		return "", err
	}
	f["endpoint_id"], f["tenant_id"] = e.ID, cmp.Or(e.Tenant, f["tenant_id"].(string))
	return safe(strings.TrimSpace(e.Tenant + "/" + e.Description + " (" + e.URL + ")")), nil
}

// place names an endpoint as an operator does: by its id, or by its tenant and its host or description.
func place(c *cli.Command, name string) fields {
	tenant := c.String("tenant")
	if before, after, both := strings.Cut(name, "/"); both && tenant == "" {
		tenant, name = before, after
	}
	return fields{"tenant_id": tenant, "endpoint_id": name}
}

// resolve replaces the name of an endpoint by its id, where a request takes nothing else.
func (a *app) resolve(ctx context.Context, c *cli.Command, f fields) error {
	name, _ := f["endpoint_id"].(string)
	if name == "" || strings.HasPrefix(name, endpoint.IDPrefix) {
		return nil
	}
	s, err := a.stack(ctx, c)
	if err != nil {
		return err
	}
	found := place(c, name)
	_, err = a.named(ctx, s, found)
	maps.Copy(f, found)
	return err
}

// selectors are the flags that choose dead letters or rejected events.
func selectors() []cli.Flag {
	return []cli.Flag{
		text("tenant", "the tenant's id"), text("endpoint", "its id, or TENANT/NAME with its host or description"),
		text("reason", "such as http_5xx or timeout"), text("status", "dead, replaying or replayed"),
		text("since", "22:00, 2h (ago), 2026-01-02 or 2026-01-02T15:04:05Z"), text("until", "likewise"),
	}
}

// selected are the fields of those flags. Without any of them, dead letters are the dead ones.
func (a *app) selected(ctx context.Context, c *cli.Command) (fields, error) {
	f, err := span(c.String("since"), c.String("until"), a.now())
	if err != nil {
		return nil, err
	}
	maps.Copy(f, fields{"tenant_id": c.String("tenant"), "endpoint_id": c.String("endpoint"),
		"reason": c.String("reason"), "status": c.String("status")})
	return f, a.resolve(ctx, c, f)
}
