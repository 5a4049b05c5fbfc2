package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/parallel"
)

// holdTime bounds the writes that have to be stored before anything is held.
const holdTime = 500 * time.Millisecond

// hold stores what has to be stored before anything is held: release finds what is held by its
// endpoint's item. Where that fails, the deliveries wait on RetryQueue and are decided about again.
func (h *Handler) hold(ctx context.Context, b *batch) {
	var firsts []*destination
	for _, d := range b.destinations {
		if d.first.Kind != health.Nothing {
			firsts = append(firsts, d)
		}
	}
	if len(firsts) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, holdTime)
	defer cancel()
	errs := parallel.Each(len(firsts), stateWrites, func(i int) error { return h.storeFirst(ctx, firsts[i], b.tasks) })
	for i, err := range errs {
		if err == nil {
			continue
		}
		for _, t := range heldFor(firsts[i], b.tasks) {
			h.lost(t, "HoldsLost", err)
			h.fallBack(t)
		}
	}
}

var errRefused = errors.New("writing health: the endpoint's item changes too fast")

// storeFirst stores what has to come first. When that is refused, it asks once more about the item
// that is stored.
func (h *Handler) storeFirst(ctx context.Context, d *destination, tasks []*task) error {
	for range 2 {
		stored, applied, err := h.Health.Apply(ctx, d.first)
		if err != nil {
			return err
		}
		d.view.Endpoint, d.first = stored, health.Write{}
		if applied {
			return nil
		}
		for _, t := range heldFor(d, tasks) {
			h.decideAgain(t)
		}
		if d.first.Kind == health.Nothing {
			return nil
		}
	}
	return errRefused
}

// decideAgain decides anew about a delivery that was to be held. It is too late for an attempt in
// this batch: what may now be sent is received again at once.
func (h *Handler) decideAgain(t *task) {
	now := h.Now()
	switch decision := t.to.view.Decide(t.question(), now); decision.Action {
	case health.Dropped:
		t.discard(delivery.Reason(decision.Reason))
	case health.Ended:
		h.kill(t, decision)
	case health.Hold:
		h.keep(t, decision)
	case health.Post:
		t.next = h.standing(t).AtOnce()
	}
}

// heldFor are the tasks that are to be held for the endpoint.
func heldFor(d *destination, tasks []*task) (held []*task) {
	for _, t := range tasks {
		if t.to == d && t.moves() && t.next.Held {
			held = append(held, t)
		}
	}
	return held
}
