package main

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
	"github.com/herald-webhooks/herald/infra/internal/client"
)

const (
	testPatience = 2 * time.Minute // how long a test's record may take
	testInterval = time.Second     // between looks for it
)

func (a *app) test() *cli.Command {
	return &cli.Command{
		Name: "test", Usage: "send an endpoint one signed delivery, and show its answer", ArgsUsage: "ENDPOINT",
		Description: "An ENDPOINT is an id, or TENANT/NAME with its host or description. The delivery has the type\n" +
			"herald.test, is sent regardless of the endpoint's subscriptions, and never again.\n" +
			"Exit code 3: it was not acknowledged.",
		Flags: []cli.Flag{text("tenant", "the tenant's id")},
		Action: a.on(func(ctx context.Context, c *cli.Command, s stack, f fields) error {
			if c.Bool("dry-run") {
				a.say("would test: %s", safe(c.Args().First()))
				return nil
			}
			sent, err := s.Ask(ctx, "control", "test", f)
			if err != nil {
				return err
			}
			ended, err := s.testEnd(ctx, sent["delivery_id"])
			if err != nil {
				return err
			}
			a.printOne(c, row{"sent": sent, "ended": ended})
			if !isJSON(c) {
				a.print(safe(testOutcome(ended)))
			}
			if ended["state"] != "acknowledged" {
				return &failure{code: exitUnhealthy}
			}
			return nil
		}),
	}
}

// testOutcome is how a test ended, in a line.
func testOutcome(ended row) string {
	status := console.Plain(ended["status"])
	if console.Number(ended, "status") == 0 {
		status = "no response"
	}
	outcome := "acknowledged: " + status
	if ended["state"] != "acknowledged" {
		outcome = "not acknowledged: " + console.Plain(ended["reason"]) + ", " + status
	}
	return outcome + ", after " + console.Plain(ended["duration_ms"]) + " ms"
}

// testEnd waits until a test has ended. There is no record of it before.
func (s stack) testEnd(ctx context.Context, id any) (ended row, err error) {
	ctx, cancel := context.WithTimeout(ctx, testPatience)
	defer cancel()
	for {
		d, err := s.Ask(ctx, "inspect", "delivery", fields{"delivery_id": id})
		if err != nil && !errors.Is(err, client.ErrNotFound) {
			return nil, err
		}
		if d["state"] == "acknowledged" || d["state"] == "discarded" {
			return row{
				"state": d["state"], "status": d["last_status"], "reason": d["reason"], "duration_ms": d["duration_ms"],
				"at": d["updated_at"],
			}, nil
		}
		switch {
		case client.Pause(ctx, testInterval):
		case errors.Is(ctx.Err(), context.Canceled):
			return nil, context.Canceled
		default:
			return nil, fail(exitUnhealthy, "sent, and not ended in %s: herald deliveries show %v", testPatience, id)
		}
	}
}
