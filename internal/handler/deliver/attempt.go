package deliver

import (
	"context"
	"sync"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/parallel"
)

// attempt makes the attempt of every pending task, concurrently, and returns when all have
// ended. The deadline of ctx ends those that have not. What the slow lane turned away goes to
// RetryQueue meanwhile: it must not wait for the slowest attempt of its batch.
func (h *Handler) attempt(ctx context.Context, b *batch) {
	begins := 0
	for _, t := range b.tasks {
		if !t.pending() {
			continue
		}
		if t.to.slots == nil {
			t.to.slots = make(chan struct{}, max(h.PerEndpoint, 1))
		}
		t.to.left.Add(1)
		begins++
	}
	if begins == 0 {
		return
	}
	defer h.watch(ctx, b)()
	var wait sync.WaitGroup
	if aside := first(going(b.tasks, delivery.ToRetryQueue)); len(aside) > 0 {
		wait.Go(func() { h.sendToRetryQueue(ctx, aside) })
	}
	for _, t := range b.tasks {
		if !t.pending() {
			continue
		}
		wait.Go(func() {
			defer t.to.left.Add(-1)
			if err := parallel.Guard(func() error { return h.attemptOne(ctx, t) }); err != nil {
				h.fail(t, err)
			}
		})
	}
	wait.Wait()
}

func (h *Handler) attemptOne(ctx context.Context, t *task) error {
	d := t.to
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		t.end(delivery.ReasonOutOfTime, h.standing(t).Fault(h.Schedule))
		return nil
	}
	if !t.fromRetryQueue() && d.hanging.Load() {
		t.end(delivery.ReasonEndpointHanging, h.standing(t).AtOnce())
		return nil
	}
	secret, err := h.secret(ctx, t)
	if err != nil {
		return err
	}
	t.begun = h.Now()
	t.made = h.Attempts.Attempt(ctx, t.message, delivery.Target{URL: d.endpoint.URL, Secret: secret})
	t.ended = h.Now()
	if t.made.Reason == delivery.ReasonTimeout {
		d.hanging.Store(true)
		if ctx.Err() != nil { // our deadline, not the attempt's
			t.made.Reason = delivery.ReasonOutOfTime
		}
	}
	h.follow(t, &t.made)
	return nil
}

// follow decides what follows on an attempt. The wait counts from its end.
func (h *Handler) follow(t *task, out *delivery.Outcome) {
	switch {
	case out.Verdict == delivery.VerdictAcknowledged:
	case out.Reason.Ours():
		t.next = h.standing(t).Fault(h.Schedule)
	default:
		t.next = h.standing(t).Failed(h.Schedule, *out, t.begun)
		if t.to.open() { // what was to wait for long waits for the endpoint, which is probed sooner
			t.next = t.next.Hold()
		}
		out.Verdict = verdictOf(t.next)
	}
	t.outcome = out
}

func (h *Handler) secret(ctx context.Context, t *task) (string, error) {
	e := t.to.endpoint
	return h.Secrets.Open(ctx, keyring.SecretID{
		TenantID:   e.TenantID,
		EndpointID: e.ID,
		Version:    e.SecretVersion,
	}, e.SealedSecret)
}
