package replay

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
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

// run is the replays of one request, or of a page of a job.
type run struct {
	h        *Handler
	call     *operator.Call
	to       Sender
	operator string // of a job: who started it
	tenantID string // "" for any
	dryRun   bool
	now      time.Time
	job      job.Job // zero: none
}

// runFor is a run for a request.
func (h *Handler) runFor(call *operator.Call, tenantID string) *run {
	return &run{h: h, call: call, to: h.Deliveries, operator: call.Operator, tenantID: tenantID, now: call.Now}
}

// runOf is a run for a job. Its deliveries go where retries go: no first attempt waits behind them.
func (h *Handler) runOf(call *operator.Call, j job.Job) *run {
	return &run{
		h: h, call: call, to: h.Retries, operator: j.Operator, tenantID: j.Selector.TenantID, now: h.Now(), job: j,
	}
}

// answer is all for a request, whose log line gets the counts.
func (r *run) answer(ctx context.Context, ids []string, some func(context.Context, []string) []Result) []Result {
	results := r.all(ctx, ids, some)
	r.call.Note(byResult(results, func(one Result) string { return one.Result }))
	return results
}

// all has some replay or purge the ids, in any order, and answers in theirs.
func (r *run) all(ctx context.Context, ids []string, some func(context.Context, []string) []Result) []Result {
	results := make([]Result, len(ids))
	for i, id := range ids {
		results[i] = Result{DeliveryID: id, Result: resultNotStarted}
	}
	count := (len(ids) + chunk - 1) / chunk
	errs := parallel.Each(count, chunks, func(i int) error {
		if !late(ctx) {
			first, end := i*chunk, min((i+1)*chunk, len(ids))
			copy(results[first:end], some(ctx, ids[first:end]))
		}
		return nil
	})
	for i, err := range errs { // only a panic
		if err != nil {
			r.h.Log.ErrorContext(ctx, "a chunk broke off", slog.String(telemetry.KeyError, err.Error()), slog.Int("chunk", i))
		}
	}
	return results
}

// some takes one chunk through a replay: look at each, audit the replays, take each, send together, finish each.
// Nothing is changed before the lines are written.
func (r *run) some(ctx context.Context, ids []string) []Result {
	replays := r.begin(ctx, job.Replay, ids, r.find, r.judge, r.open)
	r.through(ctx, replays, r.claim, r.queue)
	var sending []int
	var messages []queue.Outgoing
	for i, p := range replays {
		if !p.over() {
			sending = append(sending, i)
			messages = append(messages, queue.Of(p.message, 0))
		}
	}
	sent := r.to.Send(ctx, messages)
	finish, cancel := finishing(ctx)
	defer cancel()
	errs := parallel.Each(len(sending), chunk, func(i int) (err error) {
		replays[sending[i]], err = r.finish(finish, replays[sending[i]], sent[i])
		return err
	})
	for i, err := range errs {
		if err != nil {
			r.report(ctx, replays[sending[i]], err)
		}
	}
	return resultsOf(replays)
}

// begin takes ids through the steps that change nothing, and audits those that are not over.
func (r *run) begin(ctx context.Context, act job.Act, ids []string, steps ...step) []replay {
	all := make([]replay, len(ids))
	for i, id := range ids {
		all[i].id = id
	}
	r.through(ctx, all, steps...)
	r.audit(ctx, act, all)
	return all
}

func resultsOf(all []replay) []Result {
	results := make([]Result, len(all))
	for i, p := range all {
		results[i] = Result{DeliveryID: p.id, Result: p.result, Reason: p.reason}
	}
	return results
}

// through takes the replays that are not over through steps, side by side.
func (r *run) through(ctx context.Context, replays []replay, steps ...step) {
	errs := parallel.Each(len(replays), chunk, func(i int) (err error) {
		for n := 0; n < len(steps) && err == nil && !replays[i].over(); n++ {
			replays[i], err = steps[n](ctx, replays[i])
		}
		return err
	})
	for i, err := range errs {
		if err != nil {
			replays[i] = replay{id: replays[i].id}.ended(resultFailed, reasonInternal)
			r.report(ctx, replays[i], err)
		}
	}
}

// audit writes a line for each replay that is not over, or ends it where that fails.
func (r *run) audit(ctx context.Context, act job.Act, all []replay) {
	var lines []audit.Line
	for _, p := range all {
		if !p.over() {
			lines = append(lines, audit.Line{
				Action: string(act), Operator: r.operator, TenantID: p.record.TenantID, EndpointID: p.record.EndpointID,
				DeliveryID: p.id, JobID: r.job.ID,
			})
		}
	}
	err := r.call.Audit(ctx, lines...)
	for i, p := range all {
		if err != nil && !p.over() {
			all[i] = p.ended(resultFailed, reasonInternal)
			r.report(ctx, all[i], err)
		}
	}
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
