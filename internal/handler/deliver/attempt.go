package deliver

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/parallel"
)

// lane is the attempts of one batch to one endpoint.
type lane struct {
	slots   chan struct{} // at most PerEndpoint at a time
	hanging atomic.Bool   // one of them ran into its time limit
	left    atomic.Int32  // those that have not ended
}

// attempt makes the attempt of every pending job, concurrently, and returns when all have
// ended. The deadline of ctx ends those that have not.
func (h *Handler) attempt(ctx context.Context, jobs []*job) {
	lanes := make(map[string]*lane)
	for _, j := range jobs {
		if !j.pending() {
			continue
		}
		l := lanes[j.message.EndpointID]
		if l == nil {
			l = &lane{slots: make(chan struct{}, max(h.PerEndpoint, 1))}
			lanes[j.message.EndpointID] = l
		}
		l.left.Add(1)
	}
	defer h.watch(ctx, lanes)()
	var wait sync.WaitGroup
	for _, j := range jobs {
		if !j.pending() {
			continue
		}
		l := lanes[j.message.EndpointID]
		wait.Go(func() {
			defer l.left.Add(-1)
			deepen()
			if err := parallel.Guard(func() error { return h.attemptOne(ctx, j, l) }); err != nil {
				j.fault(err)
			}
		})
	}
	wait.Wait()
}

func (h *Handler) attemptOne(ctx context.Context, j *job, l *lane) error {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		j.end(delivery.VerdictRetry, delivery.ReasonOutOfTime)
		return nil
	}
	if !j.retrying() && l.hanging.Load() {
		j.end(delivery.VerdictRetry, delivery.ReasonEndpointHanging)
		return nil
	}
	secret, err := h.secret(ctx, j)
	if err != nil {
		return err
	}
	j.posted = true
	out := h.Attempts.Attempt(ctx, j.message, delivery.Target{URL: j.endpoint.URL, Secret: secret}, j.number)
	if out.Reason == delivery.ReasonTimeout {
		l.hanging.Store(true)
		if ctx.Err() != nil { // our deadline, not the attempt's
			out.Reason = delivery.ReasonOutOfTime
		}
	}
	j.outcome = &out
	return nil
}

// deepen grows the goroutine's stack to what an attempt needs while there is next to nothing
// on it to copy: growing inside net/http cost up to 4 % of a delivery's CPU time.
//
//go:noinline
func deepen() {
	var room [3 << 10]byte
	runtime.KeepAlive(&room)
}
