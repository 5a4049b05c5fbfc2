package webhooks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
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
	return h.createFrom(ctx, c, f)
}

// createFrom creates an endpoint and shows its secret.
func (h *Handler) createFrom(ctx context.Context, c *call, f fields) (any, error) {
	secret := signature.NewSecret()
	e := endpoint.Endpoint{TenantID: c.key.TenantID, Status: endpoint.Active}
	f.apply(&e)
	if err := h.add(ctx, c, &e, f.headers, secret); err != nil {
		return nil, err
	}
	shown := h.viewOf(e, c.now)
	shown.SigningSecret = secret
	return shown, nil
}

// add gives a new endpoint of a tenant its id, secret and headers, and audits and stores it. The audit line comes
// before the endpoint. Where the endpoint is not stored after all, the line stays: it has the request, and the log of
// the function has the result.
func (h *Handler) add(
	ctx context.Context, c *call, e *endpoint.Endpoint, headers *[]endpoint.Header, secret string,
) error {
	e.ID, e.CreatedAt = endpoint.NewID(c.now), c.now
	c.endpointID = e.ID
	if err := h.setSecret(ctx, e, secret); err != nil {
		return err
	}
	if err := h.setHeaders(ctx, e, headers); err != nil {
		return err
	}
	stamp(e, c.now)
	if err := h.Audit.Write(ctx, c.line("create", nil, e)); err != nil {
		return err
	}
	return h.store(ctx, c, func() error { return h.Endpoints.Create(ctx, *e, h.allowURL(*e)) })
}

// setSecret gives the endpoint its next signing secret, and on request a new key pair, sealed together. Nothing is
// stored yet: an error here leaves all as it was. The version goes up first, since it is a part of the context under
// which KMS encrypts: a sealed secret of one version does not open as another.
func (h *Handler) setSecret(ctx context.Context, e *endpoint.Endpoint, secret string) (err error) {
	signer := signature.Signer{Secret: secret}
	if h.Asymmetric {
		signer = signature.NewSigner(secret)
	}
	e.SecretVersion++
	e.PublicKey = signer.PublicKey()
	e.SealedSecret, err = h.Secrets.Seal(ctx, keyring.SecretOf(*e), signer.Text())
	return err
}

// stamp marks a new state of an endpoint, so that the store can tell it from every other.
func stamp(e *endpoint.Endpoint, now time.Time) {
	e.Revision = rand.Text()
	if now.After(e.UpdatedAt) { // clocks of two processes may differ
		e.UpdatedAt = now
	}
}

// alter changes the endpoint of the path, audits and stores the change, if it is one, and returns the endpoint as its
// tenant sees it.
func (h *Handler) alter(
	ctx context.Context, c *call, action string, change func(*endpoint.Endpoint) error,
) (view, error) {
	was, err := h.load(ctx, c)
	if err != nil {
		return view{}, err
	}
	// An operator's limit is read before the change, so that no answer of a change that was made is lost by it.
	was, err = h.marked(ctx, was)
	if err != nil {
		return view{}, err
	}
	now := was
	// The whole endpoint is compared: a field that changed does not know is stored, too.
	if err := change(&now); err != nil || reflect.DeepEqual(was, now) {
		return h.viewOf(now, c.now), err
	}
	stamp(&now, c.now)
	if err := h.Audit.Write(ctx, c.line(action, &was, &now)); err != nil {
		return view{}, err
	}
	err = h.store(ctx, c, func() error {
		if now.Live() && (!was.Live() || was.URL != now.URL) {
			// A URL that is new to the live endpoints has to be checked against all of them, in one transaction with their
			// count.
			return h.Endpoints.Readdress(ctx, was, now, h.allowURL(now))
		}
		return h.Endpoints.Replace(ctx, was, now)
	})
	h.keySets.Delete(now.ID) // this process shows the new public keys at once, others within a minute
	shown := h.viewOf(now, c.now)
	shown.HeadersDropped = dropped(was, now)
	return shown, err
}

// change sets the fields that the body has. A move to another origin drops the headers, unless the body sets them anew:
// they may hold a token that only the receiver before is to see.
func (h *Handler) change(ctx context.Context, c *call) (any, error) {
	f, err := h.readChange(c.body)
	if err != nil {
		return nil, err
	}
	return h.alter(ctx, c, "update", func(e *endpoint.Endpoint) error {
		if !e.Live() {
			return problem.New(problem.CodeEndpointDeleted)
		}
		was := e.URL
		f.apply(e)
		if f.headers == nil && !sameOrigin(was, e.URL) {
			removeHeaders(e)
		}
		return h.setHeaders(ctx, e, f.headers)
	})
}

// removeTries is how often a deletion that met another change looks again: unlike a change, it means the same after
// any other.
const removeTries = 3

// remove deletes an endpoint. To delete a deleted one is no fault, so that a client may repeat a request with a lost
// answer.
func (h *Handler) remove(ctx context.Context, c *call) (_ any, err error) {
	for try := range removeTries {
		err = h.removeOnce(ctx, c, try == 0)
		if !errors.Is(err, dynamo.ErrConflict) {
			break
		}
	}
	return nil, err
}

// removeOnce deletes the endpoint as it is now. It can prune as well, which is enough once in a request: deleted
// endpoints beyond the most that a tenant may have are removed for good, the one that was deleted first at the
// beginning. Each has a line in the audit log, written together with that of the deletion, before anything is removed.
func (h *Handler) removeOnce(ctx context.Context, c *call, prunes bool) error {
	was, err := h.load(ctx, c)
	if err != nil || !was.Live() {
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
	if err := h.Audit.Write(ctx, lines...); err != nil {
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
	return h.alter(ctx, c, "restore", func(e *endpoint.Endpoint) error {
		if e.Live() {
			return problem.New(problem.CodeEndpointNotDeleted)
		}
		e.Status, e.DeletedAt = endpoint.Active, time.Time{}
		return nil
	})
}

// rotate replaces the signing secret at once (infra/docs/spec.md, "Endpoints"). On request the one before goes on
// signing for some hours: webhook-signature then has both signatures. Any before that is forgotten.
func (h *Handler) rotate(ctx context.Context, c *call) (any, error) {
	overlap, err := h.readOverlap(c.body)
	if err != nil {
		return nil, err
	}
	secret := signature.NewSecret()
	shown, err := h.alter(ctx, c, "rotate", func(e *endpoint.Endpoint) error {
		e.EndOverlap()
		if overlap > 0 && e.Live() {
			e.SealedPrevious, e.PreviousKey = e.SealedSecret, e.PublicKey
			e.PreviousUntil = c.now.Add(overlap)
		}
		e.SecretRotatedAt = c.now
		return h.setSecret(ctx, e, secret)
	})
	shown.SigningSecret = secret
	return shown, err
}

// allowURL bounds a host's deliveries of one event of a tenant, since its owner may never have agreed.
func (h *Handler) allowURL(e endpoint.Endpoint) dynamo.Check {
	return func(live []endpoint.Endpoint) error {
		atHost := 0
		for _, other := range live {
			switch {
			case other.ID == e.ID:
			case other.URL == e.URL:
				return problem.At(problem.CodeDuplicateURL, "/url", "is the URL of "+other.ID)
			case other.Host() == e.Host():
				atHost++
			}
		}
		if atHost >= h.PerHost && atHost < endpoint.MaxLive { // with MaxLive of them, no other host is allowed either
			detail := fmt.Sprintf("names a host at which the tenant has %d endpoints that are not deleted", atHost)
			return problem.At(problem.CodeHostLimit, "/url", detail)
		}
		return nil
	}
}
