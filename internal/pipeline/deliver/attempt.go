package deliver

import (
	"context"
	"sync"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// attemptAll makes all attempts, concurrently, and returns when all have ended, the last by the deadline of ctx.
// No charge is under way any more then, because Lambda freezes the process after its answer.
func (h *Handler) attemptAll(ctx context.Context, posts []candidate, charging *charging) []attempt {
	receivers := receiversOf(posts, h.Rules.PerEndpoint)
	attempts := make([]attempt, len(posts))
	var wait sync.WaitGroup
	for i := range posts {
		wait.Go(func() {
			attempts[i] = h.attemptOne(ctx, posts[i], receivers[posts[i].key()], charging)
		})
	}
	wait.Wait()
	charging.stop(ctx)
	return attempts
}

// attemptOne makes one attempt. A panic becomes the internal error of this delivery, and does not touch the other
// attempts.
func (h *Handler) attemptOne(ctx context.Context, c candidate, to *receiver, charging *charging) (a attempt) {
	defer func() { charging.ended(c.message.TenantID, h.Now()) }()
	err := parallel.Guard(func() (err error) {
		a, err = h.post(ctx, c, to, charging)
		return err
	})
	if err != nil {
		return fault(err, h.Now())
	}
	return a
}

// post waits for the receiver, opens the endpoint's secrets and makes the POST.
func (h *Handler) post(ctx context.Context, c candidate, to *receiver, charging *charging) (attempt, error) {
	if refused := to.enter(ctx, c.from); refused != "" {
		return notBegun(refused, h.Now()), nil
	}
	defer to.leave()
	target, err := h.target(ctx, c.reading.Endpoint)
	if err != nil {
		return attempt{}, err
	}
	begun := h.Now()
	charging.begun(c.message.TenantID, begun)
	out, err := h.request(ctx, c, target)
	if err != nil {
		return attempt{}, err
	}
	switch out.Reason {
	case delivery.ReasonTimeout:
		to.hangs.Store(true)
		fallthrough
	case delivery.ReasonTokenUnreachable:
		if ctx.Err() != nil { // our deadline, not the attempt's
			out.Reason = delivery.ReasonOutOfTime
		}
	}
	ended := h.Now()
	charging.spends(c.message.TenantID, ended.Sub(begun))
	return attempt{outcome: out, begun: begun, ended: ended}, nil
}
