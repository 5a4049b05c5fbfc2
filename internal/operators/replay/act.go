package replay

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/operators/jobs"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// chunks bounds how many chunks go through the steps at once.
const chunks = 4

// act does one act to dead letters, by their ids, for requests and for jobs. It alone knows the order of the steps.
// Each step is known to the worker that takes it.
type act struct {
	// The steps that change nothing. A refusal in any of them leaves the letter as it was, and needs no audit line.
	looks []step

	// The steps after the audit line, each of which changes something.
	changes []step

	// Sends the messages of the letters that are not over by then, together. It is nil where the changes end each letter.
	send func(ctx context.Context, letters []letter) (ended []letter, errs []error)

	log *slog.Logger
	now func() time.Time
}

// do does the act of a job to dead letters, in any order, and answers in the order of the ids. A request is a job
// without an id.
func (a act) do(ctx context.Context, by jobs.Auditor, j job.Job, ids []string) []api.DeliveryResult {
	r := run{Job: j, now: a.now()}
	results := make([]api.DeliveryResult, len(ids))
	for i, id := range ids { // ids that time does not reach keep this result, and so do those of a panic
		results[i] = api.DeliveryResult{DeliveryID: id, Result: api.ResultNotStarted}
	}
	parts := slices.Collect(slices.Chunk(ids, chunk))
	errs := parallel.Each(len(parts), chunks, func(i int) error {
		if !invoke.OutOfTime(ctx) {
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
// the messages together. Nothing is changed before the lines are written.
func (a act) some(ctx context.Context, by jobs.Auditor, r run, ids []string) []api.DeliveryResult {
	letters := make([]letter, len(ids))
	for i, id := range ids {
		letters[i] = letter{run: r, id: id}
	}
	letters = a.through(ctx, letters, a.looks...)
	letters = a.audited(ctx, by, letters)
	letters = a.through(ctx, letters, a.changes...)
	letters = a.sent(ctx, letters)
	results := make([]api.DeliveryResult, len(letters))
	for i, l := range letters {
		results[i] = api.DeliveryResult{DeliveryID: l.id, Result: l.result, Reason: l.reason}
	}
	return results
}

// through takes letters through steps, side by side.
func (a act) through(ctx context.Context, letters []letter, steps ...step) []letter {
	further := slices.Clone(letters)
	errs := parallel.Each(len(letters), chunk, func(i int) (err error) {
		further[i], err = letters[i].through(ctx, steps...)
		return err
	})
	return a.withFaults(ctx, further, errs)
}

// audited writes a line for each letter that is not over. Where that fails, those letters have failed.
func (a act) audited(ctx context.Context, by jobs.Auditor, letters []letter) []letter {
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
	return a.withFaults(ctx, letters, errs)
}

// sent sends the messages of the letters that are not over, and leaves the others as they are.
func (a act) sent(ctx context.Context, letters []letter) []letter {
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
	ended, errs := a.send(ctx, open)
	ended = a.withFaults(ctx, ended, errs)
	all := slices.Clone(letters)
	for n, i := range indices {
		all[i] = ended[n]
	}
	return all
}

// withFaults logs the errors of letters, and ends those letters that have no result yet. The log has errors only: the
// results are in the request's log line.
func (a act) withFaults(ctx context.Context, letters []letter, errs []error) []letter {
	after := slices.Clone(letters)
	for i, err := range errs {
		if err == nil {
			continue
		}
		if !letters[i].over() {
			after[i] = letters[i].ended(api.ResultFailed, api.ReasonInternal)
		}
		a.log.ErrorContext(ctx, "replay fault",
			slog.String(telemetry.KeyDelivery, letters[i].id), slog.String(telemetry.KeyOperator, letters[i].run.Operator),
			telemetry.Trace(after[i].message.Trace), slog.String(telemetry.KeyOutcome, string(after[i].result)),
			telemetry.Cause(err))
	}
	return after
}
