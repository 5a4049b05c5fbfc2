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
	keys   []dynamo.Due // read and not yet looked at
	cursor string
	more   bool // there is a further page
	failed bool // its partition, or SQS, refuses: the rest is for the next run
	stuck  bool // nothing of the last page could be deleted
}

func (l lane) done() bool { return l.failed || !l.more && len(l.keys) == 0 }

// left reports whether items are left to look at.
func left(lanes [backlog.DueShards]lane) bool {
	return slices.ContainsFunc(lanes[:], func(l lane) bool { return !l.done() })
}

// read reads the next page of a shard's keys.
func (d *due) read(ctx context.Context, shard int) error {
	l := &d.lanes[shard]
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
	d.work(ctx, "reading due deliveries", until, &d.lanes, d.moves)
	return left(d.lanes)
}

// work carries out the moves of lanes, side by side.
func (d *due) work(
	ctx context.Context, doing string, until time.Time, shards *[backlog.DueShards]lane,
	movesOf func(context.Context, dynamo.Page) ([]move, error),
) {
	errs := parallel.Each(len(shards), len(shards), func(shard int) error {
		for l := &shards[shard]; !l.done() && d.h.Now().Before(until); {
			if len(l.keys) == 0 {
				if err := d.read(ctx, shard); err != nil {
					return err
				}
				continue
			}
			if err := d.page(ctx, l, movesOf); err != nil {
				return err
			}
		}
		return nil
	})
	for shard, err := range errs {
		if err != nil {
			shards[shard].failed = true
			d.t.fault(ctx, doing, err)
		}
	}
}

// page carries out the moves of a lane's next items, but of none whose partition has refused a change.
func (d *due) page(
	ctx context.Context, l *lane, movesOf func(context.Context, dynamo.Page) ([]move, error),
) error {
	page := l.keys[:min(len(l.keys), sizeOf(l.stuck))]
	var keys []backlog.Key
	for _, one := range page {
		if !d.out.refuses(one.EndpointID, one.Shard) {
			keys = append(keys, one.Key)
		}
	}
	found, err := d.h.Backlog.BatchGet(ctx, keys) // no call for no keys
	if err != nil {
		return err
	}
	moves, err := movesOf(ctx, found)
	if err != nil {
		return err
	}
	l.keys = l.keys[len(page):]
	if len(moves) > 0 {
		done, refused := d.out.carry(ctx, moves)
		l.stuck, l.failed = done == 0, refused
	}
	return nil
}

// moves are for the items that wait for their schedule. The index may be behind: an item may have another due time by
// now.
func (d *due) moves(ctx context.Context, found dynamo.Page) (moves []move, _ error) {
	d.t.see(ctx, found)
	now := d.h.Now()
	for _, i := range found.Items {
		switch {
		case i.DueAt.After(d.until):
		case !i.Held && i.Message.Attempts < d.h.Schedule.Last():
			d.t.late(now.Sub(i.DueAt))
			moves = append(moves, move{kind: kindDue, item: i, delay: i.DueAt.Sub(now)})
		case !i.DueAt.After(now):
			d.end(i)
		}
	}
	return moves, nil
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
