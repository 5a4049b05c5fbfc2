package dynamo

import (
	"context"
	"errors"
	"strings"
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
	Reads       int    // at most so many of each partition of the index, 0 for as many as fill the page
}

// List returns dead letters without their sealed parts; next is "" after the last page, and
// every page before it is full, unless its reads are bounded. The indexes may be a moment behind.
func (d *DeadLetters) List(
	ctx context.Context, s job.Selector, p LetterPage,
) (records []deadletter.Record, next string, err error) {
	q, err := selection(s)
	if err != nil {
		return nil, "", err
	}
	read := p.Limit
	if q.filter != "" {
		read = filteredPage
	}
	q.backwards, q.limit = !p.OldestFirst, perShard(read, len(q.partitions))
	items, next, err := d.listSharded(ctx, q, p.Limit, p.Reads, p.Cursor)
	if err != nil {
		return nil, "", err
	}
	for _, item := range items {
		r, err := deadLetterOf(item)
		if err != nil {
			return nil, "", err
		}
		records = append(records, r)
	}
	return records, next, nil
}

// filteredPage is how many a filtered Query looks at: DynamoDB filters after it has cut the page, and few of many may
// be selected.
const filteredPage = 500

// Count returns the number of dead letters selected, and when the longest dead of them last died; zero
// for none.
func (d *DeadLetters) Count(ctx context.Context, s job.Selector) (n int, oldest time.Time, err error) {
	first, _, err := d.List(ctx, s, LetterPage{Limit: 1, OldestFirst: true})
	if err != nil || len(first) == 0 {
		return 0, time.Time{}, err
	}
	q, err := selection(s)
	if err != nil {
		return 0, time.Time{}, err
	}
	n, err = d.countSharded(ctx, q)
	return n, first[0].DiedAt, err
}

// ErrSelector is returned for a selection that only a scan of the table could make.
var ErrSelector = errors.New("dead letters are selected by endpoint, tenant or status")

// selection makes the Query of a selector on the index with the fewest records. The indexes hold everything but the
// sealed parts, which would make each page as heavy as the bodies.
func selection(s job.Selector) (q sharded, err error) {
	since, until := s.Since, endOfTime
	if !s.Until.IsZero() {
		until = s.Until.Add(-time.Millisecond)
	}
	if until.Before(since) { // DynamoDB refuses a range that ends before it begins
		since, until = endOfTime, endOfTime
	}
	q.values = given{":since": since, ":until": until}
	var filters []string
	for _, by := range []struct {
		attribute, value, index, hash string
		partitions                    []string
	}{
		{"endpoint_id", s.EndpointID, "by-endpoint", "endpoint_id", []string{s.EndpointID}},
		{"tenant_id", s.TenantID, "by-tenant", "tenant_id", []string{s.TenantID}},
		{"status", s.Status, statusIndex, "status_shard", shardsOf(s.Status)},
		{"reason", s.Reason, "", "", nil},
	} {
		switch {
		case by.value == "":
		case q.index == "" && by.index != "":
			q.index, q.partitions = by.index, by.partitions
			q.key = shardKey{hash: by.hash, sort: "died_at", id: "delivery_id"}
			q.condition = q.key.isPartition() + " AND died_at BETWEEN :since AND :until"
		default:
			filters = append(filters, "#"+by.attribute+" = :"+by.attribute)
			q.values[":"+by.attribute] = str(by.value)
		}
	}
	if q.index == "" {
		return sharded{}, ErrSelector
	}
	q.filter = strings.Join(filters, " AND ")
	return q, nil
}

// endOfTime is after every moment that is stored.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
