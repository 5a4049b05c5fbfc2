package replay

import (
	"context"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// looker takes the first steps with a letter. They change nothing, so a refusal in any of them leaves the letter as it
// was, and needs no audit line.
type looker struct {
	letters   Letters
	endpoints Endpoints
	vault     deadletter.Vault
	now       func() time.Time
}

// find reads the dead letter, and refuses one that cannot be replayed or purged. A letter that an earlier worker has
// finished for the same job is over, with its result.
func (k looker) find(ctx context.Context, l letter) (letter, error) {
	d, found, err := k.letters.Get(ctx, l.id)
	l.record = d
	switch {
	case err != nil:
		return l, err
	case !found && l.run.purgedBefore():
		return l.ended(resultPurged, ""), nil
	case !found:
		return l.ended(resultNotFound, ""), nil
	case l.run.replayedBefore(d):
		return l.ended(resultReplayed, reasonResumed), nil
	}
	if reason := l.run.refusal(d); reason != "" {
		return l.ended(resultRefused, reason), nil
	}
	return l, nil
}

// judge refuses a delivery that its endpoint does not receive. A paused endpoint and an open circuit refuse nothing:
// the delivery waits for them with the others.
func (k looker) judge(ctx context.Context, l letter) (letter, error) {
	at, err := readReceiver(ctx, k.endpoints, endpointOf(l.record))
	if err != nil {
		return l, err
	}
	if reason := at.refusal(l.record.EventType); reason != "" {
		return l.ended(resultRefused, reason), nil
	}
	return l, nil
}

// open makes the message of a new life, which nothing of the last one ends. A body that does not belong to the
// delivery is never signed again.
func (k looker) open(ctx context.Context, l letter) (letter, error) {
	last, err := k.vault.OpenLast(ctx, l.record)
	l.message = delivery.Message{
		Ref: l.record.Ref, Body: last.Body, Life: delivery.Life{StartedAt: k.now()}, Trace: last.Trace(),
	}
	if err == nil && l.message.Check() != nil {
		err = deadletter.ErrUnopenable
	}
	if errors.Is(err, deadletter.ErrUnopenable) {
		return l.ended(resultRefused, reasonUnopenable), nil
	}
	return l, err
}
