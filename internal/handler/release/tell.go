package release

import (
	"cmp"
	"context"
	"errors"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/notice"
)

// tell puts pending notices on the bus.
func (h *Handler) tell(ctx context.Context, t *tally, searches []*search) {
	if h.Bus == nil {
		return
	}
	t.each(ctx, "telling owners", len(searches), func(n int) error { return h.tellOwner(ctx, t, searches[n]) })
}

// tellOwner puts an endpoint's notices, and stores which ones the bus took. A notice that was refused, or could not be
// stored, is put again by the next run.
func (h *Handler) tellOwner(ctx context.Context, t *tally, to *search) (refused error) {
	owed := to.plan.Item.Owed()
	if to.facts.Gone || len(owed) == 0 {
		return nil
	}
	notices := make([]notice.Notice, len(owed))
	for n, one := range owed {
		notices[n] = notice.Of(to.endpoint, one)
	}
	var taken []circuit.Notice
	for n, err := range h.Bus.Put(ctx, notices) {
		if t.notice(err == nil); err == nil {
			taken = append(taken, owed[n])
		}
		refused = cmp.Or(refused, err)
	}
	return errors.Join(refused, h.change(ctx, to.plan.Item, func(i circuit.Item) (next circuit.Item, store bool) {
		for _, one := range taken {
			told, changed := i.Told(one, h.Now())
			i, store = told, store || changed
		}
		return i, store
	}))
}
