package webhooks

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// create makes an endpoint. Its answer is the only one with the signing secret, until the secret is rotated.
func (h *Handler) create(ctx context.Context, c *call) (any, error) {
	f, err := h.readNew(c.body)
	if err != nil {
		return nil, err
	}
	marks, err := h.Endpoints.Marks(ctx, c.key.TenantID)
	if err != nil {
		return nil, err
	}
	return h.createFrom(ctx, c, f, marks)
}

// createFrom creates an endpoint, and shows its secret and the limit that operators' marks have for it.
func (h *Handler) createFrom(ctx context.Context, c *call, f fields, marks endpoint.TenantMarks) (any, error) {
	secret := signature.NewSecret()
	e := endpoint.Endpoint{TenantID: c.key.TenantID, Status: endpoint.Active}
	f.apply(&e)
	if err := h.add(ctx, c, &e, f, secret); err != nil {
		return nil, err
	}
	shown := h.viewOf(limitedBy(marks, e), c.now)
	shown.SigningSecret = secret
	return warned(shown), nil
}

// add gives a new endpoint of a tenant its id and what is sealed of it, and audits and stores it. The audit line comes
// before the endpoint. Where the endpoint is not stored after all, the line stays: it has the request, and the log of
// the function has the result.
func (h *Handler) add(ctx context.Context, c *call, e *endpoint.Endpoint, f fields, secret string) error {
	e.ID, e.CreatedAt = endpoint.NewID(c.now), c.now
	e.ComeTo(c.now)
	c.endpointID = e.ID
	if err := h.setSecret(ctx, e, secret); err != nil {
		return err
	}
	if err := h.seal(ctx, e, f); err != nil {
		return err
	}
	stamp(e, c.now)
	allow := h.allowURL(ctx, *e)
	if err := h.tell(ctx, c, c.line("create", nil, e)); err != nil {
		return err
	}
	return h.store(ctx, c, func() error { return h.Endpoints.Create(ctx, *e, allow) })
}

// stamp marks a new state of an endpoint, so that the store can tell it from every other. The endpoint must have been
// read with its About.
func stamp(e *endpoint.Endpoint, now time.Time) {
	e.Revision, e.AboutRow = rand.Text(), e.About.Row()
	if now.After(e.UpdatedAt) { // clocks of two processes may differ
		e.UpdatedAt = now
	}
}

// allowURL refuses a URL that clashes with those of the tenant's live endpoints.
func (h *Handler) allowURL(ctx context.Context, e endpoint.Endpoint) dynamo.Check {
	return func(live []endpoint.Endpoint) error {
		clash, err := h.clash(ctx, e, live)
		switch {
		case err != nil:
			return err
		case clash.With != "":
			return problem.At(problem.CodeDuplicateURL, "/url", "is the URL of "+clash.With)
		case clash.SiteFull:
			detail := fmt.Sprintf("names a domain at which the tenant has %d endpoints that are not deleted", clash.AtSite)
			pointer := "/url"
			if clash.OfTokens {
				pointer = oauthPointer + "/token_url"
			}
			return problem.At(problem.CodeHostLimit, pointer, detail)
		}
		return nil
	}
}

// clash holds an endpoint against the live ones. What an operator has allowed the tenant is read only where a site is
// full without it.
func (h *Handler) clash(ctx context.Context, e endpoint.Endpoint, live []endpoint.Endpoint) (endpoint.Clash, error) {
	clash := e.Clashes(live, h.Bounds)
	if !clash.SiteFull {
		return clash, nil
	}
	marks, err := h.Endpoints.Marks(ctx, e.TenantID)
	if err != nil {
		return endpoint.Clash{}, err
	}
	most := h.Bounds
	most.AtSite = max(most.AtSite, marks.Tenant.EndpointsPerHost)
	return e.Clashes(live, most), nil
}
