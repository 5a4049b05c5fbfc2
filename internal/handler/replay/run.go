package replay

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/deadletter"
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

// run is the replays or purges of one request, or of a page of a job.
type run struct {
	h    *Handler
	call *operator.Call
	job  job.Job // of a request: without an id
	now  time.Time
}

func (h *Handler) runOf(call *operator.Call, j job.Job) *run {
	return &run{h: h, call: call, job: j, now: h.Now()}
}

// runFor is a run for a request, which may name a tenant.
func (h *Handler) runFor(call *operator.Call, act job.Act, tenantID string) *run {
	asked := job.Selector{TenantID: tenantID}
	return h.runOf(call, job.Job{Act: act, Selector: asked, Operator: call.Operator})
}

// answer is all for a request, whose log line gets the counts.
func (r *run) answer(ctx context.Context, ids []string) []Result {
	results := r.all(ctx, ids)
	r.call.Note(byResult(results, func(one Result) string { return one.Result }))
	return results
}

// all replays or purges the ids, in any order, and answers in theirs.
func (r *run) all(ctx context.Context, ids []string) []Result {
	results := make([]Result, len(ids))
	for i, id := range ids {
		results[i] = Result{DeliveryID: id, Result: resultNotStarted}
	}
	parts := slices.Collect(slices.Chunk(ids, chunk))
	errs := parallel.Each(len(parts), chunks, func(i int) error {
		if !late(ctx) {
			copy(results[i*chunk:], r.some(ctx, parts[i]))
		}
		return nil
	})
	for i, err := range errs { // only a panic
		if err != nil {
			r.h.Log.ErrorContext(ctx, "a chunk broke off", telemetry.Cause(err), slog.Int("chunk", i))
		}
	}
	return results
}

// some takes one chunk through a replay: look at each, audit the replays, take each, send together, finish each. A
// purge has nothing to send. Nothing is changed before the lines are written.
func (r *run) some(ctx context.Context, ids []string) []Result {
	all := make([]replay, len(ids))
	for i, id := range ids {
		all[i].id = id
	}
	looks, changes := []step{r.find, r.judge, r.open}, []step{r.claim, r.queue}
	if r.job.Act == job.Purge {
		looks, changes = []step{r.find}, []step{r.purge}
	}
	r.through(ctx, all, looks...)
	r.audit(ctx, all)
	r.through(ctx, all, changes...)
	r.send(ctx, all)
	results := make([]Result, len(all))
	for i, p := range all {
		results[i] = Result{DeliveryID: p.id, Result: p.result, Reason: p.reason}
	}
	return results
}

// send sends and finishes the replays that are not over. Those of a job go where retries go: no first attempt waits
// behind them.
func (r *run) send(ctx context.Context, replays []replay) {
	to := r.h.Deliveries
	if r.job.ID != "" {
		to = r.h.Retries
	}
	var sending []int
	var messages []queue.Outgoing
	for i, p := range replays {
		if !p.over() {
			sending = append(sending, i)
			messages = append(messages, queue.Of(p.message, 0))
		}
	}
	sent := to.Send(ctx, messages)
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
func (r *run) audit(ctx context.Context, all []replay) {
	var lines []audit.Line
	for _, p := range all {
		if !p.over() {
			lines = append(lines, audit.Line{
				Action: string(r.job.Act), OperatorClaimed: r.job.Operator, TenantID: p.record.TenantID,
				EndpointID: p.record.EndpointID, DeliveryID: p.id, JobID: r.job.ID,
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
		return p.ended(resultReplayed, ""), r.end(ctx, p, deadletter.Replayed)
	}
	_, state := r.h.States.Update(ctx, r.state(p, delivery.Dead, delivery.ReasonReplayFault))
	return p.ended(resultFailed, reasonNotSent), errors.Join(sending, state, r.end(ctx, p, deadletter.Dead))
}

// report logs errors only: the results are in the request's own line.
func (r *run) report(ctx context.Context, p replay, err error) {
	r.h.Log.ErrorContext(ctx, "replay fault",
		slog.String(telemetry.KeyDelivery, p.id), slog.String(telemetry.KeyOperator, r.job.Operator),
		slog.String(telemetry.KeyOutcome, p.result), telemetry.Cause(err))
}
