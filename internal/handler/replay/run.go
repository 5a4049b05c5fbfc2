package replay

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// chunk ids go through the steps of a replay together, as many as one SendMessageBatch
// takes; chunks bounds how many chunks do at once.
const (
	chunk  = 10
	chunks = 4
)

// run is one request's replays.
type run struct {
	h        *Handler
	operator string
	tenantID string // "" for any
	dryRun   bool
	now      time.Time
}

// all replays the ids, in any order, and answers in theirs.
func (r *run) all(ctx context.Context, ids []string) []Result {
	results := make([]Result, len(ids))
	for i, id := range ids {
		results[i] = Result{DeliveryID: id, Result: resultNotStarted}
	}
	count := (len(ids) + chunk - 1) / chunk
	errs := parallel.Each(count, chunks, func(i int) error {
		if !late(ctx) {
			r.some(ctx, results[i*chunk:min((i+1)*chunk, len(ids))])
		}
		return nil
	})
	for i, err := range errs { // only a panic
		if err != nil {
			r.h.Log.ErrorContext(ctx, "replay broke off", slog.String(telemetry.KeyError, err.Error()), slog.Int("chunk", i))
		}
	}
	return results
}

// task is one replay on its way through the steps.
type task struct {
	result  *Result
	record  deadletter.Record
	message delivery.Message // what to send; Replay is the number of this replay
}

func (t *task) end(result, reason string) { t.result.Result, t.result.Reason = result, reason }

// some takes one chunk through the steps: prepare each, send together, end each.
func (r *run) some(ctx context.Context, results []Result) {
	tasks := make([]*task, len(results))
	ready := make([]bool, len(results))
	errs := parallel.Each(len(results), chunk, func(i int) (err error) {
		tasks[i] = &task{result: &results[i]}
		ready[i], err = r.prepare(ctx, tasks[i])
		return err
	})
	var sending []*task
	var messages []queue.Outgoing
	for i, t := range tasks {
		if errs[i] != nil {
			t.end(resultFailed, reasonInternal)
			r.report(ctx, t, errs[i])
		} else if ready[i] {
			sending = append(sending, t)
			messages = append(messages, queue.Of(t.message, 0))
		}
	}
	sent := r.h.Deliveries.Send(ctx, messages)
	finish, cancel := finishing(ctx)
	defer cancel()
	errs = parallel.Each(len(sending), chunk, func(i int) error { return r.endReplay(finish, sending[i], sent[i]) })
	for i, err := range errs {
		r.report(ctx, sending[i], err)
	}
}

// prepare decides, claims, and writes the state. ready is false when the task has ended. The
// body is opened before the claim: what cannot be opened changes nothing.
func (r *run) prepare(ctx context.Context, t *task) (ready bool, err error) {
	record, found, err := r.h.DeadLetters.Get(ctx, t.result.DeliveryID)
	if err != nil {
		return false, err
	}
	if !found {
		t.end(resultNotFound, "")
		return false, nil
	}
	t.record = record
	reason, err := r.refusal(ctx, record)
	switch {
	case err != nil:
		return false, err
	case reason != "":
		t.end(resultRefused, reason)
		return false, nil
	case r.dryRun:
		t.end(resultWouldReplay, "")
		return false, nil
	}
	body, err := r.h.Vault.OpenBody(ctx, record)
	if errors.Is(err, deadletter.ErrSealed) {
		t.end(resultRefused, reasonUnopenable)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.claim(ctx, t, body)
}

// refusal says why a dead letter cannot be replayed, "" when it can.
func (r *run) refusal(ctx context.Context, d deadletter.Record) (reason string, err error) {
	switch {
	case r.tenantID != "" && r.tenantID != d.TenantID:
		return reasonTenantMismatch, nil
	case d.Reason == delivery.ReasonUnreadable:
		return reasonUnreadable, nil
	case d.Status == deadletter.Replayed:
		return reasonAlreadyReplayed, nil
	case d.Status == deadletter.Replaying && r.now.Sub(d.UpdatedAt) < deadletter.StaleClaim:
		return reasonReplayRunning, nil
	case d.Status == deadletter.Dead && d.ReplayCount >= deadletter.MaxReplays:
		return reasonReplayLimit, nil
	}
	return r.endpointRefusal(ctx, d)
}

func (r *run) endpointRefusal(ctx context.Context, d deadletter.Record) (reason string, err error) {
	e, found, err := r.h.Endpoints.Get(ctx, d.TenantID, d.EndpointID)
	switch {
	case err != nil:
		return "", err
	case !found || e.Status == endpoint.Deleted:
		return reasonEndpointDeleted, nil
	case e.Status != endpoint.Active:
		return reasonEndpointDisabled, nil
	}
	return "", nil
}

// claim takes the dead letter and puts the delivery's state back to queued. Where the state
// cannot go back, the delivery was acknowledged, or an earlier run of this same replay has
// sent it before it broke off: then there is nothing to send.
func (r *run) claim(ctx context.Context, t *task, body []byte) (ready bool, err error) {
	d := t.record
	replay, fresh, ok, err := r.h.DeadLetters.Claim(ctx, d, r.operator, r.now)
	if err != nil {
		return false, err
	}
	if !ok {
		t.end(resultRefused, reasonChanged)
		return false, nil
	}
	t.message = delivery.Message{Ref: d.Ref, Body: body}
	t.message.Replay, t.message.Life.StartedAt = replay, r.h.Now() // a new life: nothing of the last one ends it
	written, err := r.h.States.Update(ctx, r.state(t, delivery.Queued, delivery.ReasonReplayed))
	if err == nil && written {
		return true, nil
	}
	finish, cancel := finishing(ctx)
	defer cancel()
	status := deadletter.Replayed
	switch {
	case err != nil:
		status = deadletter.Dead
	case fresh:
		t.end(resultRefused, reasonAlreadyAcknowledged)
	default:
		t.end(resultReplayed, reasonResumed)
	}
	_, endErr := r.h.DeadLetters.EndReplay(finish, d.DeliveryID, replay, status, r.h.Now())
	return false, errors.Join(err, endErr)
}

// endReplay ends a replay whose message was sent, or was not.
func (r *run) endReplay(ctx context.Context, t *task, sending error) error {
	if sending == nil {
		t.end(resultReplayed, "")
		_, err := r.h.DeadLetters.EndReplay(ctx, t.record.DeliveryID, t.message.Replay, deadletter.Replayed, r.h.Now())
		return err // it was sent all the same: the next replay ends a stale claim
	}
	t.end(resultFailed, reasonNotSent)
	_, state := r.h.States.Update(ctx, r.state(t, delivery.Dead, delivery.ReasonReplayFault))
	_, err := r.h.DeadLetters.EndReplay(ctx, t.record.DeliveryID, t.message.Replay, deadletter.Dead, r.h.Now())
	return errors.Join(sending, state, err)
}

func (r *run) state(t *task, state delivery.State, reason delivery.Reason) delivery.Record {
	d := t.record
	return delivery.Record{
		Ref: t.message.Ref, EventType: d.EventType, State: state, Reason: reason,
		LastStatus: d.LastStatus, UpdatedAt: r.h.Now(),
	}
}

// report logs errors only: the results are in the request's own line.
func (r *run) report(ctx context.Context, t *task, err error) {
	if err != nil {
		r.h.Log.ErrorContext(ctx, "replay fault",
			telemetry.KeyDelivery, t.result.DeliveryID, telemetry.KeyOperator, r.operator,
			telemetry.KeyOutcome, t.result.Result, telemetry.KeyError, err.Error())
	}
}
