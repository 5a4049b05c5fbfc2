package commands

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
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
	sent, err := stack.Ask(ctx, c.stack, api.SendTest,
		api.TestRequest{EndpointID: c.fields.EndpointID, TenantID: c.fields.TenantID})
	if err != nil {
		return err
	}
	ended, err := testEnd(ctx, c.stack, sent.Fields.DeliveryID)
	if err != nil {
		return err
	}
	c.One(struct {
		Sent  jsontext.Value `json:"sent"`
		Ended testEnded      `json:"ended"`
	}{sent.JSON, ended})
	if !c.JSON {
		c.Print(answers.Safe(ended.String()))
	}
	if ended.State != delivery.Acknowledged {
		return exit.Quietly(exit.Unhealthy)
	}
	return nil
}

// testEnded is how a test ended.
type testEnded struct {
	State      delivery.State  `json:"state"`
	Status     int             `json:"status"`
	Reason     delivery.Reason `json:"reason"`
	DurationMS int64           `json:"duration_ms"`
	At         time.Time       `json:"at,omitzero"`
}

// String is the end in a line.
func (e testEnded) String() string {
	status := "no response"
	if e.Status != 0 {
		status = strconv.Itoa(e.Status)
	}
	outcome := "acknowledged: " + status
	if e.State != delivery.Acknowledged {
		outcome = "not acknowledged: " + answers.Shown(e.Reason) + ", " + status
	}
	return fmt.Sprintf("%s, after %d ms", outcome, e.DurationMS)
}

// testEnd waits until a test has ended. There is no record of it before.
func testEnd(ctx context.Context, functions stack.Functions, id string) (ended testEnded, err error) {
	ctx, cancel := context.WithTimeout(ctx, testPatience)
	defer cancel()
	for {
		got, err := stack.Ask(ctx, functions, api.GetDelivery, api.DeliveryRequest{DeliveryID: id})
		if err != nil && !errors.Is(err, api.ErrNotFound) {
			return testEnded{}, err
		}
		if d := got.Fields; d.State == delivery.Acknowledged || d.State == delivery.Discarded {
			return testEnded{d.State, d.LastStatus, d.Reason, d.DurationMS, d.UpdatedAt}, nil
		}
		switch {
		case client.Pause(ctx, testInterval):
		case errors.Is(ctx.Err(), context.Canceled):
			return testEnded{}, context.Canceled
		default:
			return testEnded{}, exit.With(exit.Unhealthy, "sent, and not ended in %s: herald deliveries show %s",
				testPatience, id)
		}
	}
}
