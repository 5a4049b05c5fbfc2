package model

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
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
	return b.conditional(ctx, "Put Backlog", items[0].Message.DeliveryID, len(items), func(i int) error {
		m.Note("%s: puts %s of %s, held %v", b.Name, items[i].Message.DeliveryID, items[i].EndpointID, items[i].Held)
		if err := m.Backlog.Put(items[i], time.Now()); err != nil {
			return err
		}
		m.Puts(items[i])
		return nil
	})
}

// Delete deletes items as they were read, each with an error.
func (b BacklogTable) Delete(ctx context.Context, items []backlog.Item) []error {
	if len(items) == 0 {
		return nil
	}
	return b.conditional(ctx, "Delete Backlog", items[0].Position, len(items), func(i int) error {
		return b.model.Backlog.Delete(items[i], time.Now())
	})
}

// conditional is a call with an effect for each of its items, which may be refused.
func (p *Process) conditional(ctx context.Context, name, key string, n int, effect func(i int) error) []error {
	refusals := make([]error, n)
	errs := p.many(ctx, name, key, n, func(i int) { refusals[i] = effect(i) })
	for i := range errs {
		if errs[i] == nil { // a caller that gave up sees nothing of a late refusal
			errs[i] = refusals[i]
		}
	}
	return errs
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

// Due returns a page of the due items in the index, the earliest first.
func (b BacklogTable) Due(
	ctx context.Context, shard int, until time.Time, limit int, cursor string,
) (due []dynamo.Due, next string, err error) {
	got, err := asked(ctx, b.Process, "Query by-due", fmt.Sprint(shard), func() (p paged[dynamo.Due]) {
		p.page, p.next, p.err = b.model.Backlog.Due(shard, until, limit, cursor)
		return p
	})
	return got.page, got.next, cmp.Or(err, got.err)
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

// Count counts an endpoint's items, up to a thousand.
func (b BacklogTable) Count(ctx context.Context, endpointID string) (dynamo.Waiting, error) {
	return asked(ctx, b.Process, "Count Backlog", endpointID, func() (w dynamo.Waiting) {
		for k, i := range b.model.Backlog.Items {
			if k.EndpointID == endpointID {
				w = counted(w, i)
			}
		}
		return w
	})
}

// maxCounted is the highest count of an endpoint's items.
const maxCounted = 1000

func counted(w dynamo.Waiting, i backlog.Item) dynamo.Waiting {
	if created := i.Message.CreatedAt; w.Oldest.IsZero() || created.Before(w.Oldest) {
		w.Oldest = created
	}
	if w.Items == maxCounted {
		w.More = true
		return w
	}
	w.Items++
	if i.Held {
		w.Held++
	}
	return w
}

// Total counts all items, up to perShard of each part of the index by due time.
func (b BacklogTable) Total(ctx context.Context, perShard int) (dynamo.Total, error) {
	return asked(ctx, b.Process, "Query by-due", "all", func() dynamo.Total {
		total := dynamo.Total{By: map[string]dynamo.Waiting{}}
		for shard := range backlog.DueShards {
			due, next, _ := b.model.Backlog.Due(shard, always, perShard, "") // of no cursor
			total.More = total.More || next != ""
			for n, d := range due {
				if n == 0 && (total.NextDue.IsZero() || d.DueAt.Before(total.NextDue)) {
					total.NextDue = d.DueAt
				}
				i := b.model.Backlog.Items[d.Key]
				total.Items++
				if i.Held {
					total.Held++
				}
				total.By[d.EndpointID] = counted(total.By[d.EndpointID], i)
			}
		}
		return total
	})
}

// always is after every moment that is stored.
var always = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
