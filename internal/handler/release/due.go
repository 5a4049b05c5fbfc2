package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/parallel"
)

// due sends deliveries by their schedule, in any state of their endpoints: deliver decides about them. It buries those
// that are over.
type due struct {
	h   *Handler
	t   *tally
	out *outlet

	until time.Time               // of due times
	lanes [backlog.DueShards]lane // the index by due time, earliest first
	over  [backlog.DueShards]lane // the items found there that are over, to be read again: bodies are too much to keep
}

// lane is one shard of the index, or the part of it that is over.
type lane struct {
	keys    []dynamo.Due // read and not yet looked at
	cursor  string
	more    bool   // there is a further page
	singly  int    // so many are read one by one
	unread  string // the tenant of the last read, where that was refused
	stuck   bool   // nothing of the last page could be deleted
	refused bool   // nor sent
	failed  bool   // a table or queue refuses everything: the rest is for the next run
}

func (l lane) done() bool { return l.failed || !l.more && len(l.keys) == 0 }

// left reports whether items are left to look at.
func left(lanes [backlog.DueShards]lane) bool {
	return slices.ContainsFunc(lanes[:], func(l lane) bool { return !l.done() })
}

// read reads the next page of a shard's keys.
func (d *due) read(ctx context.Context, l *lane, shard int) error {
	keys, next, err := d.h.Backlog.Due(ctx, shard, d.until, keysSize, l.cursor)
	if err != nil {
		return err
	}
	l.keys, l.cursor, l.more = inTurn(keys, ownerOf), next, next != ""
	return nil
}

func ownerOf(key dynamo.Due) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: key.TenantID, EndpointID: key.EndpointID}
}

func (d *due) send(ctx context.Context, until time.Time) bool {
	moves := func(ctx context.Context, shard int, found dynamo.Page) ([]move, error) {
		return d.moves(ctx, shard, found), nil
	}
	d.goOn(ctx, "reading due deliveries", until, &d.lanes, moves)
	return left(d.lanes)
}

// movesOf are the moves of items that the lane of a shard has found.
type movesOf func(ctx context.Context, shard int, found dynamo.Page) ([]move, error)

// goOn carries out the moves of lanes, side by side.
func (d *due) goOn(
	ctx context.Context, doing string, until time.Time, lanes *[backlog.DueShards]lane, of movesOf,
) {
	errs := parallel.Each(len(lanes), len(lanes), func(shard int) error {
		for l := &lanes[shard]; !l.done() && d.h.Now().Before(until); {
			if len(l.keys) == 0 {
				if err := d.read(ctx, l, shard); err != nil {
					return err
				}
				continue
			}
			if err := d.page(ctx, l, shard, of); err != nil {
				d.t.fault(ctx, doing, err)
			}
		}
		return nil
	})
	for shard, err := range errs {
		if err != nil {
			lanes[shard].failed = true
			d.t.fault(ctx, doing, err)
		}
	}
}

// page carries out the moves of a lane's next items. Those that cannot be read together are read one by one, since it
// may be for one tenant's only: then its partitions are left alone. So is the next after a page without a single delete,
// since an item that is sent and stays is sent again. Two refusals in a row, of reads two tenants', end the lane.
func (d *due) page(ctx context.Context, l *lane, shard int, of movesOf) error {
	size := pageSize
	if l.stuck || l.singly > 0 {
		size = 1
	}
	page := l.keys[:min(len(l.keys), size)]
	keys := d.allowed(page)
	var moves []move
	found, err := d.h.Backlog.BatchGet(ctx, keys) // no call for no keys
	if err == nil {
		moves, err = of(ctx, shard, found)
	}
	if err != nil && len(page) > 1 {
		l.singly = len(page)
		return err
	}
	l.keys, l.singly = l.keys[len(page):], max(l.singly-1, 0)
	if err != nil {
		d.late(page)
		d.out.refuse(page[0].Key)
		tenant := page[0].TenantID
		l.failed, l.unread = l.unread != "" && l.unread != tenant, tenant
		return err
	}
	if len(keys) > 0 {
		l.unread = ""
	}
	if len(moves) > 0 {
		done, refused := d.out.carry(ctx, moves)
		l.failed, l.refused, l.stuck = refused && l.refused, refused, done == 0
	}
	return nil
}

// allowed are the keys whose partitions have not refused anything.
func (d *due) allowed(page []dynamo.Due) (keys []backlog.Key) {
	for _, one := range page {
		if !d.out.refuses(one.EndpointID, one.Shard) {
			keys = append(keys, one.Key)
		}
	}
	return keys
}

// moves are for the items that wait for their schedule. The index may be behind: an item may have another due time by
// now.
func (d *due) moves(ctx context.Context, shard int, found dynamo.Page) (moves []move) {
	d.t.see(ctx, found)
	now := d.h.Now()
	for _, i := range found.Items {
		switch {
		case i.DueAt.After(d.until):
		case !i.Held && i.Message.Attempts < d.h.Schedule.Last():
			d.t.late(now.Sub(i.DueAt))
			moves = append(moves, move{kind: kindDue, item: i, delay: i.DueAt.Sub(now)})
		case !i.DueAt.After(now):
			d.end(i, shard)
		}
	}
	return moves
}

// countUnsent notes the lateness of everything left for want of time.
func (d *due) countUnsent() {
	for _, l := range d.lanes {
		d.late(l.keys)
	}
}

func (d *due) late(keys []dynamo.Due) {
	now := d.h.Now()
	for _, key := range keys {
		d.t.late(now.Sub(key.DueAt))
	}
}
