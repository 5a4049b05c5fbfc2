package replay

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// purger takes the steps of a purge. It reads neither endpoint nor body, and has nothing to send.
type purger struct {
	letters interface {
		Letters
		Purges
	}
	states States
	now    func() time.Time
}

// find reads the dead letter, and refuses one that cannot be purged. A missing letter is one that an earlier worker has
// purged for the same job.
func (p purger) find(ctx context.Context, l letter) (letter, error) {
	d, found, err := p.letters.Get(ctx, l.id)
	l.record = d
	switch {
	case err != nil:
		return l, err
	case !found && l.run.byJob():
		return l.ended(api.ResultPurged, ""), nil
	case !found:
		return l.ended(api.ResultNotFound, ""), nil
	}
	if reason := refusePurge(l.run, d); reason != "" {
		return l.ended(api.ResultRefused, reason), nil
	}
	return l, nil
}

// refusePurge says why a dead letter cannot be purged, "" when it can: a replay holds it, or the job selected it and
// would no longer select it.
func refusePurge(r run, d deadletter.Record) string {
	switch {
	case r.isOthers(d):
		return api.ReasonTenantMismatch
	case r.isClaimed(d):
		return api.ReasonReplayRunning
	case r.byJob() && (r.isLater(d) || string(d.Status) != r.Selector.Status):
		return api.ReasonNotSelected
	}
	return ""
}

// purge deletes the dead letter for good, unless it has changed since it was read, and then writes the state of its
// delivery. If that write fails, operators lose information and no more: the letter has been purged.
func (p purger) purge(ctx context.Context, l letter) (letter, error) {
	deleted, err := p.letters.Purge(ctx, l.record)
	if err != nil {
		return l, err
	}
	if !deleted {
		return l.ended(api.ResultRefused, api.ReasonChanged), nil
	}
	purged := l.ended(api.ResultPurged, "")
	if l.record.Reason == delivery.ReasonUnreadable { // there is no delivery
		return purged, nil
	}
	finish, cancel := invoke.Finishing(ctx)
	defer cancel()
	d := l.record
	return purged, p.states.Purged(finish, delivery.Record{
		Ref: d.Ref, EventType: d.EventType, State: delivery.Purged, Attempts: d.Attempts, LastStatus: d.LastStatus,
		Reason: d.Reason, UpdatedAt: p.now(),
	})
}
