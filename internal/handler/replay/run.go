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

// job is one replay on its way through the steps.
type job struct {
	result  *Result
	record  deadletter.Record
	message delivery.Message // what to send; Replay is the number of this replay
}

func (j *job) end(result, reason string) { j.result.Result, j.result.Reason = result, reason }

// some takes one chunk through the steps: prepare each, send together, settle each.
func (r *run) some(ctx context.Context, results []Result) {
	jobs := make([]*job, len(results))
	ready := make([]bool, len(results))
	errs := parallel.Each(len(results), chunk, func(i int) (err error) {
		jobs[i] = &job{result: &results[i]}
		ready[i], err = r.prepare(ctx, jobs[i])
		return err
	})
	var sending []*job
	var messages []queue.Outgoing
	for i, j := range jobs {
		if errs[i] != nil {
			j.end(resultFailed, reasonInternal)
			r.report(ctx, j, errs[i])
		} else if ready[i] {
			sending = append(sending, j)
			messages = append(messages, queue.Of(j.message, 0))
		}
	}
	sent := r.h.Deliveries.Send(ctx, messages)
	finish, cancel := finishing(ctx)
	defer cancel()
	for i, err := range parallel.Each(len(sending), chunk, func(i int) error { return r.settle(finish, sending[i], sent[i]) }) {
		r.report(ctx, sending[i], err)
	}
}

// prepare decides, claims, and writes the state. ready is false when the job has ended. The
// body is opened before the claim: what cannot be opened changes nothing.
func (r *run) prepare(ctx context.Context, j *job) (ready bool, err error) {
	record, found, err := r.h.DeadLetters.Get(ctx, j.result.DeliveryID)
	if err != nil {
		return false, err
	}
	if !found {
		j.end(resultNotFound, "")
		return false, nil
	}
	j.record = record
	reason, err := r.refusal(ctx, record)
	switch {
	case err != nil:
		return false, err
	case reason != "":
		j.end(resultRefused, reason)
		return false, nil
	case r.dryRun:
		j.end(resultWouldReplay, "")
		return false, nil
	}
	body, err := r.h.Vault.OpenBody(ctx, record)
	if errors.Is(err, deadletter.ErrSealed) {
		j.end(resultRefused, reasonUnopenable)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.claim(ctx, j, body)
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
func (r *run) claim(ctx context.Context, j *job, body []byte) (ready bool, err error) {
	d := j.record
	replay, fresh, ok, err := r.h.DeadLetters.Claim(ctx, d, r.operator, r.now)
	if err != nil {
		return false, err
	}
	if !ok {
		j.end(resultRefused, reasonChanged)
		return false, nil
	}
	j.message = delivery.Message{Ref: d.Ref, Body: body}
	j.message.Replay = replay
	written, err := r.h.States.Update(ctx, r.state(j, delivery.Queued, delivery.ReasonReplayed))
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
		j.end(resultRefused, reasonAlreadyAcknowledged)
	default:
		j.end(resultReplayed, reasonResumed)
	}
	_, settling := r.h.DeadLetters.Settle(finish, d.DeliveryID, replay, status, r.h.Now())
	return false, errors.Join(err, settling)
}

// settle ends a replay whose message was sent, or was not.
func (r *run) settle(ctx context.Context, j *job, sending error) error {
	if sending == nil {
		j.end(resultReplayed, "")
		_, err := r.h.DeadLetters.Settle(ctx, j.record.DeliveryID, j.message.Replay, deadletter.Replayed, r.h.Now())
		return err // it was sent all the same: a stale claim is settled by the next replay
	}
	j.end(resultFailed, reasonNotSent)
	_, state := r.h.States.Update(ctx, r.state(j, delivery.Dead, delivery.ReasonReplayFault))
	_, err := r.h.DeadLetters.Settle(ctx, j.record.DeliveryID, j.message.Replay, deadletter.Dead, r.h.Now())
	return errors.Join(sending, state, err)
}

func (r *run) state(j *job, state delivery.State, reason delivery.Reason) delivery.Record {
	d := j.record
	return delivery.Record{
		Ref: j.message.Ref, EventType: d.EventType, State: state, Reason: reason, LastStatus: d.LastStatus, UpdatedAt: r.h.Now(),
	}
}

// report logs errors only: the results are in the request's own line.
func (r *run) report(ctx context.Context, j *job, err error) {
	if err != nil {
		r.h.Log.ErrorContext(ctx, "replay fault", telemetry.KeyDelivery, j.result.DeliveryID, telemetry.KeyOperator, r.operator,
			telemetry.KeyOutcome, j.result.Result, telemetry.KeyError, err.Error())
	}
}
