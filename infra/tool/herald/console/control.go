package console

import (
	"context"
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
)

// act does a form's act, and returns its result and the page to go on with.
type act func(ctx context.Context, s *Server, form url.Values) (done, back string, err error)

// control acts on an endpoint or a tenant, at once.
func control(action string) act {
	return func(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
		f := pick(form, "tenant_id", "endpoint_id")
		back = parts.Link("/endpoint", "tenant_id", f["tenant_id"], "endpoint_id", f["endpoint_id"])
		asked := action
		if action == next.ResumeTenant {
			f, asked = pick(form, "tenant_id"), next.Resume
		}
		answer, err := s.ask(ctx, "control", asked, f)
		if action == next.Test {
			back = parts.Link("/delivery", "delivery_id", answer["delivery_id"])
		}
		return parts.Controls[action].Done, back, err
	}
}
