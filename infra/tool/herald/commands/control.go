package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// controlAct is an act of the function control on a target, and the question before it.
type controlAct struct {
	question string
	do       func(ctx context.Context, c call, at api.Target) (controlled, error)
}

// controlled is what came of an act.
type controlled = answers.Answer[api.ControlAnswer]

// controlActs are the acts, by the names of their commands.
var controlActs = map[string]controlAct{
	"pause":   {"Send nothing to %s", marks(api.Pause)},
	"resume":  {"Resume deliveries to %s, the held ones first", marks(api.Resume)},
	"limit":   {"Limit the deliveries a second for %s", limit},
	"unlimit": {"Remove the operators' limit of %s", marks(api.Unlimit)},
	"allow":   {"Set the allowance at one domain for %s", allow},
	"release": {"Send %s everything that waits, at once", marks(api.Release)},
	"discard": {"Throw away for good the deliveries that wait for %s", discard},
}

// marks is an act that a target alone is needed for.
func marks(
	action api.Action[api.Target, api.ControlAnswer],
) func(context.Context, call, api.Target) (controlled, error) {
	return func(ctx context.Context, c call, at api.Target) (controlled, error) {
		return stack.Ask(ctx, c.stack, action, at)
	}
}

func limit(ctx context.Context, c call, at api.Target) (controlled, error) {
	return stack.Ask(ctx, c.stack, api.Limit, api.LimitRequest{Target: at, RateLimit: c.fields.Rate})
}

func allow(ctx context.Context, c call, at api.Target) (controlled, error) {
	return stack.Ask(ctx, c.stack, api.Allow, api.AllowRequest{Target: at, EndpointsPerHost: c.fields.PerHost})
}

func discard(ctx context.Context, c call, at api.Target) (controlled, error) {
	request := api.DiscardRequest{Target: at, Confirm: true}
	if before := c.fields.Before; !before.IsZero() {
		request.DiscardedBefore = before.Format(time.RFC3339)
	}
	return stack.Ask(ctx, c.stack, api.Discard, request)
}

// actOnEndpoints is an action of control on each endpoint of the arguments.
func (s setup) actOnEndpoints() cli.ActionFunc {
	return func(ctx context.Context, line *cli.Command) error {
		if line.Args().Len() == 0 {
			return exit.With(exit.Usage, "give at least one argument, ENDPOINT; see %s --help", line.FullName())
		}
		places := make([]api.Target, line.Args().Len())
		for n, given := range line.Args().Slice() {
			tenant, name, err := usage.Place(line, given)
			if err != nil {
				return err
			}
			places[n] = api.Target{EndpointID: name, TenantID: tenant}
		}
		return s.on(func(ctx context.Context, c call) error { return control(ctx, c, places) })(ctx, line)
	}
}

// actOnTenant is an action of control on all endpoints of the tenant of the argument.
func (s setup) actOnTenant() cli.ActionFunc {
	return s.on(func(ctx context.Context, c call) error {
		return control(ctx, c, []api.Target{{TenantID: c.fields.TenantID}})
	})
}

// target is an endpoint, or all endpoints of a tenant.
type target struct {
	api.Target

	name string // in a question
	site string // of the endpoint
}

// control asks the function control for the command's action, on each target.
func control(ctx context.Context, c call, places []api.Target) error {
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
		if err := c.hasEndpoints(ctx, targets); err != nil {
			return err
		}
		c.Say("would %s: %s", action, all)
		return nil
	}
	question := fmt.Sprintf(controlActs[action].question, all)
	if number := cmp.Or(c.fields.Rate, c.fields.PerHost); number != 0 {
		question += fmt.Sprintf(" to %d", number)
	} else if action == "allow" {
		question += " to what the stack allows"
	}
	if err := c.confirm(question); err != nil {
		return err
	}
	return controlEach(ctx, c, controlActs[action], targets)
}

// controlEach goes on after a refusal, which is about one target, and ends at any other error.
func controlEach(ctx context.Context, c call, act controlAct, targets []target) error {
	done, code := 0, exit.Done
	var noted notes
	for n, at := range targets {
		at.Reason = c.fields.Reason
		got, err := act.do(ctx, c, at.Target)
		refused, is := errors.AsType[*api.Refusal](err)
		switch {
		case err == nil:
			done++
			noted.add(at, got.Fields.Note)
			c.showControlled(got)
			c.sayHowSlow(ctx, at.Target)
		case is:
			c.Say("herald: refused: %s: %s", at.name, answers.Safe(refused.Error()))
			code = codeOf(refused)
		default:
			c.sayNotes(noted)
			if rest := targets[n+1:]; len(rest) > 0 {
				c.Say("not begun: %s", namesOf(rest))
			}
			return fmt.Errorf("%s: %w", at.name, err)
		}
	}
	c.sayNotes(noted)
	switch {
	case code == exit.Done:
		return nil
	case done > 0:
		return exit.Quietly(exit.Unhealthy)
	}
	return exit.Quietly(code)
}

// sayHowSlow says of a tenant that was resumed until when its slow lane lasts.
func (c call) sayHowSlow(ctx context.Context, at api.Target) {
	if c.line.Name != api.Resume.Name || at.EndpointID != "" {
		return
	}
	if slow := stack.SlowLane(ctx, c.stack, at.TenantID); slow != "" {
		c.Say("%s: %s", answers.Safe(at.TenantID), slow)
	}
}

// namesOf are the targets' names.
func namesOf(targets []target) string {
	all := make([]string, len(targets))
	for n, t := range targets {
		all[n] = t.name
	}
	return strings.Join(all, ", ")
}

// findTarget names an endpoint, or else a tenant. An endpoint is looked up, so that its id is known and a typing error
// is found before anything is done.
func findTarget(ctx context.Context, functions stack.Functions, place api.Target) (target, error) {
	if place.EndpointID == "" {
		return target{Target: place, name: answers.Safe("all endpoints of " + place.TenantID)}, nil
	}
	of := api.EndpointRequest{EndpointID: place.EndpointID, TenantID: place.TenantID}
	answer, err := stack.Ask(ctx, functions, api.GetEndpoint, of)
	if err != nil {
		return target{}, fmt.Errorf("%s: %w", answers.Safe(place.EndpointID), err)
	}
	shown := answer.Fields
	place.EndpointID = cmp.Or(shown.EndpointID, place.EndpointID)
	place.TenantID = cmp.Or(shown.TenantID, place.TenantID)
	name := answers.Safe(fmt.Sprintf("%s/%s (%s)", shown.TenantID, shown.Description, shown.URL))
	return target{place, name, endpoint.SiteOf(shown.URL)}, nil
}
