package main

import (
	"context"
	"math"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/delivery"
)

// root is the tree of commands. Those with a longer help stand beside their actions.
func (a *app) root() *cli.Command {
	root := &cli.Command{
		Name:  "herald",
		Usage: "look at a stack of Herald and act on it",
		Description: "What you may do is decided by IAM: attach the stack's policy InstanceManagers, Deleters to\n" +
			"delete for good, and KeyIssuers for keys and imports. Your ARN goes with every request; the\n" +
			"proof is in CloudTrail, if its data events are on.\n" +
			"Exit codes: 0 done, 1 failed, 2 usage, 3 unhealthy or done in part, 4 denied.",
		Version:               config.Version,
		EnableShellCompletion: true,
		Suggest:               true,
		Reader:                a.in,
		Writer:                a.out,
		ErrWriter:             a.err,
		ExitErrHandler:        func(context.Context, *cli.Command, error) {}, // run prints the error
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "stack", Sources: cli.EnvVars("HERALD_STACK"), Usage: "the stack, if there are several"},
			&cli.StringFlag{Name: "region", Usage: "AWS region"},
			&cli.StringFlag{Name: "profile", Usage: "profile of your AWS configuration"},
			&cli.StringFlag{Name: "account", Sources: cli.EnvVars("HERALD_ACCOUNT"), Validator: checkAccount,
				Usage: "12 digits: refuse credentials of any other AWS account"},
			&cli.BoolFlag{Name: "local", Usage: "the local stack that runs from this folder"},
			output(),
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "act without a question"},
			&cli.BoolFlag{Name: "no-input", Usage: "never ask: refuse a command that would need an answer"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print the plan, and do nothing; refused where there is none"},
		},
		Commands: []*cli.Command{
			command("status", "all trouble at a glance; exit code 3 if there is any", a.on(a.showStatus),
				number("limit", "endpoints, at most 100", 20, 1, maxPage)),
			a.endpoints(), a.tenants(), a.deliveries(), a.dead(), a.rejected(), a.jobs(), a.keys(), a.events(),
			a.test(),
			command("tail", "attempts as they are made; of successes at the first attempt, only a sample is logged",
				a.tail, text("tenant", "of this tenant only"), text("endpoint", "its id, or TENANT/ID"),
				among("outcome", "acknowledged, retry, dead or discarded", string(delivery.VerdictAcknowledged),
					string(delivery.VerdictRetry), string(delivery.VerdictDead), string(delivery.VerdictDiscarded))),
			a.verify(), a.code(),
			command("console", "the same as a page, on this machine only, until Ctrl-C", a.on(a.serve),
				number("port", "any free one by default", 0, 0, math.MaxUint16)),
		},
	}
	prepare(root)
	return root
}

func (a *app) endpoints() *cli.Command {
	tenant := text("tenant", "the tenant's id")
	endpoints := group("endpoints", "endpoints in trouble, or of a tenant",
		command("list", "endpoints in trouble, or all of a tenant's", a.list("inspect", "endpoints", troubleColumns...),
			tenant, text("state", "failing, flapping, open, recovering, paused, disabled, healthy or deleted"),
			text("host", "of the URL"), text("description", "its owner's"), limit(maxPage)),
		command("show ENDPOINT", "one endpoint", a.one("inspect", "endpoint"),
			tenant, &cli.BoolFlag{Name: "path", Usage: "show the URL's path, too; this is logged"}),
		a.importEndpoints(),
		command("pause ENDPOINT…", "send it nothing; its deliveries are held", a.actOnEndpoints, tenant,
			text("reason", "kept with the mark and shown: a ticket, say")),
		command("resume ENDPOINT…", "end a pause: held deliveries are sent", a.actOnEndpoints, tenant),
		command("release ENDPOINT…", "send the backlog at once, regardless of circuit and schedule",
			a.actOnEndpoints, tenant),
		command("discard ENDPOINT…", "throw away its waiting deliveries", a.actOnEndpoints, tenant,
			text("before", "deliveries that began before; now by default")),
	)
	endpoints.Description = "An ENDPOINT is an id, or TENANT/NAME with its host or description, such as \"acme/crm\"."
	return endpoints
}

func (a *app) tenants() *cli.Command {
	act := a.on(func(ctx context.Context, c *cli.Command, s stack, f fields) error { return a.act(ctx, c, s, f, f) })
	return group("tenants", "all endpoints that a tenant has or will have",
		command("pause TENANT", "send it nothing; its deliveries are held", act,
			text("reason", "kept with the mark and shown")),
		command("resume TENANT", "end a pause of the tenant", act),
		command("discard TENANT", "throw away its waiting deliveries", act,
			text("before", "deliveries that began before; now by default")),
		command("erase TENANT", "delete for good all that is stored of it, its API keys first (policy Deleters)",
			a.on(a.eraseTenant),
			text("reason", "for the audit log: a ticket, say"),
			text("cursor", "where an erasure of the tenant broke off, to go on from there")),
	)
}

func (a *app) deliveries() *cli.Command {
	return group("deliveries", "deliveries of an event or endpoint, or one",
		command("show WH-ID", "one delivery, by the wh-id that its receiver saw", a.one("inspect", "delivery")),
		command("find", "by event, or the unacknowledged ones of an endpoint",
			a.list("inspect", "deliveries", "delivery_id", "endpoint_id", "event_type", "state", "attempts",
				"last_status", "reason", "next_attempt_at", "updated_at"),
			text("tenant", "the tenant's id"), text("event", "the event's id"),
			text("event-file", "the event as it was published, or - for standard input: exact, and finds acknowledged ones"),
			text("endpoint", "its id, or TENANT/NAME with its host or description"), limit(maxPage)),
	)
}

func (a *app) dead() *cli.Command {
	selectors := func(another cli.Flag) []cli.Flag {
		return eventSelectors("such as http_5xx or timeout; selects alone, too, as each of these flags does", another,
			text("endpoint", "its id, or TENANT/NAME with its host or description"),
			text("status", "dead, replaying or replayed"))
	}
	return group("dead", "dead letters",
		command("list", "bodies stay sealed", a.list("inspect", "dead_letters", "delivery_id", "tenant_id", "host",
			"description", "event_type", "status", "reason", "last_status", "died_at"), selectors(limit(maxPage))...),
		command("show WH-ID", "open one: body, headers, history; CloudTrail records it", a.one("inspect", "dead_letter")),
		command("replay [WH-ID…]", "send again by id, or all that the flags select, as a job",
			a.bulk(bulk{act: "replay", action: "deliveries", id: "delivery_id", question: "Replay %d dead letters"}),
			selectors(watchFlag())...),
		command("purge [WH-ID…]", "delete for good by id, or all that the flags select, as a job (policy Deleters)",
			a.bulk(bulk{act: "purge", action: "purge", id: "delivery_id", confirm: true,
				question: "Delete %d dead letters for good"}),
			selectors(watchFlag())...),
	)
}

func (a *app) rejected() *cli.Command {
	const reason = "a part of it, such as not_processed; selects alone, too"
	return group("rejected", "events that were not accepted",
		command("list", "with the reason of each", a.on(a.listRejected), eventSelectors(reason, limit(maxPage))...),
		command("show MESSAGE-ID", "one event, its body included", a.on(a.showRejected)),
		command("publish [MESSAGE-ID…]", "publish again by id, or all that the flags select, as a job",
			a.bulk(bulk{act: "publish", action: "rejected_events", id: "message_id", question: "Publish %d events again"}),
			eventSelectors(reason, watchFlag())...),
		command("discard MESSAGE-ID…", "delete for good by id (policy Deleters)",
			a.bulk(bulk{action: "discard_rejected_events", id: "message_id", confirm: true,
				question: "Delete %d events for good"})),
	)
}

func (a *app) jobs() *cli.Command {
	return group("jobs", "acts on many dead letters or rejected events",
		command("list", "stopped, then running, then finished jobs, each newest first",
			a.list("inspect", "jobs", "job_id", "act", "state", "selected", "done", "left", "operator", "started_at"),
			text("state", "running, stopped or done"), limit(20)),
		command("show JOB-ID", "progress, outcome and failures with their reasons", a.on(a.showJob), watchFlag()),
		command("stop JOB-ID", "stop after the page that is under way", a.one("replay", "stop_job")),
		command("resume JOB-ID", "go on where it was", a.on(a.resumeJob)),
	)
}

func (a *app) keys() *cli.Command {
	tenant := &cli.StringFlag{Name: "tenant", Usage: "the tenant's id", Required: true}
	return group("keys", "API keys of tenants (policy KeyIssuers)",
		command("issue", "a new key; it is shown once", a.one("apikeys", "issue"), tenant, text("description", "whose it is"),
			&cli.StringSliceFlag{Name: "scope", Usage: "webhooks:read, webhooks:write; both by default"}),
		command("list", "the keys of a tenant, newest first",
			a.list("apikeys", "list", "key_id", "scopes", "description", "created_at", "last_used_at", "revoked_at"),
			tenant, limit(maxPage)),
		command("revoke KEY-ID", "end a key for good", a.on(a.revokeKey)),
	)
}

func (a *app) events() *cli.Command {
	return group("events", "events as an auth service sends them",
		command("list", "the event types that this herald was built with; as JSON, with schemas and examples", a.listTypes),
		command("send [TYPE]", "send a sample, or a file, to the stack's events queue", a.on(a.sendEvent),
			text("tenant", "the tenant of the sample"), text("file", "an event message, or - for standard input")),
	)
}

// eventSelectors are the flags that choose rejected events, and dead letters, too.
func eventSelectors(reason string, others ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		text("tenant", "the tenant's id"), text("reason", reason),
		text("since", "7d or 2h (ago), 22:00 (here), 2026-01-02 or 2026-01-02T15:04:05Z"),
		text("until", "likewise"),
	}, others...)
}

func watchFlag() cli.Flag {
	return &cli.BoolFlag{Name: "watch", Usage: "stay until the job and its deliveries end; Ctrl-C leaves them running"}
}

// limit is the flag of lists.
func limit(n int) cli.Flag {
	return number("limit", "rows at most", n, 1, math.MaxInt)
}

func output() cli.Flag {
	f := among("output", "table or json", "table", "json").(*cli.StringFlag)
	f.Aliases, f.Value = []string{"o"}, "table"
	return f
}

func text(name, usage string) cli.Flag { return &cli.StringFlag{Name: name, Usage: usage} }
