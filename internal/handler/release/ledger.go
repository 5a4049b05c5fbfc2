package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// store stores an item in place of another, and logs a change of state. Where another writer was faster, applied is
// false and stored is theirs.
func (h *Handler) store(ctx context.Context, was, next circuit.Item) (stored circuit.Item, applied bool, err error) {
	stored, applied, err = h.Circuits.Store(ctx, was, next)
	if err == nil && applied && was.State != next.State {
		h.Log.InfoContext(ctx, "circuit changed",
			telemetry.KeyEndpoint, next.EndpointID, "from", was.State.String(), "to", next.State.String())
	}
	return stored, applied, err
}

// result stores the result of one search. One that had no time to end has none but the pace of its recovery.
func (h *Handler) result(ctx context.Context, s *search) error {
	i, now := s.plan.Item, h.Now()
	switch {
	case s.held:
		return h.change(ctx, i, func(i circuit.Item) (circuit.Item, bool) { return i.Found(h.Settings, s.facts, now) })
	case !s.plan.Search, s.complete():
		return h.end(ctx, i, i.Empty(h.Settings, s.facts, s.began, now))
	case !s.oldest.IsZero() && s.quota > 0:
		return h.change(ctx, i, func(i circuit.Item) (circuit.Item, bool) {
			return i.Paced(s.quota, s.oldest, h.Now()), i.State == circuit.Recovering
		})
	}
	return nil
}

func (h *Handler) end(ctx context.Context, i circuit.Item, end circuit.End) (err error) {
	state := i.State
	switch end {
	case circuit.Keep:
	case circuit.Settle:
		err = h.change(ctx, i, func(i circuit.Item) (circuit.Item, bool) {
			return i.Settled(h.Now()), i.State == state
		})
	case circuit.Clear:
		_, err = h.Circuits.Clear(ctx, i)
	case circuit.Remove:
		_, err = h.Circuits.Remove(ctx, i)
	}
	return err
}

// change stores an item's change, if there is one. When that is refused, because an attempt changed the item
// meanwhile, it asks once more about the changed one.
func (h *Handler) change(
	ctx context.Context, i circuit.Item, next func(circuit.Item) (to circuit.Item, store bool),
) error {
	for range 2 {
		to, store := next(i)
		if !store || i.Version == 0 {
			return nil
		}
		stored, applied, err := h.store(ctx, i, to)
		if err != nil || applied {
			return err
		}
		i = stored
	}
	return nil
}

// forgetAfter is how long the number of a tenant is kept that is slow no more.
const forgetAfter = 24 * time.Hour

// forgetSlow removes tenants' numbers that have long passed.
func (h *Handler) forgetSlow(ctx context.Context, t *tally, until map[string]time.Time) {
	var passed []string
	for tenantID, at := range until {
		if h.Now().Sub(at) >= forgetAfter {
			passed = append(passed, tenantID)
		}
	}
	t.each(ctx, "forgetting a slow tenant", len(passed), func(n int) error {
		return h.Circuits.ForgetSlow(ctx, passed[n], until[passed[n]])
	})
}
