package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

func (a *app) actOnEndpoints(ctx context.Context, c *cli.Command) error {
	if c.Args().Len() == 0 {
		return fail(exitUsage, "give at least one argument, ENDPOINT; see %s --help", c.FullName())
	}
	targets := make([]fields, c.Args().Len())
	for n, name := range c.Args().Slice() {
		var err error
		if targets[n], err = place(c, name); err != nil {
			return err
		}
	}
	return a.on(func(ctx context.Context, c *cli.Command, s stack, how fields) error {
		return a.act(ctx, c, s, how, targets...)
	})(ctx, c)
}

// questions of the acts that need an answer.
var questions = map[string]string{
	"pause":   "Send nothing to %s",
	"release": "Send %s everything that waits, at once",
	"discard": "Throw away for good the deliveries that wait for %s",
}

// act asks control for the command's action, on each target.
func (a *app) act(ctx context.Context, c *cli.Command, s stack, how fields, targets ...fields) error {
	how["confirm"] = c.Name == "discard"
	names := make([]string, len(targets))
	for n, f := range targets {
		var err error
		if names[n], err = s.named(ctx, f); err != nil {
			return err
		}
	}
	all := strings.Join(names, ", ")
	if c.Bool("dry-run") {
		a.say("would %s: %s", c.Name, all)
		return nil
	}
	if question := questions[c.Name]; question != "" {
		if err := a.confirm(c, fmt.Sprintf(question, all)); err != nil {
			return err
		}
	}
	return a.actOnEach(ctx, c, s, how, targets, names)
}

// actOnEach goes on after a refusal, which is about one target, and ends at any other error.
func (a *app) actOnEach(
	ctx context.Context, c *cli.Command, s stack, how fields, targets []fields, names []string,
) error {
	done, code := 0, exitDone
	for n, f := range targets {
		request := maps.Clone(how)
		maps.Copy(request, f)
		err := a.answer(ctx, c, s, "control", c.Name, request)
		var refused *client.Refusal
		switch {
		case err == nil:
			done++
		case errors.As(err, &refused):
			a.say("herald: refused: %s: %s", names[n], safe(refused.Error()))
			code = codeOf(refused)
		default:
			if rest := names[n+1:]; len(rest) > 0 {
				a.say("not begun: %s", strings.Join(rest, ", "))
			}
			return fmt.Errorf("%s: %w", names[n], err)
		}
	}
	switch {
	case code == exitDone:
		return nil
	case done > 0:
		code = exitUnhealthy
	}
	return &failure{code: code}
}

// named is the endpoint's or tenant's name in a question. An endpoint is looked up, so that its id is known and a
// typing error is found before anything is done.
func (s stack) named(ctx context.Context, f fields) (string, error) {
	if f["endpoint_id"] == nil {
		return safe("all endpoints of " + cellOf(f, "tenant_id")), nil
	}
	e, err := s.Ask(ctx, "inspect", "endpoint", fields{"endpoint_id": f["endpoint_id"], "tenant_id": f["tenant_id"]})
	if err != nil {
		return "", fmt.Errorf("%s: %w", safe(cellOf(f, "endpoint_id")), err)
	}
	if f["endpoint_id"] = e["endpoint_id"]; e["tenant_id"] != nil {
		f["tenant_id"] = e["tenant_id"]
	}
	return safe(cellOf(e, "tenant_id") + "/" + cellOf(e, "description") + " (" + cellOf(e, "url") + ")"), nil
}

func (a *app) revokeKey(ctx context.Context, c *cli.Command, s stack, f fields) error {
	// Of a whole key, too: its secret is not for logs.
	id, _, _ := strings.Cut(strings.TrimPrefix(cellOf(f, "key_id"), "hk_"), "_")
	if err := a.confirm(c, "End the key "+safe(id)+" for good"); err != nil {
		return err
	}
	return a.answer(ctx, c, s, "apikeys", "revoke", fields{"key_id": id})
}
