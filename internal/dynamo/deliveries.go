package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// DeliveriesClient is the part of the DynamoDB client that Deliveries calls.
type DeliveriesClient interface {
	batchWriter
	batchReader
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Deliveries is the record of delivery state for operators. SQS is the source of truth for
// work in progress: a write lost here loses no delivery. Items expire after 30 days, unless they are
// of acknowledged deliveries and are to be kept for another time.
//
// The time of the last change is changed_at. Release 0.1.0 wrote updated_at, the sort key of its
// index by-endpoint, which every retry had to rewrite; items without it are not in that index.
type Deliveries struct {
	client       DeliveriesClient
	table        string
	acknowledged time.Duration // how long they are kept
}

// NewDeliveries returns the store on table.
func NewDeliveries(client DeliveriesClient, table string) *Deliveries {
	return &Deliveries{client: client, table: table, acknowledged: deliveryLife}
}

// KeepAcknowledged returns the store that keeps acknowledged deliveries for that long.
func (d *Deliveries) KeepAcknowledged(life time.Duration) *Deliveries {
	return &Deliveries{client: d.client, table: d.table, acknowledged: life}
}

const deliveryLife = 30 * 24 * time.Hour

// Acknowledge records acknowledged deliveries, unconditionally since the state is terminal:
// one write each, 25 in a call. Records with the same id are written once.
func (d *Deliveries) Acknowledge(ctx context.Context, records []delivery.Record) error {
	writes := make([]types.WriteRequest, 0, len(records))
	seen := make(map[string]bool, len(records))
	for _, r := range records {
		if seen[r.DeliveryID] {
			continue
		}
		seen[r.DeliveryID] = true
		r.State, r.NextAttemptAt = delivery.Acknowledged, time.Time{}
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: deliveryItem(r, d.acknowledged)}})
	}
	var errs []error
	for call := range slices.Chunk(writes, maxBatchWrites) {
		if _, err := batchWrite(ctx, d.client, d.table, call); err != nil {
			errs = append(errs, fmt.Errorf("writing deliveries: %w", err))
		}
	}
	return errors.Join(errs...)
}

// newer is the condition under which a state other than acknowledged may be written: nothing
// is known yet, or what is known is of an earlier replay, or of the same replay, no further
// in the schedule and not at its end.
const newer = "attribute_not_exists(delivery_id) OR (#state <> :acknowledged AND (#replay < :replay OR " +
	"(#replay = :replay AND #attempts <= :attempts AND NOT #state IN (:dead, :discarded))))"

// Update records any other state. written is false when the delivery is known to be further
// along: duplicates in any order never take it back.
func (d *Deliveries) Update(ctx context.Context, r delivery.Record) (written bool, err error) {
	_, err = d.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                aws.String(d.table),
		Item:                     deliveryItem(r, deliveryLife),
		ConditionExpression:      aws.String(newer),
		ExpressionAttributeNames: map[string]string{"#state": "state", "#replay": "replay", "#attempts": "attempts"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":replay":       num(int64(r.Replay)),
			":attempts":     num(int64(r.Attempts)),
			":acknowledged": str(string(delivery.Acknowledged)),
			":dead":         str(string(delivery.Dead)),
			":discarded":    str(string(delivery.Discarded)),
		},
	})
	return conditionHeld("writing delivery", err)
}

// Get returns the record of a delivery, strongly consistent.
func (d *Deliveries) Get(ctx context.Context, deliveryID string) (r delivery.Record, found bool, err error) {
	out, err := d.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(d.table),
		Key:            map[string]types.AttributeValue{"delivery_id": str(deliveryID)},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return r, false, fmt.Errorf("reading delivery: %w", err)
	}
	if len(out.Item) == 0 {
		return r, false, nil
	}
	return deliveryRecord(out.Item), true, nil
}

// openIndex is sparse: what is acknowledged is not in it. A retry does not touch it.
const openIndex = "open-by-endpoint"

// ListOpen returns an endpoint's deliveries that are not acknowledged, the newest first: their
// keys from the index, which is a little behind, then the records behind them, strongly
// consistent. next is "" after the last page.
func (d *Deliveries) ListOpen(
	ctx context.Context, endpointID string, limit int, cursor string,
) (records []delivery.Record, next string, err error) {
	start, err := decodeCursor(cursor, "delivery_id", "open_endpoint_id", "created_at")
	if err != nil {
		return nil, "", err
	}
	out, err := d.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(d.table),
		IndexName:                 aws.String(openIndex),
		KeyConditionExpression:    aws.String("open_endpoint_id = :endpoint"),
		ExpressionAttributeValues: attributes{":endpoint": str(endpointID)},
		ScanIndexForward:          aws.Bool(false),
		Limit:                     aws.Int32(int32(limit)), //nolint:gosec // at most 100
		ExclusiveStartKey:         start,
	})
	if err != nil {
		return nil, "", fmt.Errorf("listing deliveries: %w", err)
	}
	ids := make([]string, len(out.Items))
	for n, item := range out.Items {
		ids[n] = getStr(item, "delivery_id")
	}
	all, err := d.BatchGet(ctx, ids)
	if err != nil {
		return nil, "", err
	}
	for _, id := range ids {
		if r, found := all[id]; found && r.State != delivery.Acknowledged {
			records = append(records, r)
		}
	}
	return records, encodeCursor(out.LastEvaluatedKey), nil
}

// BatchGet returns the records of the given distinct deliveries, strongly consistent; those that
// do not exist are left out.
func (d *Deliveries) BatchGet(ctx context.Context, ids []string) (map[string]delivery.Record, error) {
	keys := make([]attributes, len(ids))
	for n, id := range ids {
		keys[n] = attributes{"delivery_id": str(id)}
	}
	found := make(map[string]delivery.Record, len(ids))
	err := batchGet(ctx, d.client, d.table, keys, func(item attributes) {
		r := deliveryRecord(item)
		found[r.DeliveryID] = r
	})
	if err != nil {
		return nil, fmt.Errorf("reading deliveries: %w", err)
	}
	return found, nil
}

// deliveryItem is the item of a record, which expires a life after its last change.
func deliveryItem(r delivery.Record, life time.Duration) attributes {
	item := attributes{
		"delivery_id": str(r.DeliveryID),
		"tenant_id":   str(r.TenantID),
		"endpoint_id": str(r.EndpointID),
		"event_id":    str(r.EventID),
		"event_type":  str(r.EventType),
		"state":       str(string(r.State)),
		"attempts":    num(int64(r.Attempts)),
		"replay":      num(int64(r.Replay)),
		"duration_ms": num(r.DurationMS),
		"created_at":  stamp(r.CreatedAt),
		"changed_at":  stamp(r.UpdatedAt),
		"expires_at":  num(r.UpdatedAt.Add(life).Unix()),
	}
	if !r.OccurredAt.IsZero() {
		item["occurred_at"] = stamp(r.OccurredAt)
	}
	if r.LastStatus != 0 {
		item["last_status"] = num(int64(r.LastStatus))
	}
	if r.Reason != "" {
		item["reason"] = str(string(r.Reason))
	}
	if !r.NextAttemptAt.IsZero() {
		item["next_attempt_at"] = stamp(r.NextAttemptAt)
	}
	if r.State != delivery.Acknowledged {
		item["open_endpoint_id"] = str(r.EndpointID)
	}
	return item
}

func deliveryRecord(item attributes) delivery.Record {
	changed := getTime(item, "changed_at")
	if changed.IsZero() {
		changed = getTime(item, "updated_at")
	}
	return delivery.Record{
		Ref:           deliveryRef(item),
		EventType:     getStr(item, "event_type"),
		State:         delivery.State(getStr(item, "state")),
		Attempts:      int(getNum(item, "attempts")),
		LastStatus:    int(getNum(item, "last_status")),
		Reason:        delivery.Reason(getStr(item, "reason")),
		DurationMS:    getNum(item, "duration_ms"),
		NextAttemptAt: getTime(item, "next_attempt_at"),
		UpdatedAt:     changed,
	}
}

// deliveryRef reads what the items of Deliveries and DeadLetters have in common.
func deliveryRef(item map[string]types.AttributeValue) delivery.Ref {
	return delivery.Ref{
		DeliveryID: getStr(item, "delivery_id"),
		TenantID:   getStr(item, "tenant_id"),
		EndpointID: getStr(item, "endpoint_id"),
		EventID:    getStr(item, "event_id"),
		OccurredAt: getTime(item, "occurred_at"),
		CreatedAt:  getTime(item, "created_at"),
		Replay:     int(getNum(item, "replay")),
	}
}
