package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/dynamo"
)

// lane is one shard of the index by due time: what is due there, earliest first. Lanes are independent
// of each other.
type lane struct {
	*tick
	shard  int
	keys   []dynamo.Due // read and not yet looked at
	cursor string
	last   bool // there is no further page
	failed bool // its partition, or SQS, refuses: the rest is for the next tick
}

func (l *lane) done() bool { return l.failed || l.last && len(l.keys) == 0 }

// sendDue sends what is due by its schedule. What is due but held by its endpoint goes to endLives.
func (t *tick) sendDue(ctx context.Context, until time.Time) (left bool) {
	t.each(ctx, "reading what is due", len(t.due), func(i int) error {
		for l := t.due[i]; !l.done() && t.inTime(until); {
			if err := l.step(ctx); err != nil {
				l.failed = true
				return err
			}
		}
		return nil
	})
	return t.unread()
}

// unread reports whether something due was not looked at that could be.
func (t *tick) unread() bool {
	for _, l := range t.due {
		if !l.done() {
			return true
		}
	}
	return false
}

// readKeys reads the next page of keys, and orders them so that endpoints take turns.
func (l *lane) readKeys(ctx context.Context) error {
	found, next, err := l.Due.Due(ctx, l.shard, l.began.Add(l.Thresholds.Ahead), keysSize, l.cursor)
	if err != nil {
		l.failed = true
		return err
	}
	l.cursor, l.last = next, next == ""
	l.keys = inTurn(found)
	return nil
}

// step looks at the next items, and hands over those whose endpoints hold them.
func (l *lane) step(ctx context.Context) error {
	if len(l.keys) == 0 {
		if err := l.readKeys(ctx); err != nil {
			return err
		}
	}
	before := l.keys
	var keys []backlog.Key
	for len(l.keys) > 0 && len(keys) < pageSize {
		d := l.keys[0]
		l.keys = l.keys[1:]
		if e := l.met(d.EndpointID); e != nil && e.holds() {
			l.handOver(e, d)
		} else if !l.skips(e, d) {
			keys = append(keys, d.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	moves, err := l.decide(ctx, keys)
	if err != nil {
		l.keys = before // so that report counts them as late
		return err
	}
	l.failed = !l.carry(ctx, moves)
	return nil
}

// These bound the keys in memory, of all endpoints and of each of a class. What is beyond is found again
// by the next tick.
const (
	maxEnding     = 50_000
	maxEndingEach = 4_000
)

func (t *tick) handOver(e *destination, d dynamo.Due) {
	if !e.takesKey(t.Thresholds, d, t.Now()) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.ending) < maxEnding {
		t.ending = append(t.ending, d)
	}
}

func (t *tick) skips(e *destination, d dynamo.Due) bool {
	return t.refuses(d.Key) || e != nil && e.useless(t.Thresholds, d, t.Now())
}

// decide reads the items with these keys and their endpoints, and says what becomes of each.
func (t *tick) decide(ctx context.Context, keys []backlog.Key) ([]*move, error) {
	page, err := t.Due.BatchGet(ctx, keys)
	if err != nil {
		return nil, err
	}
	t.see(ctx, page)
	about := make([]dynamo.EndpointKey, len(page.Items))
	for n, i := range page.Items {
		about[n] = dynamo.EndpointKey{TenantID: i.Message.TenantID, EndpointID: i.EndpointID}
	}
	t.meet(ctx, about)
	var moves []*move
	for n, i := range page.Items {
		if m := t.scheduled(t.met(about[n].EndpointID), i); m != nil {
			moves = append(moves, m)
		}
	}
	return moves, nil
}

// inTurn orders keys so that endpoints take turns, each with its own in the order given.
func inTurn(keys []dynamo.Due) []dynamo.Due {
	var ids []string
	of := map[string][]dynamo.Due{}
	for _, d := range keys {
		if of[d.EndpointID] == nil {
			ids = append(ids, d.EndpointID)
		}
		of[d.EndpointID] = append(of[d.EndpointID], d)
	}
	ordered := make([]dynamo.Due, 0, len(keys))
	for round := 0; len(ordered) < len(keys); round++ {
		for _, id := range ids {
			if round < len(of[id]) {
				ordered = append(ordered, of[id][round])
			}
		}
	}
	return ordered
}
