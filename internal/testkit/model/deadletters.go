package model

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/deadletter"
)

// DeadLetters returns the store as the process calls it.
func (p *Process) DeadLetters() DeadLetters { return DeadLetters{p} }

// DeadLetters is the table DeadLetters as one process calls it (dynamo.DeadLetters).
type DeadLetters struct{ *Process }

// Create records a death, unless it is recorded.
func (d DeadLetters) Create(ctx context.Context, r deadletter.Record) (written bool, err error) {
	m := d.model
	return asked(ctx, d.Process, "Write DeadLetters", r.DeliveryID, func() bool {
		key := Life{r.DeliveryID, r.Replay}
		written := m.Deaths[key].IsZero()
		if written {
			m.Deaths[key] = time.Now()
			m.Note("%s died of %s", r.DeliveryID, r.Reason)
		}
		return written
	})
}

// Append records a further death, of any number.
func (d DeadLetters) Append(ctx context.Context, r deadletter.Record, _ int) (bool, deadletter.Record, error) {
	written, err := d.Create(ctx, r)
	return written, r, err
}
