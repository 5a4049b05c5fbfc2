package replay

import (
	"context"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
)

// replay is one id on its way through the steps. Each step returns it a little further; one that is over
// has a result and goes no further.
type replay struct {
	id             string
	record         deadletter.Record
	message        delivery.Message // Replay is the number of this replay
	fresh          bool             // no earlier run of this replay may have sent it
	result, reason string
}

func (p replay) ended(result, reason string) replay {
	p.result, p.reason = result, reason
	return p
}

func (p replay) over() bool { return p.result != "" }

// step brings an id closer to its send. Nothing is changed before the claim.
type step func(ctx context.Context, p replay) (replay, error)

// find reads the dead letter, and refuses one that cannot be replayed or purged.
func (r *run) find(ctx context.Context, p replay) (replay, error) {
	d, found, err := r.h.DeadLetters.Get(ctx, p.id)
	p.record = d
	switch {
	case err != nil:
		return p, err
	case !found && r.job.ID != "" && r.job.Act == job.Purge: // by a worker that broke off
		return p.ended(resultPurged, ""), nil
	case !found:
		return p.ended(resultNotFound, ""), nil
	case r.replayedBefore(d):
		return p.ended(resultReplayed, reasonResumed), nil
	}
	if reason := r.refusal(d); reason != "" {
		p = p.ended(resultRefused, reason)
	}
	return p, nil
}

// judge refuses a delivery that its endpoint does not receive.
func (r *run) judge(ctx context.Context, p replay) (replay, error) {
	at, err := r.h.receiver(ctx, p.record.TenantID, p.record.EndpointID)
	if reason := at.refusal(p.record.EventType); reason != "" {
		p = p.ended(resultRefused, reason)
	}
	return p, err
}

// receiver is the endpoint of dead letters. The zero receiver takes all of them.
type receiver struct {
	endpoint endpoint.Endpoint
	closed   string // why it takes no delivery at all
}

// refusal says why the endpoint does not receive a delivery of the type, "" when it does. The type is the body's: the
// seal binds it to the record.
func (r receiver) refusal(eventType string) string {
	if r.closed == "" && r.endpoint.Unsubscribed(eventType) {
		return reasonUnsubscribed
	}
	return r.closed
}

func (h *Handler) receiver(ctx context.Context, tenantID, endpointID string) (r receiver, err error) {
	e, found, err := h.Endpoints.Get(ctx, tenantID, endpointID)
	r.endpoint = e
	switch {
	case operator.Unreadable(err):
		r.closed = reasonEndpointUnreadable
		err = nil
	case !found || e.Status == endpoint.Deleted:
		r.closed = reasonEndpointDeleted
	case e.Status != endpoint.Active:
		r.closed = reasonEndpointDisabled
	}
	return r, err
}

// refusal says why a dead letter cannot be replayed or purged, "" when it can.
func (r *run) refusal(d deadletter.Record) string {
	switch {
	case r.job.Selector.TenantID != "" && r.job.Selector.TenantID != d.TenantID:
		return reasonTenantMismatch
	case r.job.Act == job.Purge:
		return r.refusalToPurge(d)
	case d.Reason == delivery.ReasonUnreadable:
		return reasonUnreadable
	case r.isLater(d):
		return reasonDiedAgain
	case d.Status == deadletter.Replayed:
		return reasonAlreadyReplayed
	case claimed(d, r.now):
		return reasonReplayRunning
	case d.Status == deadletter.Dead && d.ReplayCount >= deadletter.MaxReplays:
		return reasonReplayLimit
	}
	return ""
}

func (r *run) refusalToPurge(d deadletter.Record) string {
	switch {
	case claimed(d, r.now):
		return reasonReplayRunning
	case r.job.ID != "" && (r.isLater(d) || string(d.Status) != r.job.Selector.Status):
		return reasonNotSelected
	}
	return ""
}

// claimed reports a replay that is running.
func claimed(d deadletter.Record, now time.Time) bool {
	return d.Status == deadletter.Replaying && now.Sub(d.UpdatedAt) < deadletter.StaleClaim
}

// isLater reports whether a dead letter has died since the job began, which selected it before.
func (r *run) isLater(d deadletter.Record) bool {
	return r.job.ID != "" && !d.DiedAt.Before(r.job.Selector.Until)
}

// replayedBefore reports whether a worker that broke off has replayed the dead letter for this job.
func (r *run) replayedBefore(d deadletter.Record) bool {
	return r.job.ID != "" && d.JobID == r.job.ID && (d.Status == deadletter.Replayed || r.isLater(d))
}

// open makes the message of a new life, which nothing of the last one ends. A body that does not belong to
// the delivery is never signed again.
func (r *run) open(ctx context.Context, p replay) (replay, error) {
	body, err := r.h.Vault.OpenBody(ctx, p.record)
	p.message = delivery.Message{Ref: p.record.Ref, Body: body, Life: delivery.Life{StartedAt: r.h.Now()}}
	if err == nil && p.message.Check() != nil {
		err = deadletter.ErrUnopenable
	}
	if errors.Is(err, deadletter.ErrUnopenable) {
		return p.ended(resultRefused, reasonUnopenable), nil
	}
	return p, err
}

// claim takes the dead letter.
func (r *run) claim(ctx context.Context, p replay) (replay, error) {
	number, fresh, ok, err := r.h.DeadLetters.Claim(ctx, p.record, r.job.Operator, r.job.ID, r.now)
	p.message.Replay, p.fresh = number, fresh
	if !ok && err == nil {
		p = p.ended(resultRefused, reasonChanged)
	}
	return p, err
}

// queue puts the delivery's state back to queued. Where the state cannot go back, the delivery was
// acknowledged, or an earlier run of this same replay has sent it before it broke off: then there is
// nothing to send.
func (r *run) queue(ctx context.Context, p replay) (replay, error) {
	written, err := r.h.States.Update(ctx, r.state(p, delivery.Queued, delivery.ReasonReplayed))
	if written && err == nil {
		return p, nil
	}
	finish, cancel := finishing(ctx)
	defer cancel()
	if err != nil {
		return p, errors.Join(err, r.end(finish, p, deadletter.Dead))
	}
	ended := p.ended(resultReplayed, reasonResumed)
	if p.fresh {
		ended = p.ended(resultRefused, reasonAlreadyAcknowledged)
	}
	return ended, r.end(finish, p, deadletter.Replayed)
}

func (r *run) end(ctx context.Context, p replay, status deadletter.Status) error {
	return r.h.DeadLetters.EndReplay(ctx, p.id, p.message.Replay, status, r.h.Now())
}

func (r *run) state(p replay, state delivery.State, reason delivery.Reason) delivery.Record {
	return delivery.Record{
		Ref: p.message.Ref, EventType: p.record.EventType, State: state, Reason: reason,
		LastStatus: p.record.LastStatus, UpdatedAt: r.h.Now(),
	}
}
