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
// Recording a death reads nothing, since the function that does it may not.
type DeadLetters struct {
	table
	kept time.Duration // after a death; 0: for ever
}

// NewDeadLetters returns the store on a table.
func NewDeadLetters(client *dynamodb.Client, name string) *DeadLetters {
	return &DeadLetters{table: table{client, name}}
}

// KeepDead returns the store whose records expire so long after a death; 0: never.
func (d *DeadLetters) KeepDead(life time.Duration) *DeadLetters {
	return &DeadLetters{d.table, life}
}

// deadLetterRow is a record as it is stored.
type deadLetterRow struct {
	deadletter.Record
	deadletter.Sealed
	StatusShard string `dynamodbav:"status_shard"`         // key of statusIndex
	ExpiresAt   int64  `dynamodbav:"expires_at,omitempty"` // of DynamoDB's time to live
}

// statusIndex is sharded: in a mass of deaths, and of replays, all have one status.
const statusIndex = "by-status"

// statusShard is the partition of statusIndex of a dead letter with that status.
func statusShard(status deadletter.Status, deliveryID string) string {
	return shardName(string(status), backlog.Shard(deliveryID))
}

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

// Create stores a first death: r with its sealed body and one history entry. written is false
// when the record exists.
func (d *DeadLetters) Create(ctx context.Context, r deadletter.Record) (written bool, err error) {
	r.ReplayCount = r.Replay // a purged record can die again in a later life
	_, written, err = d.updateItem(ctx, deadLetterKey(r.DeliveryID), write{
		row: d.row(r), owned: firstDeath, condition: "attribute_not_exists(delivery_id)",
	})
	return written, err
}

// Append adds a later death of a replayed delivery: r with its one new history entry, sealed as the n-th.
// The record is dead again. Where written is false, seen is the record as it stands: there is none, or it
// has this death or a later one (each replay dies once, however often its message is received), or it has
// not n-1 deaths.
func (d *DeadLetters) Append(
	ctx context.Context, r deadletter.Record, n int,
) (written bool, seen deadletter.Record, err error) {
	item, written, err := d.updateItem(ctx, deadLetterKey(r.DeliveryID), write{
		row: d.row(r), owned: laterDeath, appends: "history",
		condition: "#replay < :replay AND size(#history) = :before", values: given{":before": n - 1},
	})
	if err != nil || written {
		return written, seen, err
	}
	seen, err = deadLetterOf(item)
	return sameDeath(seen, r), seen, err
}

// sameDeath reports whether r's death is the last of seen. No seal is made twice.
func sameDeath(seen, r deadletter.Record) bool {
	last := len(seen.Sealed.History) - 1
	return last >= 0 && slices.Equal(seen.Sealed.History[last].Sealed, r.Sealed.History[0].Sealed)
}

// Claim takes r, as Get returned it, for a replay by an operator or by their job, and returns the replay's
// number. fresh is false when it resumes a replay that broke off, whose message may be on its way. ok is false
// when r is neither dead nor stale, or changed since it was read.
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
	w := write{row: claimed, owned: claimAttributes}.ifUnchanged(r)
	w.condition += " AND #replay_count = :seen_count"
	w.values[":seen_count"] = r.ReplayCount
	_, ok, err = d.updateItem(ctx, deadLetterKey(r.DeliveryID), w)
	return replay, fresh, ok, err
}

// claimRow is a record that is claimed for a replay.
type claimRow struct {
	deadletter.Record
	StatusShard string `dynamodbav:"status_shard"`
	By          string `dynamodbav:"replayed_by"`
	Claim       string `dynamodbav:"claim"` // two operators of one name may ask in the same millisecond
}

var claimAttributes = []string{"status", "status_shard", "replay_count", "updated_at", "replayed_by", "claim", "job_id"}

// EndReplay ends a claimed replay: replayed when its message is on the queue, else dead again. It changes
// nothing when the record moved on meanwhile, as when the replay has died already.
func (d *DeadLetters) EndReplay(
	ctx context.Context, deliveryID string, replay int, status deadletter.Status, now time.Time,
) error {
	_, _, err := d.updateItem(ctx, deadLetterKey(deliveryID), write{
		expression: "SET #status = :status, status_shard = :shard, updated_at = :now",
		condition:  "#status = :replaying AND replay_count = :replay",
		values: given{
			":status": status, ":shard": statusShard(status, deliveryID), ":now": now,
			":replaying": deadletter.Replaying, ":replay": replay,
		},
	})
	return err
}

// Purge deletes r, as Get returned it. deleted is false when it changed since it was read; one that is gone
// is deleted.
func (d *DeadLetters) Purge(ctx context.Context, r deadletter.Record) (deleted bool, err error) {
	return d.deleteItem(ctx, deadLetterKey(r.DeliveryID), write{}.ifUnchanged(r))
}

// ifUnchanged is the write on the condition that nobody has changed r since it was read.
func (w write) ifUnchanged(r deadletter.Record) write {
	w.condition = "#status = :seen_status AND #updated_at = :seen_at"
	w.values = given{":seen_status": r.Status, ":seen_at": r.UpdatedAt}
	return w
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
