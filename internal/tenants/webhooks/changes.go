package webhooks

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// alter changes the endpoint of the path, audits and stores the change, if it is one, and returns the endpoint as its
// tenant sees it.
func (h *Handler) alter(
	ctx context.Context, c *call, action string, change func(*endpoint.Endpoint) error,
) (management.Endpoint, error) {
	was, err := h.load(ctx, c)
	if err != nil {
		return management.Endpoint{}, err
	}
	was, err = h.told(ctx, was)
	if err != nil {
		return management.Endpoint{}, err
	}
	// An operator's limit is read before the change, so that no answer of a change that was made is lost by it.
	marks, err := h.Endpoints.Marks(ctx, was.TenantID)
	if err != nil {
		return management.Endpoint{}, err
	}
	return h.alterFrom(ctx, c, readEndpoint{was, marks}, action, change)
}

// readEndpoint is an endpoint, and the operators' marks of its tenant.
type readEndpoint struct {
	endpoint.Endpoint
	marks endpoint.TenantMarks
}

// alterFrom is alter for an endpoint that was read. The answer has the limit of the place where the endpoint is now.
func (h *Handler) alterFrom(
	ctx context.Context, c *call, from readEndpoint, action string, change func(*endpoint.Endpoint) error,
) (management.Endpoint, error) {
	was := from.Endpoint
	now := was
	// The whole endpoint is compared: a field that changed does not know is stored, too.
	if err := change(&now); err != nil || reflect.DeepEqual(was, now) {
		return h.viewOf(limitedBy(from.marks, now), c.now), err
	}
	// A URL that is new to the live endpoints has to be checked against all of them, in one transaction with their count.
	var allow dynamo.Check
	if now.Live() && (!was.Live() || now.ComesTo(was)) {
		allow = h.allowURL(ctx, now)
	}
	if now.Live() && (!was.Live() || was.URL != now.URL) {
		now.ComeTo(c.now)
	}
	stamp(&now, c.now)
	if err := h.tell(ctx, c, c.line(action, &was, &now)); err != nil {
		return management.Endpoint{}, err
	}
	err := h.store(ctx, c, func() error {
		if allow != nil {
			return h.Endpoints.Readdress(ctx, was, now, allow)
		}
		return h.Endpoints.Replace(ctx, was, now)
	})
	h.keySets.Delete(now.ID) // this process shows the new public keys at once, others within a minute
	shown := h.viewOf(limitedBy(from.marks, now), c.now)
	shown.HeadersDropped, shown.OAuth2Dropped = dropped(was, now), oauthDropped(was, now)
	return shown, err
}

// change sets the fields that the body has. A move to another origin drops the headers and the OAuth, unless the body
// sets them anew: they hold, or get, a token that only the receiver before is to see.
func (h *Handler) change(ctx context.Context, c *call) (any, error) {
	f, err := h.readChange(c.body)
	if f.unknown {
		was, failed := h.load(ctx, c)
		if failed != nil {
			return nil, failed
		}
		f, err = h.readChange(c.body, was.Events...)
	}
	if err != nil {
		return nil, err
	}
	shown, err := h.alter(ctx, c, "update", func(e *endpoint.Endpoint) error {
		if !e.Live() {
			return problem.New(problem.CodeEndpointDeleted)
		}
		was := e.URL
		f.apply(e)
		if !sameOrigin(was, e.URL) {
			f.dropSealed(e)
		}
		if f.authorizesTwice(*e) {
			return problem.At(problem.CodeValidationFailed, oauthPointer, twoAuthorizations)
		}
		return h.seal(ctx, e, f)
	})
	return warned(shown), err
}

// removeTries is how often a deletion reads the endpoint again after it has met another change. A deletion means the
// same whatever the other change was, so it may be repeated without asking the client.
const removeTries = 3

// remove deletes an endpoint. It succeeds even if the endpoint has already been deleted, so that a client whose answer
// was lost may repeat the request.
func (h *Handler) remove(ctx context.Context, c *call) (_ any, err error) {
	for try := range removeTries {
		err = h.removeOnce(ctx, c, try == 0)
		if !errors.Is(err, dynamo.ErrConflict) {
			break
		}
	}
	return nil, err
}

// removeOnce deletes the endpoint as it is stored now. If prunes is set, it also removes deleted endpoints for good:
// those beyond the number that a tenant may keep, beginning with the one that was deleted first. Once in a request is
// enough. Each of them gets a line in the audit log, written together with the line of the deletion, before anything is
// removed.
func (h *Handler) removeOnce(ctx context.Context, c *call, prunes bool) error {
	was, err := h.load(ctx, c)
	if err != nil || !was.Live() {
		return err
	}
	was, err = h.told(ctx, was)
	if err != nil {
		return err
	}
	now := was
	now.Status, now.DeletedAt = endpoint.Deleted, c.now
	now.EndOverlap()
	stamp(&now, c.now)
	lines := []audit.Line{c.line("delete", &was, &now)}
	var surplus []endpoint.Endpoint
	if prunes {
		surplus, err = h.Endpoints.Surplus(ctx, was.TenantID)
		if err != nil {
			return err
		}
	}
	for _, e := range surplus {
		lines = append(lines, c.prunes(e))
	}
	if err := h.tell(ctx, c, lines...); err != nil {
		return err
	}
	if err := h.Endpoints.Prune(ctx, surplus); err != nil {
		return err
	}
	err = h.store(ctx, c, func() error { return h.Endpoints.Replace(ctx, was, now) })
	h.keySets.Delete(now.ID)
	return err
}

// restore makes a deleted endpoint active, with the secret and the headers that it had (infra/docs/spec.md,
// "Endpoints").
func (h *Handler) restore(ctx context.Context, c *call) (any, error) {
	shown, err := h.alter(ctx, c, "restore", func(e *endpoint.Endpoint) error {
		if e.Live() {
			return problem.New(problem.CodeEndpointNotDeleted)
		}
		e.Status, e.DeletedAt = endpoint.Active, time.Time{}
		return nil
	})
	return warned(shown), err
}
