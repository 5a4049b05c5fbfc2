package deliver

import (
	"context"
	"slices"

	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// observe records in the endpoints' health what became of their attempts. An endpoint that is and
// stays healthy costs nothing. A write that is lost costs time, never a delivery.
func (h *Handler) observe(ctx context.Context, b *batch) {
	var news []*observation
	for _, d := range b.destinations {
		if o := observed(d, b.tasks); o != nil {
			news = append(news, o)
		}
	}
	if len(news) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i, err := range parallel.Each(len(news), stateWrites, func(i int) error { return h.tell(ctx, news[i]) }) {
		if err != nil {
			h.reportHealthLost(ctx, news[i].to, err)
		}
	}
}

// observation is what became of a batch's attempts to one endpoint.
type observation struct {
	to      *destination
	results []health.Result
}

// observed returns nil where there is nothing to tell. Faults of ours say nothing of an endpoint.
func observed(d *destination, tasks []*task) *observation {
	trouble := d.view.Endpoint.Version != 0
	for _, t := range tasks {
		trouble = trouble || t.to == d && t.counts() && t.moves()
	}
	if !trouble {
		return nil
	}
	o := &observation{to: d}
	for _, t := range tasks {
		if t.to == d && t.counts() {
			o.results = append(o.results, t.result())
		}
	}
	if len(o.results) == 0 {
		return nil
	}
	return o
}

// counts reports whether an attempt was made and says something about its endpoint.
func (t *task) counts() bool { return t.posted() && !t.outcome.Reason.Ours() }

// tell writes what follows, failures without a 2xx at most once a second. When the write is refused,
// it asks once more about the item that is stored.
func (h *Handler) tell(ctx context.Context, o *observation) error {
	now := h.Now()
	w := o.to.view.Observe(h.Thresholds, o.results, now)
	good := slices.ContainsFunc(o.results, func(r health.Result) bool { return r.OK })
	if w.Kind == health.Nothing || !good && !h.memory.mayWrite(o.to.key, now) {
		return nil
	}
	for range 2 {
		stored, applied, err := h.Health.Apply(ctx, w)
		if applied || err != nil {
			return err
		}
		view := o.to.view
		view.Endpoint = stored
		if w = view.Observe(h.Thresholds, o.results, now); w.Kind == health.Nothing {
			return nil
		}
	}
	return nil // others write, too, and about the same
}

func (h *Handler) reportHealthLost(ctx context.Context, d *destination, err error) {
	h.Log.WarnContext(ctx, "health not written", telemetry.KeyTenant, d.key.TenantID,
		telemetry.KeyEndpoint, d.key.EndpointID, telemetry.KeyError, err.Error())
	h.Metrics.Count("HealthWritesLost", 1, telemetry.Dimensions{Fault: "ours"})
}
