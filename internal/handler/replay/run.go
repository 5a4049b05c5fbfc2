package replay

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/job"
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

// run is one request's replays, or those of a page of a job.
type run struct {
	h        *Handler
	to       Sender
	operator string
	tenantID string // "" for any
	dryRun   bool
	now      time.Time
	job      job.Job // zero: none
}

// runOf is a run for a job. Its deliveries go where retries go: no first attempt waits behind them.
func (h *Handler) runOf(j job.Job) *run {
	return &run{h: h, to: h.Retries, operator: j.Operator, tenantID: j.Selector.TenantID, now: h.Now(), job: j}
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
			first, end := i*chunk, min((i+1)*chunk, len(ids))
			copy(results[first:end], r.some(ctx, ids[first:end]))
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

// some takes one chunk through a replay: prepare each, send together, finish each.
func (r *run) some(ctx context.Context, ids []string) []Result {
	replays := make([]replay, len(ids))
	errs := parallel.Each(len(ids), chunk, func(i int) (err error) {
		replays[i], err = r.prepare(ctx, ids[i])
		return err
	})
	var sending []int
	var messages []queue.Outgoing
	for i, err := range errs {
		if err != nil {
			replays[i] = replay{id: ids[i]}.ended(resultFailed, reasonInternal)
			r.report(ctx, replays[i], err)
		}
		if !replays[i].over() {
			sending = append(sending, i)
			messages = append(messages, queue.Of(replays[i].message, 0))
		}
	}
	sent := r.to.Send(ctx, messages)
	finish, cancel := finishing(ctx)
	defer cancel()
	errs = parallel.Each(len(sending), chunk, func(i int) (err error) {
		replays[sending[i]], err = r.finish(finish, replays[sending[i]], sent[i])
		return err
	})
	for i, err := range errs {
		if err != nil {
			r.report(ctx, replays[sending[i]], err)
		}
	}
	results := make([]Result, len(replays))
	for i, p := range replays {
		results[i] = Result{DeliveryID: p.id, Result: p.result, Reason: p.reason}
	}
	return results
}

// finish ends a replay whose message was sent, or was not.
func (r *run) finish(ctx context.Context, p replay, sending error) (replay, error) {
	if sending == nil { // where the end is not stored, the next replay ends a stale claim
		return p.ended(resultReplayed, ""), r.end(ctx, p, replayed)
	}
	_, state := r.h.States.Update(ctx, r.state(p, delivery.Dead, delivery.ReasonReplayFault))
	return p.ended(resultFailed, reasonNotSent), errors.Join(sending, state, r.end(ctx, p, dead))
}

// report logs errors only: the results are in the request's own line.
func (r *run) report(ctx context.Context, p replay, err error) {
	r.h.Log.ErrorContext(ctx, "replay fault",
		telemetry.KeyDelivery, p.id, telemetry.KeyOperator, r.operator,
		telemetry.KeyOutcome, p.result, telemetry.KeyError, err.Error())
}
