package console

import (
	"context"
	"net/url"
	"strconv"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// act does a form's act, and returns its result and the page to go on with.
type act func(ctx context.Context, s *Server, form url.Values) (done, back string, err error)

// target is the endpoint of an address or a form.
func target(form url.Values) api.Target {
	return api.Target{EndpointID: form.Get("endpoint_id"), TenantID: form.Get("tenant_id")}
}

// steering are the actions of control on an endpoint that has a state.
var steering = []api.Action[api.Target, api.ControlAnswer]{api.Pause, api.Resume, api.Release}

// steer acts on an endpoint, at once.
func steer(action api.Action[api.Target, api.ControlAnswer]) act {
	return func(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
		at := target(form)
		_, err = ask(ctx, s, action, at)
		back = parts.Link("/endpoint", "tenant_id", at.TenantID, "endpoint_id", at.EndpointID)
		return parts.Controls[action.Name].Done, back, err
	}
}

// sendTest sends a test to an endpoint.
func sendTest(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	at := target(form)
	sent, err := ask(ctx, s, api.SendTest, api.TestRequest{EndpointID: at.EndpointID, TenantID: at.TenantID})
	if err != nil {
		return "", parts.Link("/endpoint", "tenant_id", at.TenantID, "endpoint_id", at.EndpointID), err
	}
	back = parts.Link("/delivery", "delivery_id", sent.DeliveryID, testSent, strconv.FormatInt(s.Now().Unix(), 10))
	return parts.Controls[next.Test].Done, back, nil
}

// resumeTenant lets all endpoints of a tenant go on.
func resumeTenant(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	at := target(form)
	_, err = ask(ctx, s, api.Resume, api.Target{TenantID: at.TenantID})
	back = parts.Link("/endpoint", "tenant_id", at.TenantID, "endpoint_id", at.EndpointID)
	if at.EndpointID == "" {
		back = parts.Link("/tenant", "tenant_id", at.TenantID)
	}
	if err != nil {
		return "", back, err
	}
	done = parts.Controls[next.ResumeTenant].Done
	if slow := stack.SlowLane(ctx, s.Stack, at.TenantID); slow != "" {
		done += "; " + slow
	}
	return done, back, nil
}
