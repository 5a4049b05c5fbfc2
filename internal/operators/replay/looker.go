package replay

import (
	"context"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// looker takes the first steps of a replay. They change nothing.
type looker struct {
	letters   Letters
	endpoints Endpoints
	vault     deadletter.Vault
	now       func() time.Time
}

// find reads the dead letter, and refuses a letter that cannot be replayed. If an earlier worker has replayed the
// letter for the same job, the letter is over and keeps that result.
func (k looker) find(ctx context.Context, l letter) (letter, error) {
	d, found, err := k.letters.Get(ctx, l.id)
	l.record = d
	switch {
	case err != nil:
		return l, err
	case !found:
		return l.ended(api.ResultNotFound, ""), nil
	case replayedBefore(l.run, d):
		return l.ended(api.ResultReplayed, api.ReasonResumed), nil
	}
	if reason := refuseReplay(l.run, d); reason != "" {
		return l.ended(api.ResultRefused, reason), nil
	}
	return l, nil
}

// replayedBefore reports whether a worker that broke off has replayed the dead letter for this job.
func replayedBefore(r run, d deadletter.Record) bool {
	return r.byJob() && d.JobID == r.ID && (d.Status == deadletter.Replayed || r.isLater(d))
}

// refuseReplay says why a dead letter cannot be replayed, "" when it can.
func refuseReplay(r run, d deadletter.Record) string {
	switch {
	case r.isOthers(d):
		return api.ReasonTenantMismatch
	case d.Reason == delivery.ReasonUnreadable:
		return api.ReasonUnreadable
	case r.isLater(d):
		return api.ReasonDiedAgain
	case d.Status == deadletter.Replayed:
		return api.ReasonAlreadyReplayed
	case r.isClaimed(d):
		return api.ReasonReplayRunning
	case d.Status == deadletter.Dead && d.ReplayCount >= deadletter.MaxReplays:
		return api.ReasonReplayLimit
	}
	return ""
}

// refuseReplayed refuses to select what was replayed before.
func refuseReplayed(asked job.Selector) error {
	if asked.Status == string(deadletter.Replayed) {
		return invoke.Invalid("status", "must be dead or replaying: others cannot be replayed")
	}
	return nil
}

// judge refuses a delivery that its endpoint does not receive. A paused endpoint and an open circuit refuse nothing:
// the delivery waits for them with the others.
func (k looker) judge(ctx context.Context, l letter) (letter, error) {
	at, err := readReceiver(ctx, k.endpoints, endpointOf(l.record))
	if err != nil {
		return l, err
	}
	if reason := at.refusal(l.record.EventType); reason != "" {
		return l.ended(api.ResultRefused, reason), nil
	}
	return l, nil
}

// open makes the message of a new life. What ended the last life does not count against the new one. A body that does
// not belong to the delivery is never signed again.
func (k looker) open(ctx context.Context, l letter) (letter, error) {
	last, err := k.vault.OpenLast(ctx, l.record)
	l.message = delivery.Message{
		Ref: l.record.Ref, Body: last.Body, Life: delivery.Life{StartedAt: k.now()}, Trace: last.Trace(),
	}
	if err == nil && l.message.Check() != nil {
		err = deadletter.ErrUnopenable
	}
	if errors.Is(err, deadletter.ErrUnopenable) {
		return l.ended(api.ResultRefused, api.ReasonUnopenable), nil
	}
	return l, err
}
