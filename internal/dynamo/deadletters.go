package dynamo

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/job"
)

// DeadLetters keeps dead letters, sealed parts included. Every write is one conditional UpdateItem or DeleteItem.
// Recording a death reads nothing, since the function deadletter has no right to read.
type DeadLetters struct {
	table

	// kept is the time after a death for which its record is kept; 0 keeps it for ever.
	kept time.Duration
}

// NewDeadLetters returns the store on a table.
func NewDeadLetters(client *dynamodb.Client, name string) *DeadLetters {
	return &DeadLetters{table: table{client, name}}
}

// KeepDead returns the store with another life for its records, which begins at a death. A record with a life of 0
// never expires.
func (d *DeadLetters) KeepDead(life time.Duration) *DeadLetters {
	return &DeadLetters{d.table, life}
}

// deadLetterRow is a record as it is stored.
type deadLetterRow struct {
	deadletter.Record
	deadletter.Sealed

	// StatusShard is the hash key of statusIndex.
	StatusShard string `dynamodbav:"status_shard"`

	// ExpiresAt is the attribute of DynamoDB's time to live, in Unix seconds.
	ExpiresAt int64 `dynamodbav:"expires_at,omitempty"`
}

// statusIndex is sharded, because thousands of dead letters or replays may get the same status at once.
const statusIndex = "by-status"

// statusShard is the partition of a dead letter with that status in statusIndex.
func statusShard(status deadletter.Status, deliveryID string) string {
	return shardName(string(status), backlog.Shard(deliveryID))
}

// row is the row of a first death. It expires where the stack keeps dead letters for a time.
func (d *DeadLetters) row(r deadletter.Record) deadLetterRow {
	r.Status, r.UpdatedAt = deadletter.Dead, r.DiedAt
	row := deadLetterRow{Record: r, Sealed: r.Sealed, StatusShard: statusShard(r.Status, r.DeliveryID)}
	if d.kept > 0 {
		row.ExpiresAt = r.DiedAt.Add(d.kept).Unix()
	}
	return row
}

func deadLetterKey(deliveryID string) attributes {
	return attributes{"delivery_id": str(deliveryID)}
}

// deadLetterOf reads a row. The sealed parts are in it as they were stored; only a Vault opens them.
func deadLetterOf(item attributes) (deadletter.Record, error) {
	var row deadLetterRow
	err := unmarshal(item, &row)
	row.Record.Sealed = row.Sealed
	return row.Record, err
}

// firstDeath and laterDeath are the attributes that a death sets.
var (
	firstDeath = namesOf[deadLetterRow]("delivery_id", "job_id")
	laterDeath = []string{
		"status", "status_shard", "reason", "attempts", "last_status", "replay", "died_at", "updated_at", "expires_at",
		"history",
	}
)

// Create stores a first death: r with its sealed body and one history entry. written is false if a record exists.
func (d *DeadLetters) Create(ctx context.Context, r deadletter.Record) (written bool, err error) {
	// After a purge, the delivery can die again in a later life. The count of replays goes on from there.
	r.ReplayCount = r.Replay
	_, written, err = d.updateRow(ctx, deadLetterKey(r.DeliveryID), row{
		from: d.row(r), owned: firstDeath, condition: condition{holds: "attribute_not_exists(delivery_id)"},
	})
	return written, err
}

// Append adds a later death of a replayed delivery: r with its one new history entry, sealed as the n-th. The record is
// dead again. If written is false, seen is the stored record. Then one of these is true:
//
//   - There is no record.
//   - The record has this death or a later one. Each replay dies once, however often its message is received.
//   - The record does not have n-1 deaths.
func (d *DeadLetters) Append(
	ctx context.Context, r deadletter.Record, n int,
) (written bool, seen deadletter.Record, err error) {
	item, written, err := d.updateRow(ctx, deadLetterKey(r.DeliveryID), row{
		from: d.row(r), owned: laterDeath, appends: "history",
		condition: condition{"#replay < :replay AND size(#history) = :before", given{":before": n - 1}},
	})
	if err != nil || written {
		return written, seen, err
	}
	seen, err = deadLetterOf(item)
	return sameDeath(seen, r), seen, err
}

// sameDeath reports whether r's death is the last death of seen. It compares the seals, since no two seals are equal.
func sameDeath(seen, r deadletter.Record) bool {
	last := len(seen.Sealed.History) - 1
	return last >= 0 && slices.Equal(seen.Sealed.History[last].Sealed, r.Sealed.History[0].Sealed)
}

// Claim claims r, as Get returned it, for a replay by an operator or by their job. It returns the replay's number.
// fresh is false if the claim resumes a replay that broke off: the message of that replay may be on its way. ok is
// false if r is neither dead nor stale, or has changed since it was read.
func (d *DeadLetters) Claim(
	ctx context.Context, r deadletter.Record, operator, jobID string, now time.Time,
) (replay int, fresh, ok bool, err error) {
	replay, fresh, ok = r.Claim(now)
	if !ok {
		return 0, false, false, nil
	}
	claimed := claimRow{Record: r, By: operator, Claim: rand.Text()}
	claimed.Status, claimed.ReplayCount = deadletter.Replaying, replay
	claimed.StatusShard = statusShard(deadletter.Replaying, r.DeliveryID)
	claimed.UpdatedAt, claimed.JobID = now, jobID
	unchanged := asRead(r)
	unchanged.holds += " AND #replay_count = :seen_count"
	unchanged.values[":seen_count"] = r.ReplayCount
	_, ok, err = d.updateRow(ctx, deadLetterKey(r.DeliveryID), row{
		from: claimed, owned: claimAttributes, condition: unchanged,
	})
	return replay, fresh, ok, err
}

// claimRow is a record that is claimed for a replay.
type claimRow struct {
	deadletter.Record
	StatusShard string `dynamodbav:"status_shard"`
	By          string `dynamodbav:"replayed_by"`

	// Claim is random. It tells apart two claims by operators of the same name in the same millisecond.
	Claim string `dynamodbav:"claim"`
}

var claimAttributes = []string{"status", "status_shard", "replay_count", "updated_at", "replayed_by", "claim", "job_id"}

// EndReplay ends a claimed replay. The status is replayed if the message is on the queue, and otherwise dead. EndReplay
// changes nothing if the record has changed since the claim, as when the replay has died already.
func (d *DeadLetters) EndReplay(
	ctx context.Context, deliveryID string, replay int, status deadletter.Status, now time.Time,
) error {
	_, _, err := d.updateItem(ctx, deadLetterKey(deliveryID), update{
		expression: "SET #status = :status, status_shard = :shard, updated_at = :now",
		condition:  "#status = :replaying AND replay_count = :replay",
		values: given{
			":status": status, ":shard": statusShard(status, deliveryID), ":now": now,
			":replaying": deadletter.Replaying, ":replay": replay,
		},
	})
	return err
}

// Purge deletes r, as Get returned it. deleted is false if the record has changed since it was read. A missing record
// counts as deleted.
func (d *DeadLetters) Purge(ctx context.Context, r deadletter.Record) (deleted bool, err error) {
	return d.deleteItem(ctx, deadLetterKey(r.DeliveryID), asRead(r))
}

// asRead is the condition that a record has not changed since r was read.
func asRead(r deadletter.Record) condition {
	return condition{
		"#status = :seen_status AND #updated_at = :seen_at",
		given{":seen_status": r.Status, ":seen_at": r.UpdatedAt},
	}
}

// Get returns a dead letter with its sealed parts, strongly consistent.
func (d *DeadLetters) Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error) {
	item, err := d.getItem(ctx, deadLetterKey(deliveryID), "")
	if err != nil || len(item) == 0 {
		return r, false, err
	}
	r, err = deadLetterOf(item)
	return r, err == nil, err
}

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
}

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

// ErrSelector is returned for a selection without an index. Only a scan of the table could make it.
var ErrSelector = errors.New("dead letters are selected by endpoint, tenant or status")

// selection makes the Query for a selector, on the index with the fewest records. The indexes have all attributes
// except the sealed parts, because sealed bodies would make each page large.
func selection(s job.Selector) (q sharded, err error) {
	since, until := s.Since, endOfTime
	if !s.Until.IsZero() {
		until = s.Until.Add(-time.Millisecond)
	}
	if until.Before(since) {
		// DynamoDB refuses a range that ends before it begins. This range is valid and empty.
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

// endOfTime is later than every stored time.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
