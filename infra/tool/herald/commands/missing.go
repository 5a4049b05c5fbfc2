package commands

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// refusedFlag makes wrong usage of an endpoint that a flag names and the stack does not know.
func refusedFlag(line *cli.Command, err error) error {
	if errors.Is(err, api.ErrNotFound) && line.String("endpoint") != "" {
		return exit.With(exit.Usage, "--endpoint %s: %s", answers.Safe(line.String("endpoint")), answers.Safe(err.Error()))
	}
	return err
}

// missing says why nothing was selected. Where a flag names nothing that exists, it is a typing error and no
// empty list.
func missing(ctx context.Context, c call) error {
	if err := misspelt(c.line, c.fields.Reason); err != nil {
		return err
	}
	id, tenant := c.fields.EndpointID, c.fields.TenantID
	var err error
	switch {
	case id != "" && tenant == "":
		c.Say("note: whether there is an endpoint %s, its tenant leads to: add --tenant", answers.Safe(id))
	case id != "":
		_, err = stack.Ask(ctx, c.stack, api.GetEndpoint, api.EndpointRequest{EndpointID: id, TenantID: tenant})
		if errors.Is(err, api.ErrNotFound) {
			return refusedFlag(c.line, err)
		}
	case tenant != "":
		has, unanswered := stack.HasEndpoints(ctx, c.stack, tenant)
		err = unanswered
		if err == nil && !has {
			c.Say("note: the tenant %s has no endpoint", answers.Safe(tenant))
		}
	}
	if err != nil { // the list is empty, and that was answered
		c.Say("note: whether there is such an endpoint was not answered: %s", answers.Safe(err.Error()))
	}
	return nil
}

// misspelt refuses a reason that no rejected event has, and that is almost the one which is a word.
func misspelt(line *cli.Command, reason string) error {
	if !strings.HasPrefix(line.FullName(), "herald rejected ") || strings.Contains(event.NotProcessed, reason) {
		return nil
	}
	said := invoke.NoSuch("reason", reason, []string{event.NotProcessed})
	if !strings.Contains(said, "did you mean") {
		return nil
	}
	return exit.With(exit.Usage, "--reason %s: %s", answers.Safe(reason), said)
}
