package main

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/internal/operator"
)

// refusedFlag makes wrong usage of an endpoint that a flag names and the stack does not know.
func refusedFlag(c *cli.Command, err error) error {
	if errors.Is(err, client.ErrNotFound) && c.String("endpoint") != "" {
		return fail(exitUsage, "--endpoint %s: %s", safe(c.String("endpoint")), safe(err.Error()))
	}
	return err
}

// notProcessed is the reason of a rejected event that is a word. All others are sentences.
const notProcessed = "not_processed"

// missing says why nothing was selected, where a flag names what does not exist: a typing error is no empty list.
func (a *app) missing(ctx context.Context, c *cli.Command, s stack, f fields) error {
	if err := misspelt(c, cellOf(f, "reason")); err != nil {
		return err
	}
	id, tenant := cellOf(f, "endpoint_id"), cellOf(f, "tenant_id")
	var err error
	switch {
	case id != "" && tenant == "":
		a.say("note: whether there is an endpoint %s, its tenant leads to: add --tenant", safe(id))
	case id != "":
		_, err = s.Ask(ctx, "inspect", "endpoint", fields{"endpoint_id": id, "tenant_id": tenant})
		if errors.Is(err, client.ErrNotFound) {
			return refusedFlag(c, err)
		}
	case tenant != "":
		var found row
		found, err = s.Ask(ctx, "inspect", "endpoints", fields{"tenant_id": tenant, "limit": 1})
		if err == nil && len(console.Rows(found)) == 0 {
			a.say("note: the tenant %s has no endpoint", safe(tenant))
		}
	}
	if err != nil { // the list is empty, and that was answered
		a.say("note: whether there is such an endpoint was not answered: %s", safe(err.Error()))
	}
	return nil
}

// misspelt refuses a reason that no rejected event has, and that is almost the one which is a word.
func misspelt(c *cli.Command, reason string) error {
	if !strings.HasPrefix(c.FullName(), "herald rejected ") || strings.Contains(notProcessed, reason) {
		return nil
	}
	said := operator.NoSuch("reason", reason, []string{notProcessed})
	if !strings.Contains(said, "did you mean") {
		return nil
	}
	return fail(exitUsage, "--reason %s: %s", safe(reason), said)
}
