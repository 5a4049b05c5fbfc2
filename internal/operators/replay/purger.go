package replay

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// purger takes the one step of a purge that changes something.
type purger struct {
	letters Purges
	states  States
	now     func() time.Time
}

// purge deletes the dead letter for good, if it is as it was read, and then writes the state of its delivery. Where
// that write is lost, only information is lost: the letter has been purged.
func (p purger) purge(ctx context.Context, l letter) (letter, error) {
	deleted, err := p.letters.Purge(ctx, l.record)
	if err != nil {
		return l, err
	}
	if !deleted {
		return l.ended(resultRefused, reasonChanged), nil
	}
	purged := l.ended(resultPurged, "")
	if l.record.Reason == delivery.ReasonUnreadable { // there is no delivery
		return purged, nil
	}
	finish, cancel := finishing(ctx)
	defer cancel()
	d := l.record
	return purged, p.states.Purged(finish, delivery.Record{
		Ref: d.Ref, EventType: d.EventType, State: delivery.Purged, Attempts: d.Attempts, LastStatus: d.LastStatus,
		Reason: d.Reason, UpdatedAt: p.now(),
	})
}
