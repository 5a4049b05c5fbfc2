package release

import (
	"context"
	"slices"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/notice"
)

// owed is a notice that the bus has not taken yet.
type owed struct {
	target target
	notice circuit.Notice
	err    error
}

// tell puts pending notices on the bus, and stores which ones it took. A notice that was refused, or could not be
// stored, is put again by the next run.
func (h *Handler) tell(ctx context.Context, t *tally, targets []target) {
	var all []owed
	for _, target := range targets {
		if h.Bus == nil || target.facts.Gone {
			continue
		}
		for _, n := range target.plan.Item.Owed() {
			all = append(all, owed{target: target, notice: n})
		}
	}
	calls := slices.Collect(slices.Chunk(all, notice.MaxPut))
	t.each(ctx, "telling owners", len(calls), func(n int) error { return h.put(ctx, t, calls[n]) })
	ofEndpoint := grouped(all, func(o owed) string { return o.target.key.EndpointID })
	t.each(ctx, "storing sent notices", len(ofEndpoint), func(n int) error { return h.told(ctx, ofEndpoint[n]) })
}

// put notes in each notice whether the bus has taken it, and returns the first refusal.
func (h *Handler) put(ctx context.Context, t *tally, call []owed) (first error) {
	notices := make([]notice.Notice, len(call))
	for n, o := range call {
		notices[n] = notice.Of(o.target.endpoint, o.notice)
	}
	for n, err := range h.Bus.Put(ctx, notices) {
		call[n].err = err
		t.notice(err == nil)
		if first == nil {
			first = err
		}
	}
	return first
}

// told stores the notices that the owner of an endpoint got.
func (h *Handler) told(ctx context.Context, taken []owed) error {
	taken = slices.DeleteFunc(taken, func(o owed) bool { return o.err != nil })
	if len(taken) == 0 {
		return nil
	}
	return h.change(ctx, taken[0].target.plan.Item, func(i circuit.Item) (to circuit.Item, store bool) {
		for _, o := range taken {
			next, changed := i.Told(o.notice, h.Now())
			i, store = next, store || changed
		}
		return i, store
	})
}
