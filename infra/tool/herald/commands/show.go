package commands

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// showEndpoint shows an endpoint with its deliveries, and the commands that make sense in its state.
func showEndpoint(ctx context.Context, c call) error {
	of := api.EndpointRequest{
		EndpointID: c.fields.EndpointID, TenantID: c.fields.TenantID, ShowPath: c.fields.ShowPath,
	}
	shown, err := stack.Ask(ctx, c.stack, api.GetEndpoint, of)
	if err != nil || c.JSON {
		return printed(c, shown.JSON, err)
	}
	e := shown.Fields
	its, err := stack.ReadTroubles(ctx, c.stack, api.EndpointRequest{EndpointID: e.EndpointID, TenantID: e.TenantID})
	page := c.site().EndpointPage(e, its)
	if err != nil { // the endpoint itself was answered
		page.Lists = nil
		c.Say("whether deliveries wait or died was not answered: %s", answers.Safe(err.Error()))
	}
	c.showPage(page)
	for _, step := range next.Of(next.SituationOf(e, its.CanReplay())) {
		c.sayNext(step.Warning, commandOf(step.Act, c, e))
	}
	return nil
}

// printed prints an answer as it came, unless there is an error.
func printed(c call, answer jsontext.Value, err error) error {
	if err == nil {
		c.PrintJSON(answer)
	}
	return err
}

// showDelivery shows a delivery.
func showDelivery(ctx context.Context, c call) error {
	shown, err := stack.Ask(ctx, c.stack, api.GetDelivery, deliveryOf(c.fields))
	if err != nil || c.JSON {
		return printed(c, shown.JSON, err)
	}
	d := shown.Fields
	e, err := stack.EndpointOf(ctx, c.stack, d.TenantID, d.EndpointID)
	if err == nil {
		c.showPage(c.site().DeliveryPage(d, e))
	}
	return err
}

// showLetter opens a dead letter. Its body comes last, on one line. CloudTrail records the opening, so what was opened
// is shown even if its endpoint is not answered.
func showLetter(ctx context.Context, c call) error {
	opened, err := stack.Ask(ctx, c.stack, api.OpenDeadLetter, deliveryOf(c.fields))
	if err != nil || c.JSON {
		return printed(c, opened.JSON, err)
	}
	l := opened.Fields
	e, err := stack.EndpointOf(ctx, c.stack, l.TenantID, l.EndpointID)
	if err != nil {
		c.Say("its endpoint was not answered: %s", answers.Safe(err.Error()))
		e = nil
	}
	c.showPage(c.site().LetterPage(l, e))
	c.titled("Body")
	c.printLine(l.Body)
	return nil
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
