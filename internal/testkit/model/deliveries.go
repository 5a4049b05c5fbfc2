package model

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
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
		seen := map[string]bool{}
		for _, r := range records {
			if !seen[r.DeliveryID] {
				seen[r.DeliveryID] = true
				r.State, r.NextAttemptAt = delivery.Acknowledged, time.Time{}
				d.keep(r)
			}
		}
	})
}

func (d Deliveries) keep(r delivery.Record) {
	if d.model.States != nil {
		d.model.States[r.DeliveryID] = keptRecord(r)
	}
}

// keptRecord is a record as the table keeps it: its times in milliseconds.
func keptRecord(r delivery.Record) delivery.Record {
	inMillis(&r.OccurredAt, &r.CreatedAt, &r.NextAttemptAt, &r.UpdatedAt)
	return r
}

// Update records a state that replaces the stored one. One that is stored already is no refusal.
func (d Deliveries) Update(ctx context.Context, r delivery.Record) (written bool, err error) {
	return asked(ctx, d.Process, writeDeliveries, r.DeliveryID, func() bool {
		stored, found := d.model.States[r.DeliveryID]
		if found && !r.Replaces(stored) {
			return stored == keptRecord(r)
		}
		d.keep(r)
		return true
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
	if err = cmp.Or(err, d.model.readable(brokenDelivery+id)); err != nil || got == nil {
		return delivery.Record{}, false, err
	}
	return *got, true, nil
}

// Purged records that a dead letter was purged, unless the delivery has gone on since.
func (d Deliveries) Purged(ctx context.Context, r delivery.Record) error {
	r.State = delivery.Purged
	_, err := d.Update(ctx, r)
	return err
}

// BatchGet returns the records of deliveries, missing ones left out.
func (d Deliveries) BatchGet(ctx context.Context, ids []string) (map[string]delivery.Record, error) {
	found, err := asked(ctx, d.Process, "Read Deliveries", "many", func() map[string]delivery.Record {
		found := map[string]delivery.Record{}
		for _, id := range ids {
			if r, there := d.model.States[id]; there {
				found[id] = r
			}
		}
		return found
	})
	for id := range found {
		if err = cmp.Or(err, d.model.readable(brokenDelivery+id)); err != nil {
			return nil, err
		}
	}
	return found, err
}

// ListOpen returns a page of an endpoint's deliveries that are not acknowledged, the newest first.
func (d Deliveries) ListOpen(
	ctx context.Context, endpointID string, p dynamo.OpenPage,
) (records []delivery.Record, next string, err error) {
	published := job.Selector{PublishedSince: p.Since, PublishedUntil: p.Until}.Published
	got, err := asked(ctx, d.Process, "List Deliveries", endpointID, func() paged[string] {
		var open []string
		for id, r := range d.model.States {
			if r.EndpointID == endpointID && r.State != delivery.Acknowledged && published(r.CreatedAt) {
				open = append(open, newest(r.CreatedAt)+" "+id)
			}
		}
		slices.Sort(open)
		return cut(open, p.Limit, p.Cursor)
	})
	if err = cmp.Or(err, got.err); err != nil {
		return nil, "", err
	}
	var ids []string
	for _, entry := range got.page {
		_, id, _ := strings.Cut(entry, " ")
		ids = append(ids, id)
	}
	all, err := d.BatchGet(ctx, ids)
	for _, id := range ids {
		if r, found := all[id]; found {
			records = append(records, r)
		}
	}
	return records, got.next, err
}
