package commands

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

const (
	testPatience = 2 * time.Minute // how long a test's record may take
	testInterval = time.Second     // between looks for it
)

// testCommand is the command test.
func testCommand(s setup) *cli.Command {
	c := command("test ENDPOINT", "send an endpoint one signed delivery, and show its answer", s.on(sendTest),
		usage.Text("tenant", "the tenant's id"))
	c.Description = "An ENDPOINT is an id, or TENANT/NAME with its host or description. The delivery has the type\n" +
		"herald.test and an id that begins with test_. It is sent regardless of the endpoint's\n" +
		"subscriptions, and never again.\n" +
		"Exit code 3: it was not acknowledged."
	return c
}

func sendTest(ctx context.Context, c call) error {
	if c.dryRun() {
		c.Say("would test: %s", answers.Safe(c.line.Args().First()))
		return nil
	}
	question := "Send " + answers.Safe(c.line.Args().First()) + " a test delivery"
	if err := c.confirm(question); err != nil {
		return err
	}
	sent, err := c.stack.Ask(ctx, "control", "test", c.fields)
	if err != nil {
		return err
	}
	ended, err := testEnd(ctx, c.stack, sent["delivery_id"])
	if err != nil {
		return err
	}
	c.One(answers.Row{"sent": sent, "ended": ended})
	if !c.JSON {
		c.Print(answers.Safe(testOutcome(ended)))
	}
	if ended["state"] != "acknowledged" {
		return exit.Quietly(exit.Unhealthy)
	}
	return nil
}

// testOutcome is how a test ended, in a line.
func testOutcome(ended answers.Row) string {
	status := answers.Plain(ended["status"])
	if answers.Number(ended, "status") == 0 {
		status = "no response"
	}
	outcome := "acknowledged: " + status
	if ended["state"] != "acknowledged" {
		outcome = "not acknowledged: " + answers.Plain(ended["reason"]) + ", " + status
	}
	return outcome + ", after " + answers.Plain(ended["duration_ms"]) + " ms"
}

// testEnd waits until a test has ended. There is no record of it before.
func testEnd(ctx context.Context, functions stack.Functions, id any) (ended answers.Row, err error) {
	ctx, cancel := context.WithTimeout(ctx, testPatience)
	defer cancel()
	for {
		d, err := functions.Ask(ctx, "inspect", "delivery", answers.Row{"delivery_id": id})
		if err != nil && !errors.Is(err, client.ErrNotFound) {
			return nil, err
		}
		if d["state"] == "acknowledged" || d["state"] == "discarded" {
			return answers.Row{
				"state": d["state"], "status": d["last_status"], "reason": d["reason"], "duration_ms": d["duration_ms"],
				"at": d["updated_at"],
			}, nil
		}
		switch {
		case client.Pause(ctx, testInterval):
		case errors.Is(ctx.Err(), context.Canceled):
			return nil, context.Canceled
		default:
			return nil, exit.With(exit.Unhealthy, "sent, and not ended in %s: herald deliveries show %v", testPatience, id)
		}
	}
}
