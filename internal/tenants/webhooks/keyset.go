package webhooks

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// A process reads keys once a minute, and asks a little sooner for an endpoint that was not there: it may be new.
// While they cannot be read, it goes on with those of the last hour, for which receivers keep them, too. A read that
// hangs ends soon, so that a flood of requests keeps few processes busy.
const (
	keysFresh    = time.Minute
	missingFresh = 5 * time.Second
	keysStale    = time.Hour
	keysPatience = 2 * time.Second
	maxKeySets   = 10_000
)

// keySet answers any caller with the public keys that verify an endpoint's deliveries. An endpoint that does not exist,
// is deleted or has no part in it looks the same. The id is as hard to guess as a secret, and the answer names no
// tenant.
func (h *Handler) keySet(ctx context.Context, c *call) (any, error) {
	if !h.Asymmetric || !endpoint.ValidID(c.endpointID) {
		return nil, problem.New(problem.CodeEndpointNotFound)
	}
	known, err := h.lookUpKeys(ctx, c.endpointID, c.now)
	if err != nil {
		return nil, err
	}
	if !known.found {
		return nil, problem.New(problem.CodeEndpointNotFound)
	}
	set := management.KeySet{Keys: []signature.JWK{}}
	for _, public := range known.endpoint.PublicKeys(c.now) {
		key, err := signature.NewJWK(public)
		if err != nil {
			return nil, problem.Because(problem.CodeInternal, err)
		}
		set.Keys = append(set.Keys, key)
	}
	return set, nil
}

// lookUpKeys returns an endpoint's keys as this process saw them last, or reads them.
func (h *Handler) lookUpKeys(ctx context.Context, endpointID string, now time.Time) (published, error) {
	known, seen := h.keySets.Get(endpointID)
	age := now.Sub(known.at)
	if seen && (age < missingFresh || known.found && age < keysFresh) {
		return known, nil
	}
	bounded, cancel := context.WithTimeout(ctx, keysPatience)
	defer cancel()
	e, found, err := h.Published.Published(bounded, endpointID)
	switch {
	case err == nil:
		known = published{endpoint: e, found: found, at: now}
		h.keySets.Put(endpointID, known)
		return known, nil
	// Old keys are better than none: they verify all deliveries that were signed before the last rotation.
	case seen && known.found && age < keysStale:
		h.Log.WarnContext(ctx, "keys not read anew", slog.String(telemetry.KeyEndpoint, endpointID), telemetry.Cause(err))
		return known, nil
	}
	return published{}, err
}
