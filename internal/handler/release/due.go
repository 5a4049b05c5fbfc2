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
	more    bool // there is a further page
	unread  int  // pages in a row of which nothing could be read
	stuck   bool // nothing of the last page could be deleted
	refused bool // nor sent
	failed  bool // a table or queue refuses everything: the rest is for the next run
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

// movesOf are the moves of items that the lane of a shard has found. An error is a table that refuses everything.
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
			d.page(ctx, doing, l, shard, of)
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

// mostUnread is the number of pages in a row, of several tenants each, of which nothing can be read until a lane ends.
const mostUnread = 3

// page carries out the moves of a lane's next items. The partition of an item that cannot be read is left alone: it may
// be one tenant's that is throttled. After a page without a single delete the next is one item, since an item that is
// sent and stays is sent again. Two refusals of a queue in a row end the lane.
func (d *due) page(ctx context.Context, doing string, l *lane, shard int, of movesOf) {
	size := pageSize
	if l.stuck {
		size = 1
	}
	page := l.keys[:min(len(l.keys), size)]
	l.keys = l.keys[len(page):]
	keys := d.allowed(page)
	if len(keys) == 0 {
		return
	}
	found, err := d.h.Backlog.BatchGet(ctx, keys)
	unread := found.Unread
	if err != nil {
		d.t.fault(ctx, doing, err)
	}
	moves, err := of(ctx, shard, found)
	if err != nil {
		d.t.fault(ctx, doing, err)
		unread = keys
	}
	d.leave(page, unread)
	switch {
	case len(unread) < len(keys):
		l.unread = 0
	case page[0].TenantID != page[len(page)-1].TenantID || len(page) == 1:
		l.unread++
	}
	l.failed = l.unread == mostUnread
	if len(moves) > 0 {
		done, refused := d.out.carry(ctx, moves)
		l.failed, l.refused, l.stuck = refused && l.refused, refused, done == 0
	}
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

// leave leaves the partitions of unread items of a page to the next run.
func (d *due) leave(page []dynamo.Due, unread []backlog.Key) {
	for _, key := range unread {
		d.out.refuse(key)
	}
	d.late(slices.DeleteFunc(slices.Clone(page), func(one dynamo.Due) bool {
		return !d.out.refuses(one.EndpointID, one.Shard)
	}))
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
