package dynamo

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
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

// KeepDead returns the store with another life for its records, counted from a death. A life of 0 keeps them for ever.
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
