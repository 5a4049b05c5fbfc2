package awsmodel

import (
	"cmp"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/dynamo"
)

// Backlog is the table Backlog with its index by due time, which learns of a change Lag after it was
// made. Reads by key are strongly consistent, as are those of a shard.
type Backlog struct {
	Items map[backlog.Key]backlog.Item
	Lag   time.Duration
	index map[backlog.Key][]indexed // what it has been told, oldest first
}

type indexed struct {
	due   time.Time
	gone  bool
	since time.Time // when the index learns of it
}

// NewBacklog returns an empty table.
func NewBacklog() *Backlog {
	return &Backlog{Items: map[backlog.Key]backlog.Item{}, index: map[backlog.Key][]indexed{}}
}

// Put stores an item, whatever was stored under its key.
func (b *Backlog) Put(i backlog.Item, now time.Time) {
	b.Items[i.Key] = i
	b.tell(i.Key, indexed{due: i.DueAt, since: now.Add(b.Lag)})
}

// Delete removes an item, if it is there.
func (b *Backlog) Delete(k backlog.Key, now time.Time) {
	if _, found := b.Items[k]; found {
		delete(b.Items, k)
		b.tell(k, indexed{gone: true, since: now.Add(b.Lag)})
	}
}

// Redate gives an item another due time, if it is there.
func (b *Backlog) Redate(k backlog.Key, due time.Time, held bool, now time.Time) (found bool) {
	i, found := b.Items[k]
	if found {
		i.DueAt, i.Held = backlog.Ceil(due), held
		b.Put(i, now)
	}
	return found
}

func (b *Backlog) tell(k backlog.Key, what indexed) { b.index[k] = append(b.index[k], what) }

// Heard calls visit with every key that the index has been told of, and with the due time that it
// knows by now; found is false where it knows none yet, or none any more.
func (b *Backlog) Heard(now time.Time, visit func(k backlog.Key, due time.Time, found bool)) {
	for k := range b.index {
		due, found := b.heard(k, now)
		visit(k, due, found)
	}
}

// NextHeard is when the index hears next of a change that was made before now; zero: it knows them all.
func (b *Backlog) NextHeard(now time.Time) (next time.Time) {
	for _, told := range b.index {
		for _, what := range told {
			if what.since.After(now) && (next.IsZero() || what.since.Before(next)) {
				next = what.since
			}
		}
	}
	return next
}

func (b *Backlog) heard(k backlog.Key, now time.Time) (due time.Time, found bool) {
	told := b.index[k]
	for len(told) > 1 && !told[1].since.After(now) {
		told = told[1:]
	}
	b.index[k] = told
	if told[0].since.After(now) {
		return due, false
	}
	if told[0].gone {
		if len(told) == 1 {
			delete(b.index, k)
		}
		return due, false
	}
	return told[0].due, true
}

// ReadShard returns the items of an endpoint's shard behind a position, the oldest deliveries first.
func (b *Backlog) ReadShard(endpointID string, shard int, after string, limit int) (page dynamo.Page) {
	for k, i := range b.Items {
		if k.EndpointID == endpointID && k.Shard == shard && k.Position > after {
			page.Items = append(page.Items, i)
		}
	}
	slices.SortFunc(page.Items, func(a, b backlog.Item) int { return cmp.Compare(a.Position, b.Position) })
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		page.Next = page.Items[limit-1].Position
	}
	return page
}

// Due returns what the index knows to be due in a shard of it until then, the earliest first, and no
// more of it than limit.
func (b *Backlog) Due(shard int, until time.Time, limit int, now time.Time) (due []dynamo.Due) {
	b.Heard(now, func(k backlog.Key, at time.Time, found bool) {
		if found && k.DueShard() == shard && !at.After(until) {
			due = append(due, dynamo.Due{Key: k, DueAt: at})
		}
	})
	slices.SortFunc(due, func(a, b dynamo.Due) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.Position, b.Position))
	})
	return due[:min(len(due), limit)]
}

// BatchGet returns those of the items that are there.
func (b *Backlog) BatchGet(keys []backlog.Key) (page dynamo.Page) {
	for _, k := range keys {
		if i, found := b.Items[k]; found {
			page.Items = append(page.Items, i)
		}
	}
	return page
}
