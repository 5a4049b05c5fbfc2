package replay

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// chunks bounds how many chunks go through the steps at once.
const chunks = 4

// acts replays and purges dead letters, by their ids. It alone knows the order of the steps. Each step is known to the
// worker that takes it.
type acts struct {
	looker   looker
	replayer replayer
	purger   purger
	log      *slog.Logger
	now      func() time.Time
}

// do does the act of a job on dead letters, in any order, and answers in the order of the ids. A request is a job
// without an id.
func (a acts) do(ctx context.Context, by auditor, j job.Job, ids []string) []Result {
	r := run{Job: j, now: a.now()}
	results := make([]Result, len(ids))
	for i, id := range ids { // ids that time does not reach keep this result, and so do those of a panic
		results[i] = Result{DeliveryID: id, Result: resultNotStarted}
	}
	parts := slices.Collect(slices.Chunk(ids, chunk))
	errs := parallel.Each(len(parts), chunks, func(i int) error {
		if !outOfTime(ctx) {
			copy(results[i*chunk:], a.some(ctx, by, r, parts[i]))
		}
		return nil
	})
	for i, err := range errs { // only a panic
		if err != nil {
			a.log.ErrorContext(ctx, "a chunk broke off", telemetry.Cause(err), slog.Int("chunk", i))
		}
	}
	return results
}

// some takes one chunk through a run: it looks at each letter, writes the audit lines, changes each letter and sends
// the messages together. Nothing is changed before the lines are written. A purge reads neither endpoint nor body, and
// has nothing to send.
func (a acts) some(ctx context.Context, by auditor, r run, ids []string) []Result {
	looks, changes := []step{a.looker.find, a.looker.judge, a.looker.open}, []step{a.replayer.claim, a.replayer.queue}
	if r.Act == job.Purge {
		looks, changes = []step{a.looker.find}, []step{a.purger.purge}
	}
	letters := make([]letter, len(ids))
	for i, id := range ids {
		letters[i] = letter{run: r, id: id}
	}
	letters = a.through(ctx, letters, looks...)
	letters = a.audited(ctx, by, letters)
	letters = a.through(ctx, letters, changes...)
	letters = a.sent(ctx, letters)
	results := make([]Result, len(letters))
	for i, l := range letters {
		results[i] = Result{DeliveryID: l.id, Result: l.result, Reason: l.reason}
	}
	return results
}

// through takes letters through steps, side by side.
func (a acts) through(ctx context.Context, letters []letter, steps ...step) []letter {
	further := slices.Clone(letters)
	errs := parallel.Each(len(letters), chunk, func(i int) (err error) {
		further[i], err = letters[i].through(ctx, steps...)
		return err
	})
	return a.settled(ctx, further, errs)
}

// audited writes a line for each letter that is not over. Where that fails, those letters have failed.
func (a acts) audited(ctx context.Context, by auditor, letters []letter) []letter {
	var lines []audit.Line
	for _, l := range letters {
		if !l.over() {
			lines = append(lines, l.run.line(l.record))
		}
	}
	err := by.Audit(ctx, lines...)
	errs := make([]error, len(letters))
	for i, l := range letters {
		if !l.over() {
			errs[i] = err
		}
	}
	return a.settled(ctx, letters, errs)
}

// sent sends the messages of the letters that are not over, and leaves the others as they are.
func (a acts) sent(ctx context.Context, letters []letter) []letter {
	var open []letter
	var indices []int
	for i, l := range letters {
		if !l.over() {
			open = append(open, l)
			indices = append(indices, i)
		}
	}
	if len(open) == 0 {
		return letters
	}
	ended, errs := a.replayer.send(ctx, open)
	ended = a.settled(ctx, ended, errs)
	all := slices.Clone(letters)
	for n, i := range indices {
		all[i] = ended[n]
	}
	return all
}

// settled logs the errors of letters, and ends those letters that have no result yet. The log has errors only: the
// results are in the request's log line.
func (a acts) settled(ctx context.Context, letters []letter, errs []error) []letter {
	settled := slices.Clone(letters)
	for i, err := range errs {
		if err == nil {
			continue
		}
		if !letters[i].over() {
			settled[i] = letters[i].ended(resultFailed, reasonInternal)
		}
		a.log.ErrorContext(ctx, "replay fault",
			slog.String(telemetry.KeyDelivery, letters[i].id), slog.String(telemetry.KeyOperator, letters[i].run.Operator),
			telemetry.Trace(settled[i].message.Trace), slog.String(telemetry.KeyOutcome, settled[i].result),
			telemetry.Cause(err))
	}
	return settled
}
