package webhooks

import (
	"context"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// authenticate finds the tenant of a request by its key, and counts the request. Missing, malformed, unknown and
// revoked keys look the same from outside. A wrong secret spends nothing of the key with that id.
func (h *Handler) authenticate(ctx context.Context, c *call) error {
	text := bearer(c.in.Headers["authorization"])
	id, ok := apikey.ParseID(text)
	if !ok {
		return problem.New(problem.CodeUnauthenticated)
	}
	known, err := h.lookUp(ctx, id)
	if err != nil {
		return err
	}
	// From here on the request's line of the log names the key, even where the request has a wrong secret.
	c.keyID = known.ID
	if !known.Accepts(text) { // the zero key of an unknown id accepts nothing
		return problem.New(problem.CodeUnauthenticated)
	}
	key, spent := known, false
	// A key is refused without a write if its last known use leaves nothing: use only grows within a minute.
	if known.Affords(c.units(), h.Budget, c.now) {
		key, spent, err = h.Keys.Spend(ctx, known, c.units(), h.Budget, c.now)
		if err != nil {
			return err
		}
		h.seen.Put(key.ID, key)
	}
	switch {
	case !key.Accepts(text): // revoked since it was seen
		return problem.New(problem.CodeUnauthenticated)
	case !spent:
		return problem.New(problem.CodeTooManyRequests)
	}
	c.key = key
	return nil
}

// lookUp returns the key as this process saw it last, or reads it. Spend shows whether it was revoked since. An id that
// no key has is not remembered: a made-up id per request would fill the memory with nothing.
func (h *Handler) lookUp(ctx context.Context, id string) (apikey.Key, error) {
	if key, found := h.seen.Get(id); found {
		return key, nil
	}
	key, found, err := h.Keys.Get(ctx, id)
	if found && err == nil {
		h.seen.Put(key.ID, key)
	}
	return key, err
}

// bearer returns the token of an Authorization header (RFC 6750, section 2.1; the scheme's case does not matter, RFC
// 9110, section 11.1), "" for none.
func bearer(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.Trim(token, " ")
}

// admit finds out whether the request may have its route.
func (h *Handler) admit(ctx context.Context, c *call, unrouted error) error {
	if unrouted == nil && c.route.open {
		return nil
	}
	if err := h.authenticate(ctx, c); err != nil {
		return err
	}
	if unrouted != nil {
		return unrouted
	}
	if !c.key.Allows(c.route.scope) {
		return &problem.Error{
			Code:   problem.CodeInsufficientScope,
			Detail: "This operation needs the scope " + string(c.route.scope) + ", which the API key lacks.",
		}
	}
	return nil
}
