package dynamo

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// LetterPage asks for a page of a list of dead letters, in the order of their latest deaths.
type LetterPage struct {
	// Limit is the number of dead letters on a page. A Query returns 1 MB at most, so a long page takes several of each
	// partition of the index.
	Limit int

	// Causes leaves all out of the records but their ids, endpoints, latest deaths and causes.
	Causes bool

	// Cursor is the end of the page before; "" asks for the first page.
	Cursor string

	// OldestFirst reverses the order. By default the newest death comes first.
	OldestFirst bool

	// Reads bounds the reads of each partition of the index. With 0, List reads until the page is full.
	Reads int

	// Most bounds the letters that are read, selected or not, in place of Reads.
	Most int
}

// ReadsAtOnce is the Reads of a search that goes on in another page. The selected letters may be few among all of the
// stack's: an invocation that read on until it has a full page would end before it has one.
const ReadsAtOnce = 10

// List returns dead letters without their sealed parts. Every page before the last is full, unless its reads are
// bounded. next is "" after the last page. The indexes may be a moment behind the table.
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
	if p.Causes {
		q.fields = causeFields
		if q.index == statusIndex {
			q.fields += ", status_shard"
		}
	}
	rounds := p.Reads
	if p.Most > 0 {
		each := q.limit * len(q.partitions)
		rounds = (p.Most + each - 1) / each
	}
	items, next, err := d.listSharded(ctx, q, p.Limit, rounds, p.Cursor)
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

// causeFields are the attributes of LetterPage.Causes, with the keys that all indexes have. DynamoDB refuses to read an
// attribute that the index lacks, and status_shard is in one alone. They make the answers smaller, and not the reads:
// DynamoDB counts whole items of the index.
const causeFields = "delivery_id, tenant_id, endpoint_id, died_at, #reason, last_status"

// filteredPage is the number of records that a Query with a filter reads. DynamoDB filters after it has cut the page,
// so few of the records on it may be left.
const filteredPage = 500

// Count returns the number of selected dead letters, and the time of the oldest latest death among them. Both are zero
// if there are none.
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

// ErrSelector is returned for a selection that no index serves. Only a scan of the table could make it.
var ErrSelector = errors.New("dead letters are selected by endpoint, tenant or status")

// selection makes the Query for a selector, on the index with the fewest records. The indexes have all attributes
// except the sealed parts, because sealed bodies would make each page large.
func selection(s job.Selector) (q sharded, err error) {
	died := s.Since
	if published := s.PublishedSince.Add(-skew); published.After(died) {
		died = published // nothing dies before it was published
	}
	since, until := between(died, s.Until)
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
		{"event_id", s.EventID, "", "", nil},
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
	filters = append(filters, byPublished(s, q.values)...)
	q.filter = strings.Join(filters, " AND ")
	return q, nil
}

// byPublished filters letters by the time at which their events were published.
func byPublished(s job.Selector, values given) (filters []string) {
	for _, end := range []struct {
		at              time.Time
		compares, value string
	}{{s.PublishedSince, ">=", ":published_since"}, {s.PublishedUntil, "<", ":published_until"}} {
		if !end.at.IsZero() {
			filters = append(filters, "#created_at "+end.compares+" "+end.value)
			values[end.value] = end.at
		}
	}
	return filters
}

// skew is more than the clock of a function differs from that of SQS, which tells when an event was published.
const skew = time.Minute

// between are the ends of a range of a sort key, both of them in it. Zero times select all.
func between(since, until time.Time) (from, to time.Time) {
	from, to = since, endOfTime
	if !until.IsZero() {
		to = until.Add(-time.Millisecond)
	}
	if to.Before(from) {
		// DynamoDB refuses a range that ends before it begins. This range is valid and empty.
		return endOfTime, endOfTime
	}
	return from, to
}

// endOfTime is later than every stored time.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
