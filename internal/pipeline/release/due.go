package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// due works through Backlog by due time. It sends deliveries by their schedule in any state of their endpoints, since
// deliver decides about them, and buries those that are over.
type due struct {
	index    Index
	mover    *mover
	burials  burials
	schedule retry.Schedule
	now      func() time.Time

	// began is the beginning of the run, and until the latest due time of an item that it sends.
	began, until time.Time
	// ahead are the shards of the index, as far as they are still to work on.
	ahead dueShards
	// over are the keys of items that are over, as the index or send has found. Bury reads those items, with their
	// endpoints.
	over dueShards
}

// decide decides on the items of a shard's page. An error means that a table refuses everything.
type decide func(ctx context.Context, shard int, found dynamo.Page) (decision, error)

// send sends the deliveries that are due.
func (d *due) send(ctx context.Context, until time.Time) (did counts, left bool) {
	did = d.goOn(ctx, "reading due deliveries", until, &d.ahead, d.scheduled)
	return did, d.ahead.left()
}

// bury ends the deliveries that are over. While more of them may be found, it is not done.
func (d *due) bury(ctx context.Context, until time.Time) (did counts, left bool) {
	for n := range d.over {
		// Each list has the keys of an endpoint in the order of their due times.
		d.over[n].keys = inTurn(kept(d.over[n].keys, d.ahead[n].dying...), ownerOf)
		d.ahead[n].dying = nil
	}
	did = d.goOn(ctx, "burying", until, &d.over, d.endings)
	return did, d.over.left() || d.ahead.left()
}

// goOn works through shards side by side until the time given. A shard with an error ends.
func (d *due) goOn(ctx context.Context, step string, until time.Time, all *dueShards, how decide) counts {
	var dids [backlog.DueShards]counts
	errs := parallel.Each(len(all), len(all), func(n int) (err error) {
		s := all[n]
		for !s.done() && d.now().Before(until) && err == nil {
			if len(s.keys) == 0 {
				s, err = s.read(ctx, d.index, d.began, d.until)
				continue
			}
			var did counts
			s, did = d.page(ctx, step, s, how)
			dids[n] = dids[n].plus(did)
		}
		all[n] = s
		return err
	})
	for n, err := range errs {
		if err != nil {
			all[n].ended = true
		}
	}
	return failed(step, errs...).plus(dids[:]...)
}

// page works on a shard's next keys: it reads their items, decides on them and carries the decision out. The partition
// of an item that cannot be read is left alone, since the table may throttle one tenant and serve the others.
func (d *due) page(ctx context.Context, step string, s dueShard, how decide) (dueShard, counts) {
	page, s := s.take()
	keys := d.allowed(page)
	if len(keys) == 0 {
		return s, counts{}
	}
	// Some items may be read while others are not. A decision needs more reads, which can be refused as a whole.
	found, readErr := d.index.BatchGet(ctx, keys)
	decided, err := how(ctx, s.number, found)
	unread := found.Unread
	if err != nil {
		unread = keys
	}
	d.mover.leave(unread...)
	d.mover.leave(decided.left...)
	did := failed(step, readErr, err).plus(decided.did, d.lateness(d.leftOf(page)))
	carried := d.mover.carry(ctx, decided.transfers)
	return s.after(pageResult{
		asked: len(keys), unread: len(unread), oneTenant: ofOneTenant(page),
		transfers: len(decided.transfers), carriedOut: carried.done, refused: carried.refused,
	}), did.plus(carried.did)
}

// ofOneTenant reports whether several keys are all of one tenant. In a page tenants take turns, so that its first and
// its last key tell.
func ofOneTenant(page []dynamo.Due) bool {
	return len(page) > 1 && page[0].TenantID == page[len(page)-1].TenantID
}

// allowed are the keys in partitions that have refused nothing.
func (d *due) allowed(page []dynamo.Due) (keys []backlog.Key) {
	for _, one := range page {
		if !d.mover.leaves(one.EndpointID, one.Shard) {
			keys = append(keys, one.Key)
		}
	}
	return keys
}

// leftOf are the keys of a page in partitions that are left to the next run.
func (d *due) leftOf(page []dynamo.Due) (left []dynamo.Due) {
	for _, one := range page {
		if d.mover.leaves(one.EndpointID, one.Shard) {
			left = append(left, one)
		}
	}
	return left
}

// lateness is the lateness of items that are not sent.
func (d *due) lateness(keys []dynamo.Due) (did counts) {
	now := d.now()
	for _, key := range keys {
		did = did.plus(late(now.Sub(key.DueAt)))
	}
	return did
}

// unsent is the lateness of everything that is left for want of time.
func (d *due) unsent() (did counts) {
	for n, s := range d.ahead {
		did = did.plus(d.lateness(s.keys), d.lateness(s.dying), d.lateness(d.over[n].keys))
	}
	return did
}

// scheduled decides on items that wait for their schedule. The index may be behind: an item may have another due time
// by now.
func (d *due) scheduled(_ context.Context, shard int, found dynamo.Page) (decision, error) {
	now := d.now()
	decided := decision{did: seen(found)}
	for _, i := range found.Items {
		switch {
		case i.DueAt.After(d.until): // it waits for longer by now
		case !i.Held && i.Message.Attempts < d.schedule.Last():
			decided.did = decided.did.plus(late(now.Sub(i.DueAt)))
			decided.transfers = append(decided.transfers, transfer{kind: kindDue, item: i, delay: i.DueAt.Sub(now)})
		case !i.DueAt.After(now):
			d.keep(i, shard)
		}
	}
	return decided, nil
}

// keep keeps the key of a delivery that is over for bury: its schedule is used up, because DeadLetterQueue refused it
// before, or it was held to the end of its life, which the index did not know.
func (d *due) keep(i backlog.Item, shard int) {
	key := dynamo.Due{Key: i.Key, TenantID: i.Message.TenantID, DueAt: i.DueAt}
	d.over[shard].keys = kept(d.over[shard].keys, key)
}

// endings decides on deliveries that are over.
func (d *due) endings(ctx context.Context, _ int, found dynamo.Page) (decision, error) {
	return d.burials.endings(ctx, found)
}
