package webhooks

import (
	"context"
	"strings"

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/problem"
)

// authenticate finds out whose request it is. Missing, malformed, unknown and revoked keys
// look the same from outside; only the first two cost no read.
func (h *Handler) authenticate(ctx context.Context, c *call) error {
	text, ok := bearer(c.Header["authorization"])
	if !ok {
		return problem.New(problem.CodeUnauthenticated)
	}
	id, ok := apikey.ParseID(text)
	if !ok {
		return problem.New(problem.CodeUnauthenticated)
	}
	key, _, err := h.Keys.Get(ctx, id)
	if err != nil {
		return storeProblem(err)
	}
	if !key.Accepts(text) { // the zero key of an unknown id accepts nothing
		return problem.New(problem.CodeUnauthenticated)
	}
	c.key = key
	return nil
}

// bearer returns the token of an Authorization header (RFC 6750, section 2.1; the scheme's
// case does not matter, RFC 9110, section 11.1).
func bearer(header string) (token string, ok bool) {
	scheme, token, found := strings.Cut(header, " ")
	return strings.Trim(token, " "), found && strings.EqualFold(scheme, "Bearer")
}
