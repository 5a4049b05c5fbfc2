// Package backlog describes the items of the table Backlog: deliveries that wait a long time for their
// schedule, or wait for their endpoint.
//
// It promises that every message makes an item with another key, so that the deletion of a sent item removes no other.
// Under one key only a later put replaces an item, so that StoredAt tells which put an item is from. The items of an
// endpoint sort by the age of their deliveries. Rounding never makes a due time earlier. Package circuit decides about
// items.
//
// DynamoDB may carry out a call late, after its caller gave up, and SQS may deliver a message again whose put was not
// answered. So a call is carried out, or not, by the put that the stored item is from:
//
//	| call | none is stored | one of an earlier put | one of the same put | one of a later put |
//	|---|---|---|---|---|
//	| put | yes | yes | no | no |
//	| deletion, or putting back for the schedule | no | no | yes | no |
//
// A put that finds its own item is done. Any other that is refused counts as not stored: the stored item may be older,
// by a clock that is ahead, and about to be deleted. The message then waits on a queue, and its next receive puts it
// at a later time.
package backlog

import (
	"errors"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

const (
	// Shards is the number of partitions of one endpoint's items, by delivery.
	Shards = 8
	// DueShards is the number of partitions of the index by due time, by item.
	DueShards = 16
)

// timeFormat sorts as text and has always the same length.
const timeFormat = "2006-01-02T15:04:05.000Z"

// Key names one item.
type Key struct {
	EndpointID string

	// Shard is 0 to 7.
	Shard int

	// Position sorts the items of a shard by the age of their deliveries.
	Position string
}

// Item is one delivery that waits.
type Item struct {
	Key
	Message   delivery.Message // as it is sent on: Attempts and Life as of the put
	StoredAt  time.Time
	DueAt     time.Time // when it is sent; of a held item: the end of its life
	Held      bool      // waits for its endpoint, not for its schedule
	NotBefore time.Time // the receiver's Retry-After; zero: none
}

// New returns the item for a delivery that moves to Backlog. put tells messages of the same delivery apart: it has 8
// characters or more, and no '#'.
func New(m delivery.Message, move delivery.Move, storedAt time.Time, put string) Item {
	m.Attempts, m.Life = move.Attempts, move.Life
	m.CreatedAt, m.OccurredAt = m.CreatedAt.UTC().Truncate(time.Millisecond), m.OccurredAt.UTC().Truncate(time.Millisecond)
	return Item{
		Key:       Key{EndpointID: m.EndpointID, Shard: Shard(m.DeliveryID), Position: position(m.Ref, put)},
		Message:   m,
		StoredAt:  storedAt.UTC().Truncate(time.Millisecond),
		DueAt:     Ceil(move.Due),
		Held:      move.Held,
		NotBefore: Ceil(move.NotBefore),
	}
}

// Replaces reports whether a put of i takes the place of was, the item that is stored under its key. Only a later put
// does. A try of an earlier one that comes late would bring its StoredAt back, and a deletion that was meant for the
// earlier item would remove what was put since.
func (i Item) Replaces(was Item) bool { return i.StoredAt.After(was.StoredAt) }

// SamePut reports whether i and stored are from one put. Only then an item, read as i, is deleted or put back: a later
// put may carry a delivery that is nowhere else.
func (i Item) SamePut(stored Item) bool { return i.StoredAt.Equal(stored.StoredAt) }

// Waiting is the item as decisions need it.
func (i Item) Waiting(s retry.Schedule) circuit.Waiting {
	return circuit.Waiting{
		Held: i.Held, StoredAt: i.StoredAt, DueAt: i.Message.Life.DueAt, NotBefore: i.NotBefore,
		Last:  i.Message.Attempts >= s.MaxRetries,
		Rated: i.Held && i.Message.Life.Reason == delivery.ReasonRateLimited,
	}
}

// PutBack returns the item as it waits for its schedule, and no longer for its endpoint.
func (i Item) PutBack() Item {
	i.DueAt, i.Held = Ceil(i.Message.Life.DueAt), false
	if i.NotBefore.After(i.DueAt) {
		i.DueAt = i.NotBefore
	}
	return i
}

// Shard is a delivery's partition of its endpoint's items.
func Shard(deliveryID string) int { return bucket(deliveryID, Shards) }

// DueShard is the partition of the index by due time that the item is in.
func (k Key) DueShard() int { return bucket(k.Position, DueShards) }

func bucket(s string, buckets uint32) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // never fails
	return int(h.Sum32() % buckets)
}

// position sorts an endpoint's items by the age of their deliveries, and is never used twice: created_at, delivery
// id, replay and put, which keeps messages of one delivery apart.
func position(ref delivery.Ref, put string) string {
	return Before(ref.CreatedAt) + "#" + ref.DeliveryID + "#" + strconv.Itoa(ref.Replay) + "#" + put
}

// Before sorts after every position of a delivery that was created before at, and before every
// other.
func Before(at time.Time) string { return at.UTC().Format(timeFormat) }

// ErrPosition is returned for a text that is no item's position.
var ErrPosition = errors.New("invalid position")

// Parse returns the delivery's id, created_at and replay. None of a position's four parts has a '#': a delivery's
// id is msg_ and base32.
func Parse(position string) (delivery.Ref, error) {
	parts := strings.Split(position, "#")
	if len(parts) != 4 || parts[1] == "" {
		return delivery.Ref{}, ErrPosition
	}
	createdAt, err := time.Parse(timeFormat, parts[0])
	replay, failed := strconv.Atoi(parts[2])
	if err != nil || failed != nil || replay < 0 {
		return delivery.Ref{}, ErrPosition
	}
	return delivery.Ref{DeliveryID: parts[1], CreatedAt: createdAt, Replay: replay}, nil
}

// Ceil rounds up to the millisecond, which is the precision of the table. Zero stays zero.
func Ceil(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	whole := at.UTC().Truncate(time.Millisecond)
	if whole.Before(at) {
		whole = whole.Add(time.Millisecond)
	}
	return whole
}
