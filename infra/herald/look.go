package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
)

// status is an overview, and the endpoints in trouble with their reasons: from an alarm to its cause without an id.
func (a *app) status() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "all trouble at a glance; exit code 3 if there is any", Flags: []cli.Flag{limit(20)},
		Action: a.on(a.showStatus),
	}
}

func (a *app) showStatus(ctx context.Context, c *cli.Command, s stack) error {
	var sum row
	raw, err := s.ask(ctx, "inspect", "summary", nil, &sum)
	if err != nil {
		return err
	}
	trouble, more, err := s.all(ctx, "inspect", "endpoints", fields{}, c.Int("limit"))
	if err != nil {
		return err
	}
	var causes page
	if number(sum, "dead_letters.dead.count") > 0 {
		if _, err := s.ask(ctx, "inspect", "causes", nil, &causes); err != nil {
			return err
		}
	}
	if isJSON(c) {
		err = a.printJSON(map[string]any{"stack": s.name, "summary": raw, "causes": nonNil(causes.Data),
			"endpoints": nonNil(trouble.Data), "more": more})
	} else {
		err = a.printStatus(s, sum, causes.Data, trouble.Data)
		if more {
			a.say("and more endpoints: %s endpoints list", called(c))
		}
		for _, command := range next(called(c), sum, causes.Data, trouble.Data) {
			a.say("next: %s", command)
		}
	}
	if err == nil && unhealthy(sum) {
		return &failure{code: exitUnhealthy}
	}
	return err
}

// unhealthy judges the answer of summary.
func unhealthy(sum row) bool {
	return slices.ContainsFunc([]string{
		"endpoints.states.open", "dead_letters.dead.count", "queues.EventsDeadLetterQueue.visible",
	}, func(path string) bool { return number(sum, path) > 0 })
}

func number(sum row, path string) float64 {
	n, _ := console.At(sum, path).(float64)
	return n
}

// flow is the order of the queues along a delivery's way.
var flow = []string{
	"EventsQueue", "EventsDeadLetterQueue", "DeliveryQueue", "RetryQueue", "SlowQueue", "DeadLetterQueue",
}

func (a *app) printStatus(s stack, sum row, causes, trouble []row) error {
	a.say("%s in %s", s.name, s.aws.Region)
	if err := a.show(row{"endpoints": sum["endpoints"], "waiting": sum["waiting"]}); err != nil {
		return err
	}
	var letters, queues []row
	for _, status := range []string{"dead", "replaying", "replayed"} {
		letters = append(letters, row{"dead_letters": status, "of": console.At(sum, "dead_letters."+status)})
	}
	for _, name := range flow {
		queues = append(queues, row{"queue": name, "of": console.At(sum, "queues."+name)})
	}
	for _, t := range []struct {
		rows    []row
		columns []string
	}{
		{letters, []string{"dead_letters", "of.count", "of.oldest_died_at"}},
		{queues, []string{"queue", "of.visible", "of.in_flight", "of.delayed"}},
		{causes, causeColumns},
		{trouble, troubleColumns},
	} {
		if len(t.rows) == 0 {
			continue
		}
		if err := a.print(""); err != nil {
			return err
		}
		if err := a.table(t.rows, t.columns...); err != nil {
			return err
		}
	}
	return nil
}

// The columns of endpoints in trouble, and of causes of death. Descriptions tell endpoints apart; ids are last.
var (
	troubleColumns = []string{"tenant_id", "description", "host", "state", "last_status", "last_reason",
		"waiting.count", "outage_since", "pause_reason", "endpoint_id"}
	causeColumns = []string{"tenant_id", "description", "host", "state", "reason", "last_status", "count",
		"first_died_at", "latest_died_at", "endpoint_id"}
)

func (a *app) deliveries() *cli.Command {
	return &cli.Command{Name: "deliveries", Usage: "deliveries of an event or endpoint, or one", Commands: []*cli.Command{
		{
			Name: "show", Usage: "one delivery, by the wh-id that its receiver saw", ArgsUsage: "WH-ID",
			Action: a.one("inspect", "delivery", "delivery_id"),
		},
		{
			Name: "find", Usage: "by event, or the unacknowledged ones of an endpoint", Flags: []cli.Flag{
				text("tenant", "the tenant's id"), text("event", "the event's id"),
				text("event-file", "the event as it was published, or - for standard input: exact, and finds acknowledged ones"),
				text("endpoint", "its id, or TENANT/NAME with its host or description"), limit(maxPage),
			},
			Action: a.findDeliveries,
		},
	}}
}

func (a *app) findDeliveries(ctx context.Context, c *cli.Command) error {
	columns := []string{"delivery_id", "endpoint_id", "event_type", "state", "attempts", "last_status", "reason",
		"next_attempt_at", "updated_at"}
	if c.String("event-file") == "" && c.String("event") == "" {
		return a.list(a.flags, "inspect", "deliveries", columns...)(ctx, c)
	}
	return a.on(func(ctx context.Context, c *cli.Command, s stack) error {
		f, err := a.flags(c)
		if err != nil {
			return err
		}
		if path := c.String("event-file"); path != "" {
			body, err := a.read(path)
			if err != nil {
				return err
			}
			if f["event"], err = jsonObject(path, body); err != nil {
				return err
			}
		}
		var found page // without a limit: a list by event has no pages
		if _, err := s.ask(ctx, "inspect", "deliveries", f, &found); err != nil {
			return err
		}
		return a.printPage(c, found, columns...)
	})(ctx, c)
}

func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return b, nil
}

func (a *app) keys() *cli.Command {
	tenant := &cli.StringFlag{Name: "tenant", Usage: "the tenant's id", Required: true}
	return &cli.Command{Name: "keys", Usage: "API keys of tenants (policy KeyIssuers)", Commands: []*cli.Command{
		{
			Name: "issue", Usage: "a new key; it is shown once", Flags: []cli.Flag{
				tenant, text("description", "whose it is"),
				&cli.StringSliceFlag{Name: "scope", Usage: "webhooks:read, webhooks:write; both by default"},
			},
			Action: a.on(func(ctx context.Context, c *cli.Command, s stack) error {
				f, err := a.flags(c)
				if err != nil {
					return err
				}
				return a.answer(ctx, c, s, "apikeys", "issue", f)
			}),
		},
		{
			Name: "list", Usage: "the keys of a tenant, newest first", Flags: []cli.Flag{tenant, limit(maxPage)},
			Action: a.list(a.flags, "apikeys", "list",
				"key_id", "scopes", "description", "created_at", "last_used_at", "revoked_at"),
		},
		{
			Name: "revoke", Usage: "end a key for good", ArgsUsage: "KEY-ID",
			Action: a.about(func(ctx context.Context, c *cli.Command, s stack, id string) error {
				id = strings.TrimPrefix(id, "hk_")
				if err := a.confirm(c, "End the key "+safe(id)+" for good"); err != nil {
					return err
				}
				return a.answer(ctx, c, s, "apikeys", "revoke", fields{"key_id": id})
			}),
		},
	}}
}
