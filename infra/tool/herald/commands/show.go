package commands

import (
	"context"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// showEndpoint shows an endpoint, and the commands that make sense in its state.
func showEndpoint(ctx context.Context, c call) error {
	of := api.EndpointRequest{
		EndpointID: c.fields.EndpointID, TenantID: c.fields.TenantID, ShowPath: c.fields.ShowPath,
	}
	shown, err := stack.Ask(ctx, c.stack, api.GetEndpoint, of)
	if err != nil {
		return err
	}
	c.One(shown.JSON)
	if c.JSON {
		return nil
	}
	dead, err := hasLetters(ctx, c, shown.Fields)
	if err != nil { // the endpoint was shown
		c.Say("whether it has dead letters was not answered: %s", answers.Safe(err.Error()))
	}
	for _, step := range next.Of(next.SituationOf(shown.Fields, dead)) {
		c.sayNext(step.Warning, called(c.line)+" "+commandOf(step.Act, c, shown.Fields))
	}
	return nil
}

// hasLetters reports whether an endpoint has dead letters to replay.
func hasLetters(ctx context.Context, c call, e api.Endpoint) (bool, error) {
	found, err := stack.Ask(ctx, c.stack, api.ListDeadLetters, api.DeadLettersRequest{
		Page: api.Page{Limit: new(1)},
		Selector: api.Selector{
			EndpointID: e.EndpointID, TenantID: e.TenantID, Status: string(deadletter.Dead),
		},
	})
	return len(found.Fields.Data) > 0, err
}

// commandOf is the command that takes a step. It names the endpoint as the line did, which has found it.
func commandOf(act string, c call, e api.Endpoint) string {
	name := nameOf(named{tenantID: e.TenantID, endpointID: e.EndpointID, description: c.fields.EndpointID}, nil)
	switch act {
	case next.Test:
		return "test " + name
	case next.ResumeTenant:
		return "tenants resume " + argument(e.TenantID)
	case next.Replay:
		return "dead replay --endpoint " + name + " --watch"
	case next.Purge:
		return "dead purge --endpoint " + name
	}
	return "endpoints " + act + " " + name
}
