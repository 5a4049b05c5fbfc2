package dynamo

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Deliveries keeps the states of deliveries for operators. SQS is the source of truth for work in progress, so that a
// lost write loses no delivery. Items expire after 30 days. KeepAcknowledged sets another time for acknowledged
// deliveries.
type Deliveries struct {
	table

	// acknowledged is the time for which acknowledged deliveries are kept.
	acknowledged time.Duration
}

// NewDeliveries returns the store on a table.
func NewDeliveries(client *dynamodb.Client, name string) *Deliveries {
	return &Deliveries{table{client, name}, deliveryLife}
}

// KeepAcknowledged returns the store that keeps acknowledged deliveries for that long.
func (d *Deliveries) KeepAcknowledged(life time.Duration) *Deliveries {
	return &Deliveries{d.table, life}
}

// deliveryLife is the time for which a record is kept after its last change.
const deliveryLife = 30 * 24 * time.Hour

// Acknowledge records acknowledged deliveries. The state is final, so the writes have no condition, and one call makes
// 25 of them. Records with the same id are written once.
func (d *Deliveries) Acknowledge(ctx context.Context, records []delivery.Record) error {
	items := make([]attributes, 0, len(records))
	seen := make(map[string]bool, len(records))
	for _, r := range records {
		if seen[r.DeliveryID] {
			continue
		}
		seen[r.DeliveryID] = true
		r.State, r.NextAttemptAt = delivery.Acknowledged, time.Time{}
		item, err := marshal(deliveryRowOf(r, d.acknowledged))
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	var errs []error
	for call := range slices.Chunk(items, maxBatchWrites) {
		errs = append(errs, d.putBatch(ctx, call))
	}
	return errors.Join(errs...)
}

// newer is delivery.Record.Replaces as a condition, for the states of Update. Package storetest compares the rule and
// the condition for every pair of records.
const newer = "attribute_not_exists(delivery_id) OR (#state <> :acknowledged AND (#replay < :replay OR " +
	"(#replay = :replay AND #attempts <= :attempts AND NOT #state IN (:dead, :discarded, :purged))))"

// Update records any other state. written is false if the stored record is further along or at its end. Duplicates in
// any order therefore never set a delivery back.
func (d *Deliveries) Update(ctx context.Context, r delivery.Record) (written bool, err error) {
	_, written, err = d.put(ctx, deliveryRowOf(r, deliveryLife), condition{
		holds: newer,
		values: given{
			":replay": r.Replay, ":attempts": r.Attempts, ":acknowledged": delivery.Acknowledged,
			":dead": delivery.Dead, ":discarded": delivery.Discarded, ":purged": delivery.Purged,
		},
	})
	return written, err
}

// Purged records that the dead letter of a delivery was purged. It changes nothing if the delivery was acknowledged or
// replayed after that death.
func (d *Deliveries) Purged(ctx context.Context, r delivery.Record) error {
	r.State = delivery.Purged
	_, _, err := d.put(ctx, deliveryRowOf(r, deliveryLife), condition{
		holds:  "attribute_not_exists(delivery_id) OR #state = :dead AND #replay = :replay",
		values: given{":dead": delivery.Dead, ":replay": r.Replay},
	})
	return err
}

// Get returns the record of a delivery, strongly consistent.
func (d *Deliveries) Get(ctx context.Context, deliveryID string) (r delivery.Record, found bool, err error) {
	return get[delivery.Record](ctx, d.table, attributes{"delivery_id": str(deliveryID)})
}

// openIndex is sparse: it leaves out acknowledged deliveries, and a retry does not write it. It is sharded, because
// each delivery to an endpoint that is down makes a write to the index.
const openIndex = "open-by-endpoint"

// openKey is the key of openIndex.
var openKey = shardKey{hash: "open_shard", sort: "created_at", id: "delivery_id"}

// OpenPage asks for a page of the deliveries of an endpoint that are not acknowledged, the newest first.
type OpenPage struct {
	Limit int

	// Cursor is the end of the page before; "" asks for the first page.
	Cursor string

	// Since and Until are the times at which the events were published. The end is exclusive. Zero times select all.
	Since, Until time.Time
}

// ListOpen returns an endpoint's deliveries that are not acknowledged. It finds their keys in the index, which is a
// little behind the table, and reads the records by strongly consistent reads. next is "" after the last page.
func (d *Deliveries) ListOpen(
	ctx context.Context, endpointID string, p OpenPage,
) (records []delivery.Record, next string, err error) {
	since, until := between(p.Since, p.Until)
	items, next, err := d.listSharded(ctx, sharded{
		query: query{
			index: openIndex, condition: openKey.isPartition() + " AND created_at BETWEEN :since AND :until",
			values: given{":since": since, ":until": until},
			limit:  perShard(p.Limit, backlog.Shards), backwards: true,
		},
		key: openKey, partitions: shardsOf(endpointID),
	}, p.Limit, 0, p.Cursor)
	if err != nil {
		return nil, "", err
	}
	ids := make([]string, len(items))
	for n, item := range items {
		ids[n] = getStr(item, "delivery_id")
	}
	all, err := d.BatchGet(ctx, ids)
	if err != nil {
		return nil, "", err
	}
	for _, id := range ids {
		if r, found := all[id]; found && r.EndpointID == endpointID && r.State != delivery.Acknowledged {
			records = append(records, r)
		}
	}
	return records, next, nil
}

// BatchGet returns the records of the given distinct deliveries by strongly consistent reads. Missing records are left
// out.
func (d *Deliveries) BatchGet(ctx context.Context, ids []string) (map[string]delivery.Record, error) {
	keys := make([]attributes, len(ids))
	for n, id := range ids {
		keys[n] = attributes{"delivery_id": str(id)}
	}
	found := make(map[string]delivery.Record, len(ids))
	var unreadable error
	_, err := d.getBatch(ctx, keys, consistently, func(item attributes) {
		r, err := decode[delivery.Record](item)
		unreadable = errors.Join(unreadable, err)
		found[r.DeliveryID] = r
	})
	if err := errors.Join(err, unreadable); err != nil {
		return nil, err
	}
	return found, nil
}

// deliveryRow is a record as it is stored.
type deliveryRow struct {
	delivery.Record
	ExpiresAt int64 `dynamodbav:"expires_at"`

	// Open is the hash key of openIndex.
	Open string `dynamodbav:"open_shard,omitempty"`
}

// deliveryRowOf is the row of a record. The index of unfinished deliveries has no acknowledged one. Most deliveries are
// acknowledged at once, never enter the index, and so cost one write.
func deliveryRowOf(r delivery.Record, life time.Duration) deliveryRow {
	row := deliveryRow{Record: r, ExpiresAt: r.UpdatedAt.Add(life).Unix()}
	if r.State != delivery.Acknowledged {
		row.Open = shardName(r.EndpointID, backlog.Shard(r.DeliveryID))
	}
	return row
}
