package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/parallel"
)

// due sends deliveries by their schedule, in any state of their endpoints: deliver decides about
// them. A held item is due at the end of its life, and goes to the burials, as does one at the end of its
// schedule.
type due struct {
	h    *Handler
	t    *tally
	out  *outlet
	over *burials

	until time.Time // of due times
	lanes [backlog.DueShards]lane
}

// lane is one shard of the index by due time, earliest first.
type lane struct {
	keys   []dynamo.Due // read and not yet looked at
	cursor string
	last   bool // there is no further page
	failed bool // its partition, or SQS, refuses: the rest is for the next run
	stuck  bool // nothing of the last page could be deleted
}

func (l lane) done() bool { return l.failed || l.last && len(l.keys) == 0 }

// read reads the next page of a shard's keys.
func (d *due) read(ctx context.Context, shard int) error {
	l := &d.lanes[shard]
	keys, next, err := d.h.Backlog.Due(ctx, shard, d.until, keysSize, l.cursor)
	if err != nil {
		return err
	}
	l.keys, l.cursor, l.last = inTurn(keys, ownerOf), next, next == ""
	return nil
}

func ownerOf(key dynamo.Due) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: key.TenantID, EndpointID: key.EndpointID}
}

func (d *due) send(ctx context.Context, until time.Time) (left bool) {
	errs := parallel.Each(len(d.lanes), len(d.lanes), func(shard int) error {
		for !d.lanes[shard].done() && d.h.Now().Before(until) {
			if err := d.step(ctx, shard); err != nil {
				return err
			}
		}
		return nil
	})
	for shard, err := range errs {
		if err != nil {
			d.lanes[shard].failed = true
			d.t.fault(ctx, "reading due deliveries", err)
		}
	}
	return d.left()
}

// left reports whether due items are left to look at.
func (d *due) left() bool {
	return slices.ContainsFunc(d.lanes[:], func(l lane) bool { return !l.done() })
}

// step sends the next items of a shard.
func (d *due) step(ctx context.Context, shard int) (err error) {
	l := &d.lanes[shard]
	if len(l.keys) == 0 {
		return d.read(ctx, shard)
	}
	page := l.keys[:min(len(l.keys), sizeOf(l.stuck))]
	if l.stuck, l.failed, err = d.out.page(ctx, page, l.stuck, func(found dynamo.Page) ([]move, error) {
		d.t.see(ctx, found)
		return d.moves(found.Items), nil
	}); err == nil {
		l.keys = l.keys[len(page):]
	}
	return err
}

// moves are for the items that wait for their schedule. The index may be behind: an item may have another due time by
// now.
func (d *due) moves(items []backlog.Item) (moves []move) {
	now := d.h.Now()
	for _, i := range items {
		switch {
		case i.DueAt.After(d.until):
		case !i.Held && i.Message.Attempts < d.h.Schedule.Last():
			d.t.late(now.Sub(i.DueAt))
			moves = append(moves, move{kind: kindDue, item: i, delay: i.DueAt.Sub(now)})
		case !i.DueAt.After(now):
			d.over.add(i)
		}
	}
	return moves
}

// countUnsent notes the lateness of everything left for want of time.
func (d *due) countUnsent() {
	now := d.h.Now()
	for _, l := range d.lanes {
		for _, key := range l.keys {
			d.t.late(now.Sub(key.DueAt))
		}
	}
}
