package model

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Backlog is the table Backlog with its index by due time, which learns of a change Lag after it was made. Reads by
// key or shard are strongly consistent.
type Backlog struct {
	Items map[backlog.Key]backlog.Item
	Lag   time.Duration
	Peak  int // items

	shards map[partition][]backlog.Key // by position
	broken map[backlog.Key]bool        // that cannot be read
	index  [backlog.DueShards]index
}

type partition struct {
	endpoint string
	shard    int
}

// index is one shard of the index by due time.
type index struct {
	rows    []dynamo.Due // by due time
	changes []change     // that it has not been told of, oldest first
}

type change struct {
	row   dynamo.Due
	gone  bool
	since time.Time
}

// NewBacklog returns an empty table.
func NewBacklog() *Backlog {
	return &Backlog{
		Items: map[backlog.Key]backlog.Item{}, shards: map[partition][]backlog.Key{}, broken: map[backlog.Key]bool{},
	}
}

func byPosition(a, b backlog.Key) int { return cmp.Compare(a.Position, b.Position) }

func rowOf(i backlog.Item) dynamo.Due {
	return dynamo.Due{Key: i.Key, TenantID: i.Message.TenantID, DueAt: i.DueAt, Held: i.Held}
}

func byDue(a, b dynamo.Due) int { return cmp.Or(a.DueAt.Compare(b.DueAt), byPosition(a.Key, b.Key)) }

// Put stores an item, unless another that was put at the same time or later is stored.
func (b *Backlog) Put(i backlog.Item, now time.Time) error {
	i.Message.Life = kept(i.Message.Life)
	was, found := b.Items[i.Key]
	switch {
	case !found, i.Replaces(was):
		b.Set(i, now)
	case !reflect.DeepEqual(was, i):
		return dynamo.ErrPutAgain
	}
	return nil
}

// Set stores an item in place of any other under its key.
func (b *Backlog) Set(i backlog.Item, now time.Time) {
	was, found := b.Items[i.Key]
	b.Items[i.Key] = i
	b.Peak = max(b.Peak, len(b.Items))
	if found {
		b.tell(change{rowOf(was), true, now.Add(b.Lag)})
	} else {
		p := partition{i.EndpointID, i.Shard}
		at, _ := slices.BinarySearchFunc(b.shards[p], i.Key, byPosition)
		b.shards[p] = slices.Insert(b.shards[p], at, i.Key)
	}
	b.tell(change{rowOf(i), false, now.Add(b.Lag)})
}

// kept is a life as the table keeps it: its times in milliseconds.
func kept(l delivery.Life) delivery.Life {
	inMillis(&l.StartedAt, &l.DueAt, &l.Probe)
	return l
}

// Delete removes an item as it was read, if it is there.
func (b *Backlog) Delete(i backlog.Item, now time.Time) error {
	k := i.Key
	was, found := b.Items[k]
	switch {
	case !found:
		return nil
	case !i.SamePut(was):
		return dynamo.ErrPutAgain
	}
	delete(b.Items, k)
	p := partition{k.EndpointID, k.Shard}
	if at, found := slices.BinarySearchFunc(b.shards[p], k, byPosition); found {
		b.shards[p] = slices.Delete(b.shards[p], at, at+1)
	}
	b.tell(change{rowOf(was), true, now.Add(b.Lag)})
	return nil
}

// PutBack gives an item as it was read its due time and makes it wait for it, if it is there.
func (b *Backlog) PutBack(item backlog.Item, now time.Time) (found bool) {
	i, found := b.Items[item.Key]
	if !found || !item.SamePut(i) {
		return false
	}
	i.DueAt, i.Held = item.DueAt, false
	b.Set(i, now)
	return true
}

func (b *Backlog) tell(c change) {
	x := &b.index[c.row.DueShard()]
	x.changes = append(x.changes, c)
}

func (x *index) apply(c change) {
	at, found := slices.BinarySearchFunc(x.rows, c.row, byDue)
	switch {
	case c.gone && found:
		x.rows = slices.Delete(x.rows, at, at+1)
	case !c.gone && !found:
		x.rows = slices.Insert(x.rows, at, c.row)
	}
}

// hear applies the changes that the index learns of by now.
func (x *index) hear(now time.Time) {
	for len(x.changes) > 0 && !x.changes[0].since.After(now) {
		x.apply(x.changes[0])
		x.changes = x.changes[1:]
	}
}

// NextDue is the earliest due time that the index knows or will hear of; zero: none.
func (b *Backlog) NextDue(now time.Time) (next time.Time) {
	sooner := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for n := range b.index {
		x := &b.index[n]
		x.hear(now)
		if len(x.rows) > 0 {
			sooner(x.rows[0].DueAt)
		}
		for _, c := range x.changes {
			sooner(c.row.DueAt)
		}
	}
	return next
}

// ReadShard returns the items of an endpoint's shard behind a position, the oldest deliveries first.
func (b *Backlog) ReadShard(endpointID string, shard int, after string, limit int) (page dynamo.Page) {
	keys := b.shards[partition{endpointID, shard}]
	from, found := slices.BinarySearchFunc(keys, backlog.Key{Position: after}, byPosition)
	if found {
		from++
	}
	for _, k := range keys[from:min(from+limit, len(keys))] {
		page = b.add(page, k)
	}
	if from+limit <= len(keys) { // a page that is full has another behind it, which may be empty
		page.Next = keys[from+limit-1].Position
	}
	return page
}

// add is the page with an item, or with the key of one that cannot be read.
func (b *Backlog) add(page dynamo.Page, k backlog.Key) dynamo.Page {
	if b.broken[k] {
		page.Unreadable = append(page.Unreadable, k)
		return page
	}
	page.Items = append(page.Items, b.Items[k])
	return page
}

// Due returns the keys that the index knows to be due in a shard until then, the earliest first, at most
// limit behind the cursor.
func (b *Backlog) Due(
	shard int, until time.Time, limit int, cursor string,
) (due []dynamo.Due, next string, err error) {
	x := &b.index[shard]
	x.hear(time.Now())
	from := 0
	if cursor != "" {
		at, position, ok := cutCursor(cursor)
		if !ok {
			return nil, "", dynamo.ErrCursor
		}
		last := dynamo.Due{Key: backlog.Key{Position: position}, DueAt: at}
		from, _ = slices.BinarySearchFunc(x.rows, last, byDue)
		if from < len(x.rows) && byDue(x.rows[from], last) == 0 {
			from++
		}
	}
	for _, row := range x.rows[from:] {
		if row.DueAt.After(until) {
			break
		}
		due = append(due, row)
		if len(due) == limit {
			return due, row.DueAt.Format(time.RFC3339Nano) + " " + row.Position, nil
		}
	}
	return due, "", nil
}

func cutCursor(cursor string) (at time.Time, position string, ok bool) {
	text, position, ok := strings.Cut(cursor, " ")
	if !ok {
		return at, "", false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, position, err == nil
}

// BatchGet returns the items with these keys that are there, each once.
func (b *Backlog) BatchGet(keys []backlog.Key) (page dynamo.Page) {
	seen := make(map[backlog.Key]bool, len(keys))
	for _, k := range keys {
		if _, found := b.Items[k]; found && !seen[k] {
			seen[k] = true
			page = b.add(page, k)
		}
	}
	return page
}

// Held is the number of items that wait for their endpoint; id "" counts all endpoints'.
func (b *Backlog) Held(id string) (held int) {
	for _, i := range b.Items {
		if i.Held && (id == "" || i.EndpointID == id) {
			held++
		}
	}
	return held
}
