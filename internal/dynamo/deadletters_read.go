package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/job"
)

// Get returns a dead letter with its sealed parts, strongly consistent.
func (d *DeadLetters) Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error) {
	item, err := d.getItem(ctx, deadLetterKey(deliveryID), "")
	if err != nil || len(item) == 0 {
		return r, false, err
	}
	r, err = deadLetterOf(item)
	return r, err == nil, err
}

// LetterPage is a page of a list of dead letters, by the time of the latest death.
type LetterPage struct {
	Limit       int    // at most 100
	Cursor      string // "": the first page
	OldestFirst bool   // default newest first
	Reads       int    // at most so many of the table, 0 for as many as fill the page
}

// List returns dead letters without their sealed parts; next is "" after the last page, and
// every page before it is full, unless its reads are bounded. The indexes may be a moment behind.
func (d *DeadLetters) List(
	ctx context.Context, s job.Selector, p LetterPage,
) (records []deadletter.Record, next string, err error) {
	q, hash, err := selection(s)
	if err != nil {
		return nil, "", err
	}
	if q.start, err = decodeCursor(p.Cursor); err != nil {
		return nil, "", err
	}
	q.backwards, q.limit = !p.OldestFirst, p.Limit
	if q.filter != "" {
		q.limit = filteredPage
	}
	var items []attributes
	for read, more := 0, true; more && len(items) < p.Limit && (p.Reads == 0 || read < p.Reads); read++ {
		var found []attributes
		if found, q.start, err = d.query(ctx, q); err != nil {
			return nil, "", err
		}
		items, more = append(items, found...), len(q.start) > 0
	}
	if len(items) > p.Limit {
		items = items[:p.Limit]
		end := items[p.Limit-1]
		q.start = attributes{"delivery_id": end["delivery_id"], hash: end[hash], "died_at": end["died_at"]}
	}
	for _, item := range items {
		r, err := deadLetterOf(item)
		if err != nil {
			return nil, "", err
		}
		records = append(records, r)
	}
	return records, encodeCursor(q.start), nil
}

// filteredPage is the size of a filtered Query's pages: DynamoDB filters after it has cut the page, and
// few of many may be selected.
const filteredPage = 500

// Count returns the number of dead letters selected, and when the longest dead of them last died; zero
// for none.
func (d *DeadLetters) Count(ctx context.Context, s job.Selector) (n int, oldest time.Time, err error) {
	first, _, err := d.List(ctx, s, LetterPage{Limit: 1, OldestFirst: true})
	if err != nil || len(first) == 0 {
		return 0, time.Time{}, err
	}
	q, _, err := selection(s)
	if err != nil {
		return 0, time.Time{}, err
	}
	n, err = d.count(ctx, q)
	return n, first[0].DiedAt, err
}

// ErrSelector is returned for a selection that only a scan of the table could make.
var ErrSelector = errors.New("dead letters are selected by endpoint, tenant or status")

// selection makes the Query of a selector on the index with the fewest records, and names its hash key. The
// indexes hold everything but the sealed parts, which would make each page as heavy as the bodies.
func selection(s job.Selector) (q query, hash string, err error) {
	since, until := s.Since, endOfTime
	if !s.Until.IsZero() {
		until = s.Until.Add(-time.Millisecond)
	}
	if until.Before(since) { // DynamoDB refuses a range that ends before it begins
		since, until = endOfTime, endOfTime
	}
	q = query{values: given{":since": since, ":until": until}}
	for _, by := range []struct{ index, attribute, value string }{
		{"by-endpoint", "endpoint_id", s.EndpointID},
		{"by-tenant", "tenant_id", s.TenantID},
		{"by-status", "status", s.Status},
		{"", "reason", s.Reason},
	} {
		if by.value == "" {
			continue
		}
		equal := "#" + by.attribute + " = :" + by.attribute
		q.values[":"+by.attribute] = str(by.value)
		switch {
		case q.index == "" && by.index != "":
			q.index, hash = by.index, by.attribute
			q.condition = equal + " AND died_at BETWEEN :since AND :until"
		case q.filter == "":
			q.filter = equal
		default:
			q.filter += " AND " + equal
		}
	}
	if q.index == "" {
		return query{}, "", ErrSelector
	}
	return q, hash, nil
}

// endOfTime is after every moment that is stored.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
