package webhooks

import (
	"context"
	"strings"
	"sync"

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/problem"
)

// authenticate finds out whose request it is, and counts it. Missing, malformed, unknown and revoked keys
// look the same from outside. A wrong secret spends nothing of the key whose id it names.
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
	c.keyID = known.ID
	if !known.Accepts(text) { // the zero key of an unknown id accepts nothing
		return problem.New(problem.CodeUnauthenticated)
	}
	key, spent := known, false
	if known.Affords(c.units(), h.Budget, c.now) {
		if key, spent, err = h.Keys.Spend(ctx, known, c.units(), h.Budget, c.now); err != nil {
			return err
		}
		h.seen.put(key)
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

// lookUp returns the key as this process saw it last, or reads it. Spend shows whether it was revoked since.
func (h *Handler) lookUp(ctx context.Context, id string) (apikey.Key, error) {
	if key, found := h.seen.get(id); found {
		return key, nil
	}
	key, found, err := h.Keys.Get(ctx, id)
	if found && err == nil {
		h.seen.put(key)
	}
	return key, err
}

// seen is a process's memory of keys: their hashes and revocations, both of which are final, and their use in a
// minute, which only grows. So the refusal of a wrong secret, and of a key that is beyond its limit, costs no request
// to AWS.
type seen struct {
	mu   sync.Mutex
	keys map[string]apikey.Key
}

const maxSeen = 1000 // keys

func (s *seen) get(id string) (key apikey.Key, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, found = s.keys[id]
	return key, found
}

func (s *seen) put(key apikey.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil || len(s.keys) >= maxSeen {
		s.keys = map[string]apikey.Key{}
	}
	s.keys[key.ID] = key
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
