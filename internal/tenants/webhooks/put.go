package webhooks

import (
	"context"
	"errors"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// putTries is how often a request looks for its URL: another one may create, move or change the endpoint in between,
// and the request means the same after that.
const putTries = 4

// put has the tenant's endpoint with a URL be as the body says: it creates that endpoint, or replaces it. So a machine
// may send one description again and again. A second time changes nothing, writes no endpoint and leaves no audit line,
// unless there are headers or credentials in it, which cannot be compared: they are sealed. Its status stays, so that
// no loop switches on an endpoint that its owner has switched off.
func (h *Handler) put(ctx context.Context, c *call) (answer any, err error) {
	f, err := h.readNew(c.body)
	if f.unknown {
		had, failed := h.had(ctx, c.key.TenantID, f.url)
		if failed != nil {
			return nil, failed
		}
		f, err = h.readNew(c.body, had...)
	}
	if err != nil {
		return nil, err
	}
	f = f.orDefaults()
	marks, err := h.Endpoints.Marks(ctx, c.key.TenantID)
	if err != nil {
		return nil, err
	}
	for range putTries {
		answer, err = h.putOnce(ctx, c, f, marks)
		if !passed(err) {
			break
		}
	}
	if passed(err) {
		err = problem.Because(problem.CodeConflict, err)
	}
	return answer, err
}

// passed reports whether another request was first, so that the URL has to be looked for again.
func passed(err error) bool {
	p, refused := errors.AsType[*problem.Error](err)
	return errors.Is(err, dynamo.ErrConflict) || refused && p.Code == problem.CodeDuplicateURL
}

// putOnce looks for the URL among the tenant's endpoints, and changes the endpoint as it was found: a second read of it
// would tell nothing more.
func (h *Handler) putOnce(ctx context.Context, c *call, f fields, marks endpoint.TenantMarks) (any, error) {
	live, err := h.Endpoints.Live(ctx, c.key.TenantID)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(live, func(e endpoint.Endpoint) bool { return e.URL == *f.url })
	if at < 0 {
		c.status = 201
		return h.createFrom(ctx, c, f, marks)
	}
	c.status = 200
	c.endpointID = live[at].ID
	found, err := h.told(ctx, live[at])
	if err != nil {
		return nil, err
	}
	was := readEndpoint{current(found, c.now), marks}
	shown, err := h.alterFrom(ctx, c, was, "update", func(e *endpoint.Endpoint) error {
		f.apply(e)
		return h.seal(ctx, e, f)
	})
	return warned(shown), err
}
