package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
)

// paged is a page of a list.
type paged[T any] struct {
	page []T
	next string
	err  error
}

// behindKey begins a cursor, which ends with the key that the page ended at.
const behindKey = "behind "

// cut is a page of a sorted list. As in DynamoDB, a page that is full has another behind it, which may be empty.
func cut(sorted []string, limit int, cursor string) (p paged[string]) {
	from := 0
	if cursor != "" {
		last, ok := strings.CutPrefix(cursor, behindKey)
		if !ok {
			return paged[string]{err: dynamo.ErrCursor}
		}
		at, found := slices.BinarySearch(sorted, last)
		from = at
		if found {
			from++
		}
	}
	p.page = sorted[from:min(from+limit, len(sorted))]
	if len(p.page) == limit {
		p.next = behindKey + p.page[limit-1]
	}
	return p
}

// inMillis makes times as the tables keep them.
func inMillis(times ...*time.Time) {
	for _, at := range times {
		*at = at.UTC().Truncate(time.Millisecond)
	}
}

// newest sorts the later of two moments first.
func newest(at time.Time) string { return fmt.Sprintf("%020d", math.MaxInt64-at.UnixMilli()) }

// oldest sorts the earlier of two moments first.
func oldest(at time.Time) string { return fmt.Sprintf("%020d", at.UnixMilli()) }

// The kinds of items that can be broken.
const (
	brokenCircuit  = "circuit "
	brokenDelivery = "delivery "
	brokenLetter   = "letter "
	brokenEndpoint = "endpoint "
	brokenMarks    = "marks "
)

var errUnreadable = errors.New("a value of another type")

func (m *Model) breaks(name string) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.broken[name] = true
}

func (m *Model) readable(name string) error {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if m.broken[name] {
		return errUnreadable
	}
	return nil
}

// BreakCircuit makes the item of an endpoint unreadable.
func (m *Model) BreakCircuit(endpointID string) { m.breaks(brokenCircuit + endpointID) }

// BreakWaiting makes an item of Backlog unreadable, as one of a later release is.
func (m *Model) BreakWaiting(k backlog.Key) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.Backlog.broken[k] = true
}

// BreakDelivery makes the record of a delivery unreadable.
func (m *Model) BreakDelivery(id string) { m.breaks(brokenDelivery + id) }

// BreakLetter makes a dead letter unreadable.
func (m *Model) BreakLetter(id string) { m.breaks(brokenLetter + id) }

// BreakEndpoint makes the row of an endpoint unreadable.
func (m *Model) BreakEndpoint(key dynamo.EndpointKey) { m.breaks(brokenEndpoint + key.EndpointID) }

// BreakMarks makes the marks of a tenant unreadable.
func (m *Model) BreakMarks(tenantID string) { m.breaks(brokenMarks + tenantID) }
