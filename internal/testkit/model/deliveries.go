package model

import (
	"context"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// Deliveries returns the store as the process calls it.
func (p *Process) Deliveries() Deliveries { return Deliveries{p} }

// Deliveries is the table Deliveries as one process calls it (dynamo.Deliveries).
type Deliveries struct{ *Process }

const writeDeliveries = "Write Deliveries"

// Acknowledge records acknowledged deliveries, unconditionally.
func (d Deliveries) Acknowledge(ctx context.Context, records []delivery.Record) error {
	if len(records) == 0 {
		return nil
	}
	return d.one(ctx, writeDeliveries, "acknowledged", func() {
		for _, r := range records {
			d.keep(r)
		}
	})
}

func (d Deliveries) keep(r delivery.Record) {
	if d.model.States != nil {
		d.model.States[r.DeliveryID] = r
	}
}

// Update records a state, unless the delivery is acknowledged or of a later life.
func (d Deliveries) Update(ctx context.Context, r delivery.Record) (written bool, err error) {
	return asked(ctx, d.Process, writeDeliveries, r.DeliveryID, func() bool {
		old := d.model.States[r.DeliveryID]
		written := old.State != delivery.Acknowledged && r.Replay >= old.Replay
		if written {
			d.keep(r)
		}
		return written
	})
}

// Get returns the record of a delivery.
func (d Deliveries) Get(ctx context.Context, id string) (r delivery.Record, found bool, err error) {
	got, err := asked(ctx, d.Process, "Read Deliveries", id, func() *delivery.Record {
		if r, found := d.model.States[id]; found {
			return &r
		}
		return nil
	})
	if got == nil {
		return delivery.Record{}, false, err
	}
	return *got, true, err
}
