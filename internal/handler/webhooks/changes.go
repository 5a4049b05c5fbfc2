package webhooks

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/apigw"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/problem"
	"github.com/herald-webhooks/herald/internal/signature"
)

func (h *Handler) create(ctx context.Context, c *call) (apigw.Response, error) {
	e, err := h.readNew(c.Body)
	if err != nil {
		return apigw.Response{}, err
	}
	if e.ID, err = endpoint.NewID(c.now, h.Random); err != nil {
		return apigw.Response{}, err
	}
	e.TenantID, e.Status, e.CreatedAt, c.endpointID = c.key.TenantID, endpoint.Active, c.now, e.ID
	secret, err := h.newSecret(ctx, &e)
	if err != nil {
		return apigw.Response{}, err
	}
	if err := h.stamp(&e, c.now); err != nil {
		return apigw.Response{}, err
	}
	if err := h.Endpoints.Create(ctx, e); err != nil {
		return apigw.Response{}, storeProblem(err)
	}
	h.audit(ctx, c, "create", nil, &e)
	shown := viewOf(e)
	shown.SigningSecret = secret
	return respond(201, shown)
}

// newSecret gives the endpoint its next signing secret, sealed, and returns the plaintext.
// Nothing is stored yet: an error here leaves all as it was.
func (h *Handler) newSecret(ctx context.Context, e *endpoint.Endpoint) (string, error) {
	secret, err := signature.NewSecret(h.Random)
	if err != nil {
		return "", err
	}
	e.SecretVersion++
	id := keyring.SecretID{TenantID: e.TenantID, EndpointID: e.ID, Version: e.SecretVersion}
	if e.SealedSecret, err = h.Secrets.Seal(ctx, id, secret); err != nil {
		return "", storeProblem(err)
	}
	return secret, nil
}

// stamp marks a new state of an endpoint, so that the store can tell it from every other.
func (h *Handler) stamp(e *endpoint.Endpoint, now time.Time) error {
	var raw [16]byte
	if _, err := io.ReadFull(h.Random, raw[:]); err != nil {
		return fmt.Errorf("reading randomness: %w", err)
	}
	e.Revision = hex.EncodeToString(raw[:])
	if now.After(e.UpdatedAt) { // clocks of two processes may differ
		e.UpdatedAt = now
	}
	return nil
}

// replace stores a changed endpoint in place of the one that was read.
func (h *Handler) replace(ctx context.Context, c *call, was endpoint.Endpoint, now *endpoint.Endpoint) error {
	if err := h.stamp(now, c.now); err != nil {
		return err
	}
	return storeProblem(h.Endpoints.Replace(ctx, was, *now))
}

func (h *Handler) change(ctx context.Context, c *call) (apigw.Response, error) {
	change, err := h.readChange(c.Body)
	if err != nil {
		return apigw.Response{}, err
	}
	was, err := h.load(ctx, c)
	if err != nil {
		return apigw.Response{}, err
	}
	if !was.Live() {
		return apigw.Response{}, problem.New(problem.CodeEndpointDeleted)
	}
	now := was
	change(&now)
	if same(was, now) {
		return respond(200, viewOf(was))
	}
	if err := h.replace(ctx, c, was, &now); err != nil {
		return apigw.Response{}, err
	}
	h.audit(ctx, c, "update", &was, &now)
	return respond(200, viewOf(now))
}

func same(a, b endpoint.Endpoint) bool {
	return a.URL == b.URL && a.Description == b.Description && a.Status == b.Status && slices.Equal(a.Events, b.Events)
}

// removeTries is how often a deletion that met another change looks again: unlike a change,
// it means the same whatever the other did.
const removeTries = 3

func (h *Handler) remove(ctx context.Context, c *call) (apigw.Response, error) {
	var conflict error
	for range removeTries {
		was, err := h.load(ctx, c)
		if err != nil {
			return apigw.Response{}, err
		}
		if !was.Live() {
			return noContent(), nil
		}
		now := was
		now.Status, now.DeletedAt = endpoint.Deleted, c.now
		conflict = h.replace(ctx, c, was, &now)
		if conflict == nil {
			h.audit(ctx, c, "delete", &was, &now)
			return noContent(), nil
		}
		if !errors.Is(conflict, dynamo.ErrConflict) {
			break
		}
	}
	return apigw.Response{}, conflict
}

func (h *Handler) restore(ctx context.Context, c *call) (apigw.Response, error) {
	was, err := h.load(ctx, c)
	if err != nil {
		return apigw.Response{}, err
	}
	if was.Live() {
		return apigw.Response{}, problem.New(problem.CodeEndpointNotDeleted)
	}
	now := was
	now.Status, now.DeletedAt = endpoint.Active, time.Time{}
	if err := h.replace(ctx, c, was, &now); err != nil {
		return apigw.Response{}, err
	}
	h.audit(ctx, c, "restore", &was, &now)
	return respond(200, viewOf(now))
}

func (h *Handler) rotate(ctx context.Context, c *call) (apigw.Response, error) {
	was, err := h.load(ctx, c)
	if err != nil {
		return apigw.Response{}, err
	}
	now := was
	secret, err := h.newSecret(ctx, &now)
	if err != nil {
		return apigw.Response{}, err
	}
	now.SecretRotatedAt = c.now
	if err := h.replace(ctx, c, was, &now); err != nil {
		return apigw.Response{}, err
	}
	h.audit(ctx, c, "rotate", &was, &now)
	shown := viewOf(now)
	shown.SigningSecret = secret
	return respond(200, shown)
}

func noContent() apigw.Response { return apigw.Response{Status: 204, Header: map[string]string{}} }
