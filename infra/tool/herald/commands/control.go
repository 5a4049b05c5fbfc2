package commands

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

// actOnEndpoints is an action of control on each endpoint of the arguments.
func (s setup) actOnEndpoints() cli.ActionFunc {
	return func(ctx context.Context, line *cli.Command) error {
		if line.Args().Len() == 0 {
			return exit.With(exit.Usage, "give at least one argument, ENDPOINT; see %s --help", line.FullName())
		}
		places := make([]answers.Row, line.Args().Len())
		for n, name := range line.Args().Slice() {
			place, err := usage.Place(line, name)
			if err != nil {
				return err
			}
			places[n] = place
		}
		return s.on(func(ctx context.Context, c call) error { return control(ctx, c, places) })(ctx, line)
	}
}

// actOnTenant is an action of control on all endpoints of the tenant of the argument.
func (s setup) actOnTenant() cli.ActionFunc {
	return s.on(func(ctx context.Context, c call) error {
		return control(ctx, c, []answers.Row{{"tenant_id": c.fields["tenant_id"]}})
	})
}

// questions before the acts.
var questions = map[string]string{
	"pause":   "Send nothing to %s",
	"resume":  "Go on with deliveries to %s, those that are held at first",
	"limit":   "Limit the deliveries a second for %s",
	"unlimit": "Remove the operators' limit of %s",
	"release": "Send %s everything that waits, at once",
	"discard": "Throw away for good the deliveries that wait for %s",
}

// target is an endpoint, or all endpoints of a tenant.
type target struct {
	fields answers.Row // of a request
	name   string      // in a question
}

// control asks the function control for the command's action, on each target.
func control(ctx context.Context, c call, places []answers.Row) error {
	targets := make([]target, len(places))
	for n, place := range places {
		found, err := findTarget(ctx, c.stack, place)
		if err != nil {
			return err
		}
		targets[n] = found
	}
	action, all := c.line.Name, namesOf(targets)
	if c.dryRun() {
		c.Say("would %s: %s", action, all)
		return nil
	}
	question := fmt.Sprintf(questions[action], all)
	if rate := c.fields["rate_limit"]; rate != nil {
		question += fmt.Sprintf(" to %v", rate)
	}
	if err := c.confirm(question); err != nil {
		return err
	}
	return controlEach(ctx, c, action, targets)
}

// controlEach goes on after a refusal, which is about one target, and ends at any other error.
func controlEach(ctx context.Context, c call, action string, targets []target) error {
	done, code := 0, exit.Done
	for n, at := range targets {
		request := maps.Clone(c.fields)
		maps.Copy(request, at.fields)
		request["confirm"] = action == "discard"
		err := c.answer(ctx, "control", action, request)
		var refused *client.Refusal
		switch {
		case err == nil:
			done++
		case errors.As(err, &refused):
			c.Say("herald: refused: %s: %s", at.name, answers.Safe(refused.Error()))
			code = codeOf(refused)
		default:
			if rest := targets[n+1:]; len(rest) > 0 {
				c.Say("not begun: %s", namesOf(rest))
			}
			return fmt.Errorf("%s: %w", at.name, err)
		}
	}
	switch {
	case code == exit.Done:
		return nil
	case done > 0:
		return exit.Quietly(exit.Unhealthy)
	}
	return exit.Quietly(code)
}

// namesOf are the targets' names.
func namesOf(targets []target) string {
	all := make([]string, len(targets))
	for n, t := range targets {
		all[n] = t.name
	}
	return strings.Join(all, ", ")
}

// findTarget names the endpoint, or else the tenant, of a request's fields. An endpoint is looked up, so that its id is
// known and a typing error is found before anything is done.
func findTarget(ctx context.Context, functions stack.Functions, place answers.Row) (target, error) {
	id, tenant := place["endpoint_id"], place["tenant_id"]
	if id == nil {
		return target{place, answers.Safe("all endpoints of " + answers.Text(place, "tenant_id"))}, nil
	}
	shown, err := functions.Ask(ctx, "inspect", "endpoint", answers.Row{"endpoint_id": id, "tenant_id": tenant})
	if err != nil {
		return target{}, fmt.Errorf("%s: %w", answers.Safe(answers.Text(place, "endpoint_id")), err)
	}
	found := answers.Row{"endpoint_id": shown["endpoint_id"], "tenant_id": tenant}
	if shown["tenant_id"] != nil {
		found["tenant_id"] = shown["tenant_id"]
	}
	name := fmt.Sprintf("%s/%s (%s)",
		answers.Text(shown, "tenant_id"), answers.Text(shown, "description"), answers.Text(shown, "url"))
	return target{found, answers.Safe(name)}, nil
}
