package awsmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// reader reads endpoints with their circuits (dynamo.Reader).
type reader struct {
	*Process
	Eventual bool // circuits and tenants' numbers
}

type readings = map[dynamo.EndpointKey]dynamo.Reading

// Read reads rows and circuits; either may be refused alone.
func (r reader) Read(
	ctx context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool,
) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	if len(keys) == 0 {
		return readings{}, nil
	}
	m, key := r.model, ""
	for _, k := range keys {
		key = max(key, k.EndpointID)
	}
	found, err := asked(ctx, r.Process, "Read Endpoints", key, func() readings {
		found := make(readings, len(keys))
		for _, k := range keys {
			e, ok := m.row(k)
			found[k] = dynamo.Reading{
				Endpoint: e, Found: ok, Tenant: m.Stops[k.TenantID],
				Circuit: circuit.Item{TenantID: k.TenantID, EndpointID: k.EndpointID},
			}
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	circuits, err := asked(ctx, r.Process, "Read EndpointHealth", key, func() readings {
		circuits := make(readings, len(keys))
		for _, k := range keys {
			circuits[k] = dynamo.Reading{Circuit: r.circuit(k), SlowUntil: m.Slow[k.TenantID]}
		}
		return circuits
	})
	if err != nil {
		return found, nil //nolint:nilerr // circuits may be unread
	}
	for k, reading := range found {
		if !quiet[k] {
			reading.Circuit, reading.SlowUntil, reading.CircuitRead = circuits[k].Circuit, circuits[k].SlowUntil, true
			found[k] = reading
		}
	}
	return found, nil
}

func (r reader) circuit(k dynamo.EndpointKey) circuit.Item {
	i := r.model.Circuits[k.EndpointID]
	if r.Eventual {
		i = r.model.behind(k.EndpointID)
	}
	i.TenantID, i.EndpointID = k.TenantID, k.EndpointID
	return i
}

// row is an endpoint's row under its own key; a deleted one has none.
func (m *Model) row(k dynamo.EndpointKey) (endpoint.Endpoint, bool) {
	e, found := m.Endpoints[k.EndpointID]
	if !found || e.Status == endpoint.Deleted || e.TenantID != k.TenantID {
		return endpoint.Endpoint{}, false
	}
	return e, true
}

// backlogTable is the table Backlog as one process calls it (dynamo.Backlog).
type backlogTable struct{ *Process }

func (b backlogTable) Put(ctx context.Context, items []backlog.Item) []error {
	if len(items) == 0 {
		return nil
	}
	m := b.model
	return b.many(ctx, "Put Backlog", items[0].Message.DeliveryID, len(items), func(i int) {
		m.Note("%s: puts %s of %s, held %v", b.Name, items[i].Message.DeliveryID, items[i].EndpointID, items[i].Held)
		m.Puts(items[i])
		m.Backlog.Put(items[i], time.Now())
	})
}

func (b backlogTable) Delete(ctx context.Context, keys []backlog.Key) []error {
	if len(keys) == 0 {
		return nil
	}
	return b.many(ctx, "Delete Backlog", keys[0].Position, len(keys), func(i int) {
		b.model.Backlog.Delete(keys[i], time.Now())
	})
}

func (b backlogTable) PutBack(ctx context.Context, item backlog.Item) (found bool, err error) {
	return asked(ctx, b.Process, "Put back Backlog", item.Position, func() bool {
		return b.model.Backlog.PutBack(item, time.Now())
	})
}

func (b backlogTable) ReadShard(
	ctx context.Context, endpointID string, shard int, after string, limit int,
) (dynamo.Page, error) {
	return asked(ctx, b.Process, "Read Backlog", fmt.Sprint(endpointID, "#", shard), func() dynamo.Page {
		return b.model.Backlog.ReadShard(endpointID, shard, after, limit)
	})
}

func (b backlogTable) Due(
	ctx context.Context, shard int, until time.Time, limit int, cursor string,
) (due []dynamo.Due, next string, err error) {
	type page struct {
		due  []dynamo.Due
		next string
	}
	got, err := asked(ctx, b.Process, "Query by-due", fmt.Sprint(shard), func() (p page) {
		p.due, p.next = b.model.Backlog.Due(shard, until, limit, cursor)
		return p
	})
	return got.due, got.next, err
}

func (b backlogTable) BatchGet(ctx context.Context, keys []backlog.Key) (dynamo.Page, error) {
	if len(keys) == 0 {
		return dynamo.Page{}, nil
	}
	return asked(ctx, b.Process, "Read Backlog", keys[0].Position, func() dynamo.Page {
		return b.model.Backlog.BatchGet(keys)
	})
}

func (b backlogTable) Count(context.Context, string) (dynamo.Waiting, error) {
	return dynamo.Waiting{}, nil
}

// deliveries is the table Deliveries as one process calls it (dynamo.Deliveries).
type deliveries struct{ *Process }

const writeDeliveries = "Write Deliveries"

func (d deliveries) Acknowledge(ctx context.Context, records []delivery.Record) error {
	if len(records) == 0 {
		return nil
	}
	return d.one(ctx, writeDeliveries, "acknowledged", func() {
		for _, r := range records {
			d.keep(r)
		}
	})
}

func (d deliveries) keep(r delivery.Record) {
	if d.model.States != nil {
		d.model.States[r.DeliveryID] = r
	}
}

// Update records a state, unless the delivery is acknowledged or of a later life.
func (d deliveries) Update(ctx context.Context, r delivery.Record) (written bool, err error) {
	return asked(ctx, d.Process, writeDeliveries, r.DeliveryID, func() bool {
		old := d.model.States[r.DeliveryID]
		written := old.State != delivery.Acknowledged && r.Replay >= old.Replay
		if written {
			d.keep(r)
		}
		return written
	})
}

func (d deliveries) Get(ctx context.Context, id string) (r delivery.Record, found bool, err error) {
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

// deadLetters is the table DeadLetters as one process calls it (dynamo.DeadLetters).
type deadLetters struct{ *Process }

// Create records a death, unless it is recorded.
func (d deadLetters) Create(ctx context.Context, r deadletter.Record) (written bool, err error) {
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
func (d deadLetters) Append(ctx context.Context, r deadletter.Record, _ int) (bool, deadletter.Record, error) {
	written, err := d.Create(ctx, r)
	return written, r, err
}
