package release

import (
	"context"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
)

// Shards reads a shard of an endpoint, oldest first and strongly consistent (dynamo.Backlog).
type Shards interface {
	ReadShard(ctx context.Context, endpointID string, shard int, after string, limit int) (dynamo.Page, error)
}

// oldestFirst reads everything that waits for one endpoint as a single list, oldest first over its eight shards. It
// keeps at most a page of each shard.
type oldestFirst struct {
	endpointID string
	shards     [backlog.Shards]stream
	// missed tells that a shard or an item could not be read. Then the list is never complete.
	missed bool
}

// stream is one shard as part of the list.
type stream struct {
	// read are the items in memory. The ones before, as far as the position after, were taken.
	read  []backlog.Item
	after string
	// last tells that the table has no items behind those.
	last bool
}

// front is the first item of the list, if there is one, and its shard.
type front struct {
	found bool
	item  backlog.Item
	shard int
	did   counts
}

// look returns the first item and leaves it in the list. Shards that the mover leaves alone, and ones that cannot be
// read, are skipped.
func (o *oldestFirst) look(ctx context.Context, table Shards, m *mover) (first front) {
	for n := range o.shards {
		if m.leaves(o.endpointID, n) {
			continue
		}
		first.did = first.did.plus(o.fill(ctx, table, n))
		if len(o.shards[n].read) == 0 {
			continue
		}
		item := o.shards[n].read[0]
		if !first.found || item.Position < first.item.Position {
			first = front{item: item, shard: n, found: true, did: first.did}
		}
	}
	return first
}

// take takes the first item off the list.
func (o *oldestFirst) take(f front) {
	s := &o.shards[f.shard]
	s.after = f.item.Position
	s.read = s.read[1:]
}

// fill reads on until the shard's next item is in memory, if there is one.
func (o *oldestFirst) fill(ctx context.Context, table Shards, shard int) (did counts) {
	s := &o.shards[shard]
	for len(s.read) == 0 && !s.last {
		page, err := table.ReadShard(ctx, o.endpointID, shard, s.after, pageSize)
		if err != nil {
			o.missed = true
			s.last = true
			return did.plus(failed("reading a shard", err))
		}
		did = did.plus(seen(page))
		o.missed = o.missed || len(page.Unreadable) > 0
		s.read = page.Items
		s.last = page.Next == ""
		if len(s.read) == 0 {
			s.after = page.Next
		}
	}
	return did
}

// complete reports whether everything was read and taken. A shard that is left alone was not read to its end.
func (o *oldestFirst) complete() bool {
	for _, s := range o.shards {
		if len(s.read) > 0 || !s.last {
			return false
		}
	}
	return !o.missed
}

// forget drops the pages in memory. They are read again when the search goes on.
func (o *oldestFirst) forget() {
	for n := range o.shards {
		s := &o.shards[n]
		if len(s.read) > 0 {
			s.read = nil
			s.last = false
		}
	}
}
