package replay

import (
	"context"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/operators/jobs"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// publisher sends rejected events to EventsQueue again, or deletes them for good. An event with which it fails stays on
// its queue.
type publisher struct {
	events Sender
	queue  Deletes
	log    *slog.Logger
}

// publish sends events again and takes them off their queue. For a request that is no job, j has no id.
func (p publisher) publish(
	ctx context.Context, by jobs.Auditor, j job.Job, events []rejected.Event,
) (all []jobs.Outcome) {
	if err := by.Audit(ctx, eventLines(string(job.Publish), j, events)...); err != nil {
		return p.failed(ctx, api.ReasonInternal, err, events...)
	}
	messages := make([]queue.Outgoing, len(events))
	for i, e := range events {
		messages[i] = queue.Outgoing{Body: string(rejected.WithID(e)), Trace: e.Trace}
	}
	sent := p.events.Send(ctx, messages)
	finish, cancel := invoke.Finishing(ctx)
	defer cancel()
	for i, err := range sent {
		if err != nil {
			all = append(all, p.failed(ctx, api.ReasonNotSent, err, events[i])...)
			continue
		}
		// An event that cannot be deleted is on both queues. Publishing it twice gives the same delivery ids.
		if err := p.queue.Delete(finish, events[i]); err != nil {
			p.report(ctx, events[i], err)
		}
		all = append(all, jobs.Outcome{Event: events[i], Result: api.ResultReplayed})
	}
	return all
}

// discard deletes events for good. An event that cannot be deleted has failed, and stays.
func (p publisher) discard(
	ctx context.Context, by jobs.Auditor, j job.Job, events []rejected.Event,
) (all []jobs.Outcome) {
	if err := by.Audit(ctx, eventLines("discard_rejected", j, events)...); err != nil {
		return p.failed(ctx, api.ReasonInternal, err, events...)
	}
	finish, cancel := invoke.Finishing(ctx)
	defer cancel()
	for _, e := range events {
		if err := p.queue.Delete(finish, e); err != nil {
			all = append(all, p.failed(ctx, api.ReasonInternal, err, e)...)
			continue
		}
		all = append(all, jobs.Outcome{Event: e, Result: api.ResultDiscarded})
	}
	return all
}

// refuseAll refuses to discard rejected events without saying which. A selection always has an end.
func refuseAll(asked job.Selector) error {
	if asked.TenantID == "" && asked.EventID == "" && asked.Reason == "" && asked.Since.IsZero() {
		return invoke.Invalid("tenant_id", "tenant_id, event_id, reason or since is required")
	}
	return nil
}

// failed reports events that stay on their queue, and gives them their outcome.
func (p publisher) failed(ctx context.Context, reason string, err error, events ...rejected.Event) []jobs.Outcome {
	for _, e := range events {
		p.report(ctx, e, err)
	}
	return jobs.Outcomes(api.ResultFailed, reason, events...)
}

// report logs the error of an event. Its result is in the answer, or in the counts of its job.
func (p publisher) report(ctx context.Context, e rejected.Event, err error) {
	p.log.ErrorContext(ctx, "rejected event fault",
		slog.String(telemetry.KeyMessage, e.MessageID), slog.String(telemetry.KeyEvent, e.EventID), telemetry.Cause(err))
}

// eventLines are the audit lines of an act on events.
func eventLines(action string, j job.Job, events []rejected.Event) []audit.Line {
	lines := make([]audit.Line, len(events))
	for i, e := range events {
		lines[i] = audit.Line{
			Action: action, MessageID: e.MessageID, TenantID: rejected.TenantOf(e), OperatorClaimed: j.Operator, JobID: j.ID,
		}
	}
	return lines
}
