package commands

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// refusedFlag makes wrong usage of an endpoint that a flag names and the stack does not know.
func refusedFlag(line *cli.Command, err error) error {
	if errors.Is(err, client.ErrNotFound) && line.String("endpoint") != "" {
		return exit.With(exit.Usage, "--endpoint %s: %s", answers.Safe(line.String("endpoint")), answers.Safe(err.Error()))
	}
	return err
}

// notProcessed is the reason of a rejected event that is a word. All others are sentences.
const notProcessed = "not_processed"

// missing says why nothing was selected. Where a flag names nothing that exists, it is a typing error and no
// empty list.
func missing(ctx context.Context, c call) error {
	if err := misspelt(c.line, answers.Text(c.fields, "reason")); err != nil {
		return err
	}
	id, tenant := answers.Text(c.fields, "endpoint_id"), answers.Text(c.fields, "tenant_id")
	var err error
	switch {
	case id != "" && tenant == "":
		c.Say("note: whether there is an endpoint %s, its tenant leads to: add --tenant", answers.Safe(id))
	case id != "":
		_, err = c.stack.Ask(ctx, "inspect", "endpoint", answers.Row{"endpoint_id": id, "tenant_id": tenant})
		if errors.Is(err, client.ErrNotFound) {
			return refusedFlag(c.line, err)
		}
	case tenant != "":
		var found answers.Row
		found, err = c.stack.Ask(ctx, "inspect", "endpoints", answers.Row{"tenant_id": tenant, "limit": 1})
		if err == nil && len(answers.Rows(found)) == 0 {
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
	if !strings.HasPrefix(line.FullName(), "herald rejected ") || strings.Contains(notProcessed, reason) {
		return nil
	}
	said := invoke.NoSuch("reason", reason, []string{notProcessed})
	if !strings.Contains(said, "did you mean") {
		return nil
	}
	return exit.With(exit.Usage, "--reason %s: %s", answers.Safe(reason), said)
}
