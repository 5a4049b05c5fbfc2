package deliver

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// limit bounds one batch's attempts to one endpoint.
type limit struct {
	// slots bounds the concurrent attempts. All endpoints of the tenant at one host share it.
	slots chan struct{}

	// hanging says that an attempt to the endpoint has timed out.
	hanging atomic.Bool
}

// limits returns a limit for each endpoint. Two tenants never share slots, since both may have endpoints at one host,
// such as a chat product's.
// Endpoints of one tenant at one host share slots, so that a tenant cannot multiply its share by more endpoints.
// Whether an attempt hangs is noted by endpoint, since another path at the host may answer.
func (h *Handler) limits(posts []candidate) map[dynamo.EndpointKey]*limit {
	type tenantHost struct{ tenantID, host string }
	limits := map[dynamo.EndpointKey]*limit{}
	hosts := map[tenantHost]chan struct{}{}
	for _, s := range posts {
		at := tenantHost{s.key().TenantID, s.reading.Endpoint.Host()}
		if hosts[at] == nil {
			hosts[at] = make(chan struct{}, max(h.Rules.PerEndpoint, 1))
		}
		if limits[s.key()] == nil {
			limits[s.key()] = &limit{slots: hosts[at]}
		}
	}
	return limits
}

// attempt makes all attempts, concurrently, and returns when all have ended, the last by the deadline of ctx.
// A panic in one attempt becomes the internal fault of that delivery, and the others go on. All charges end before
// attempt returns, because Lambda freezes the process after its answer. A batch of SlowQueue neither charges the batch
// before it nor leaves anything to the next one: deliveries wait there on purpose.
func (h *Handler) attempt(ctx context.Context, posts []candidate) []end {
	if len(posts) == 0 {
		return nil
	}
	limits := h.limits(posts)
	charging := h.startCharging(ctx, posts)
	used := &charging.usage
	defer charging.stop(context.WithoutCancel(ctx))
	ends := make([]end, len(posts))
	var wait sync.WaitGroup
	var waited waiting
	from := posts[0].from
	if from != delivery.SlowQueue {
		wait.Go(func() { waited = h.chargeBefore(context.WithoutCancel(ctx), posts) })
	}
	for i := range posts {
		wait.Go(func() {
			s := posts[i]
			defer func() { used.ended(s.message.TenantID, h.Now()) }()
			err := parallel.Guard(func() (err error) {
				ends[i], err = h.attemptOne(ctx, s, limits[s.key()], used)
				return err
			})
			if err != nil {
				ends[i] = h.fault(s, err)
			}
		})
	}
	wait.Wait()
	if from != delivery.SlowQueue {
		h.memory.leave(from, before{ended: h.Now(), wait: waited.average, spent: spentBy(ends)})
	}
	return ends
}

// attemptOne waits for a slot of the endpoint, opens its secrets, and makes the attempt. A delivery that gets no slot
// before the deadline is not attempted, and neither is a first attempt to an endpoint that hangs: it would keep the
// batch for another timeout, so it goes to RetryQueue, where attempts to that endpoint are fewer.
func (h *Handler) attemptOne(ctx context.Context, s candidate, l *limit, used *usage) (end, error) {
	// Go chooses either case if both are ready. The check of ctx that follows finds a slot that came too late.
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
	}
	switch {
	case ctx.Err() != nil:
		return h.notBegun(s, delivery.ReasonOutOfTime), nil
	case s.from == delivery.DeliveryQueue && l.hanging.Load():
		return h.notBegun(s, delivery.ReasonEndpointHanging), nil
	}
	e := s.reading.Endpoint
	to, err := h.target(ctx, e)
	if err != nil {
		return end{}, err
	}
	begun := h.Now()
	used.begun(s.message.TenantID, begun)
	out := h.Sender.Attempt(ctx, s.message, to)
	if out.Reason == delivery.ReasonTimeout {
		l.hanging.Store(true)
		if ctx.Err() != nil { // our deadline, not the attempt's
			out.Reason = delivery.ReasonOutOfTime
		}
	}
	return h.attempted(s, out, begun, h.Now()), nil
}
