package model

import (
	"context"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/dynamo"
)

// Backlog returns the store as the process calls it.
func (p *Process) Backlog() BacklogTable { return BacklogTable{p} }

// BacklogTable is the table Backlog as one process calls it (dynamo.Backlog).
type BacklogTable struct{ *Process }

// Put stores items, each with an error.
func (b BacklogTable) Put(ctx context.Context, items []backlog.Item) []error {
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

// Delete deletes items, each with an error.
func (b BacklogTable) Delete(ctx context.Context, keys []backlog.Key) []error {
	if len(keys) == 0 {
		return nil
	}
	return b.many(ctx, "Delete Backlog", keys[0].Position, len(keys), func(i int) {
		b.model.Backlog.Delete(keys[i], time.Now())
	})
}

// PutBack makes an item wait for its DueAt, if it is there.
func (b BacklogTable) PutBack(ctx context.Context, item backlog.Item) (found bool, err error) {
	return asked(ctx, b.Process, "Put back Backlog", item.Position, func() bool {
		return b.model.Backlog.PutBack(item, time.Now())
	})
}

// ReadShard returns a page of an endpoint's shard, the oldest deliveries first.
func (b BacklogTable) ReadShard(
	ctx context.Context, endpointID string, shard int, after string, limit int,
) (dynamo.Page, error) {
	return asked(ctx, b.Process, "Read Backlog", fmt.Sprint(endpointID, "#", shard), func() dynamo.Page {
		return b.model.Backlog.ReadShard(endpointID, shard, after, limit)
	})
}

// Due returns a page of what the index knows to be due, the earliest first.
func (b BacklogTable) Due(
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

// BatchGet returns the items with these keys that are there.
func (b BacklogTable) BatchGet(ctx context.Context, keys []backlog.Key) (dynamo.Page, error) {
	if len(keys) == 0 {
		return dynamo.Page{}, nil
	}
	return asked(ctx, b.Process, "Read Backlog", keys[0].Position, func() dynamo.Page {
		return b.model.Backlog.BatchGet(keys)
	})
}

// Count counts nothing: people ask for it, no rule does.
func (b BacklogTable) Count(context.Context, string) (dynamo.Waiting, error) {
	return dynamo.Waiting{}, nil
}
