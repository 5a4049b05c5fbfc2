package replay

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// chunk letters go through the steps together: as many as one SendMessageBatch takes.
const chunk = 10

// letter is a dead letter on its way through the steps of a run. Each step returns it a little further. A letter that
// is over has a result and goes no further.
type letter struct {
	run    run
	id     string
	record deadletter.Record

	// The message to send. Its Replay is the number of this replay.
	message delivery.Message

	// It is certain that no earlier run of this replay has sent the message.
	fresh bool

	result api.Result
	reason string
}

// step takes a letter a little further. Where it returns an error and the letter is not over, the letter has failed.
type step func(ctx context.Context, l letter) (letter, error)

// ended is the letter with its result.
func (l letter) ended(result api.Result, reason string) letter {
	l.result, l.reason = result, reason
	return l
}

// over reports whether the letter has a result.
func (l letter) over() bool { return l.result != "" }

// through takes the letter through steps until it is over or one of them fails.
func (l letter) through(ctx context.Context, steps ...step) (letter, error) {
	for _, next := range steps {
		if l.over() {
			break
		}
		after, err := next(ctx, l)
		if err != nil {
			return after, err
		}
		l = after
	}
	return l, nil
}

// run is one act on dead letters: a job's, on a page of them, or a request's, which is a job without an id.
type run struct {
	job.Job
	now time.Time
}

// byJob reports whether the run is a job's.
func (r run) byJob() bool { return r.ID != "" }

// isOthers reports whether a dead letter is of another tenant than the one that the request or job names.
func (r run) isOthers(d deadletter.Record) bool {
	return r.Selector.TenantID != "" && r.Selector.TenantID != d.TenantID
}

// isClaimed reports whether a replay of the dead letter is running. A claim that has grown stale is free again.
func (r run) isClaimed(d deadletter.Record) bool {
	_, _, free := d.Claim(r.now)
	return d.Status == deadletter.Replaying && !free
}

// isLater reports whether a dead letter has died since the job began, which selected it before.
func (r run) isLater(d deadletter.Record) bool {
	return r.byJob() && !d.DiedAt.Before(r.Selector.Until)
}

// line is the audit line of the act on a dead letter.
func (r run) line(d deadletter.Record) audit.Line {
	return audit.Line{
		Action: string(r.Act), OperatorClaimed: r.Operator, TenantID: d.TenantID, EndpointID: d.EndpointID,
		DeliveryID: d.DeliveryID, JobID: r.ID,
	}
}
