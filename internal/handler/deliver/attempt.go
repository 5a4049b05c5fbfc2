package deliver

import (
	"context"
	"runtime"
	"sync"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/parallel"
)

// attempt makes the attempt of every pending task, concurrently, and returns when all have
// ended. The deadline of ctx ends those that have not.
func (h *Handler) attempt(ctx context.Context, tasks []*task) {
	limits := endpointLimits(tasks, h.PerEndpoint)
	defer h.watch(ctx, limits)()
	var wait sync.WaitGroup
	for _, t := range tasks {
		if !t.pending() {
			continue
		}
		limit := limits[t.message.EndpointID]
		wait.Go(func() {
			defer limit.left.Add(-1)
			growStack()
			if err := parallel.Guard(func() error { return h.attemptOne(ctx, t, limit) }); err != nil {
				t.fail(err)
			}
		})
	}
	wait.Wait()
}

func (h *Handler) attemptOne(ctx context.Context, t *task, limit *endpointLimit) error {
	select {
	case limit.slots <- struct{}{}:
		defer func() { <-limit.slots }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		t.end(delivery.VerdictRetry, delivery.ReasonOutOfTime)
		return nil
	}
	if !t.fromRetryQueue() && limit.hanging.Load() {
		t.end(delivery.VerdictRetry, delivery.ReasonEndpointHanging)
		return nil
	}
	secret, err := h.secret(ctx, t)
	if err != nil {
		return err
	}
	t.posted = true
	out := h.Attempts.Attempt(ctx, t.message, delivery.Target{URL: t.endpoint.URL, Secret: secret}, t.place)
	if out.Reason == delivery.ReasonTimeout {
		limit.hanging.Store(true)
		if ctx.Err() != nil { // our deadline, not the attempt's
			out.Reason = delivery.ReasonOutOfTime
		}
	}
	t.outcome = &out
	return nil
}

func (h *Handler) secret(ctx context.Context, t *task) (string, error) {
	return h.Secrets.Open(ctx, keyring.SecretID{
		TenantID:   t.endpoint.TenantID,
		EndpointID: t.endpoint.ID,
		Version:    t.endpoint.SecretVersion,
	}, t.endpoint.SealedSecret)
}

// growStack grows the goroutine's stack to what an attempt needs while there is next to nothing
// on it to copy: growing inside net/http cost up to 4 % of a delivery's CPU time.
//
//go:noinline
func growStack() {
	var room [3 << 10]byte
	runtime.KeepAlive(&room)
}
