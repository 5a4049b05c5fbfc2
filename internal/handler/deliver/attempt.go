package deliver

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/signature"
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
func (h *Handler) limits(posts []sight) map[dynamo.EndpointKey]*limit {
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
func (h *Handler) attempt(ctx context.Context, posts []sight) []end {
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

func (h *Handler) attemptOne(ctx context.Context, s sight, l *limit, used *usage) (end, error) {
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

// target opens an endpoint's sealed values. Headers that do not open for the URL that stands are an error: a delivery
// without them, or with them to another origin, is none that its owner asked for.
func (h *Handler) target(ctx context.Context, e endpoint.Endpoint) (to delivery.Target, err error) {
	to.URL = e.URL
	to.Signer, err = h.signer(ctx, keyring.SecretOf(e), e.SealedSecret)
	if err != nil {
		return to, fmt.Errorf("opening the signing secret: %w", err)
	}
	to.Previous = h.previous(ctx, e)
	if len(e.SealedHeaders) == 0 {
		if len(e.HeaderNames) > 0 {
			return to, fmt.Errorf("%w: the owner's headers are gone from the row", keyring.ErrUnopenable)
		}
		return to, nil
	}
	text, err := h.Secrets.Open(ctx, keyring.HeadersOf(e), e.SealedHeaders)
	if err != nil {
		return to, fmt.Errorf("opening the owner's headers: %w", err)
	}
	headers, err := endpoint.DecodeHeaders(text)
	for _, header := range headers {
		to.Headers = append(to.Headers, delivery.Field(header))
	}
	return to, err
}

// signer opens a signing secret, and the private key that is sealed with it.
func (h *Handler) signer(ctx context.Context, id keyring.SecretID, sealed []byte) (signature.Signer, error) {
	text, err := h.Secrets.Open(ctx, id, sealed)
	if err != nil {
		return signature.Signer{}, err
	}
	signer, err := signature.ParseSigner(text, id.PublicKey != "")
	if err != nil {
		return signer, fmt.Errorf("%w: %w", keyring.ErrUnopenable, err)
	}
	return signer, nil
}

// previous opens the secret that the last rotation replaced, while it signs, too. Where it does not open, the new one
// signs alone: receivers that know the new one take the delivery, and no delivery waits for a secret that is on its way
// out.
func (h *Handler) previous(ctx context.Context, e endpoint.Endpoint) signature.Signer {
	if h.Sender.Companions == delivery.CompanionsNone || !e.Overlaps(h.Now()) {
		return signature.Signer{}
	}
	signer, err := h.signer(ctx, keyring.PreviousOf(e), e.SealedPrevious)
	if err != nil {
		h.reportPreviousLost(ctx, dynamo.EndpointKey{TenantID: e.TenantID, EndpointID: e.ID}, err)
		return signature.Signer{}
	}
	return signer
}
