package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/deadletter"
)

// DeadLettersClient is the part of the DynamoDB client that DeadLetters calls.
type DeadLettersClient interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// DeadLetters keeps dead letters, sealed parts included. Every write is one conditional
// UpdateItem or DeleteItem; recording a death reads nothing, since the function that does it may not.
type DeadLetters struct {
	client DeadLettersClient
	table  string
}

// NewDeadLetters returns the store on table.
func NewDeadLetters(client DeadLettersClient, table string) *DeadLetters {
	return &DeadLetters{client: client, table: table}
}

// Create stores a first death: r with its sealed body and one history entry. written is false
// when the record exists.
func (d *DeadLetters) Create(ctx context.Context, r deadletter.Record) (written bool, err error) {
	item := deathItem(r)
	item["replay_count"] = num(int64(r.Replay)) // a purged record can die again in a later life
	item["created_at"] = stamp(r.CreatedAt)
	if !r.OccurredAt.IsZero() {
		item["occurred_at"] = stamp(r.OccurredAt)
	}
	item["body"] = bytes(r.Sealed.Body)
	if len(r.Sealed.Attributes) > 0 {
		item["attributes"] = bytes(r.Sealed.Attributes)
	}
	ids := map[string]string{
		"tenant_id": r.TenantID, "endpoint_id": r.EndpointID, "event_id": r.EventID, "event_type": r.EventType,
	}
	for name, id := range ids {
		if id != "" { // an index key must not be empty
			item[name] = str(id)
		}
	}
	item["history"] = historyItem(r.Sealed.History)
	return d.change(ctx, r.DeliveryID, deadLetterChange{
		set: item, condition: "attribute_not_exists(#delivery_id)", names: []string{"delivery_id"},
	})
}

// Append adds a later death of a replayed delivery: r with its one new history entry. The
// record is dead again. written is false when there is no record, or when it has this death,
// or a later one: each replay dies once, however often its message is received.
func (d *DeadLetters) Append(ctx context.Context, r deadletter.Record) (written bool, err error) {
	return d.change(ctx, r.DeliveryID, deadLetterChange{
		set:       deathItem(r),
		append:    map[string]types.AttributeValue{"history": historyItem(r.Sealed.History)},
		condition: "#replay < :replay",
	})
}

func deathItem(r deadletter.Record) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"status":      str(string(deadletter.Dead)),
		"reason":      str(string(r.Reason)),
		"attempts":    num(int64(r.Attempts)),
		"last_status": num(int64(r.LastStatus)),
		"replay":      num(int64(r.Replay)),
		"died_at":     stamp(r.DiedAt),
		"updated_at":  stamp(r.DiedAt),
	}
}

func historyItem(entries []deadletter.SealedEntry) types.AttributeValue {
	list := make([]types.AttributeValue, len(entries))
	for i, e := range entries {
		list[i] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
			"replay": num(int64(e.Replay)), "sealed": bytes(e.Sealed),
		}}
	}
	return &types.AttributeValueMemberL{Value: list}
}

// Claim takes r, as Get returned it, for a replay, and returns the replay's number. fresh is
// false when it resumes a replay that broke off, whose message may be on its way. ok is false
// when r is neither dead nor stale, or changed since it was read.
func (d *DeadLetters) Claim(
	ctx context.Context, r deadletter.Record, operator string, now time.Time,
) (replay int, fresh, ok bool, err error) {
	replay, fresh = r.ReplayCount, r.Status == deadletter.Dead
	switch {
	case fresh:
		replay++
	case r.Status != deadletter.Replaying || now.Sub(r.UpdatedAt) < deadletter.StaleClaim:
		return 0, false, false, nil
	}
	ok, err = d.change(ctx, r.DeliveryID, deadLetterChange{
		set: map[string]types.AttributeValue{
			"status": str(string(deadletter.Replaying)), "replay_count": num(int64(replay)),
			"updated_at": stamp(now), "replayed_by": str(operator),
		},
		condition: "#status = :seen_status AND #replay_count = :seen_count AND #updated_at = :seen_at",
		values: map[string]types.AttributeValue{
			":seen_status": str(string(r.Status)), ":seen_count": num(int64(r.ReplayCount)), ":seen_at": stamp(r.UpdatedAt),
		},
	})
	return replay, fresh, ok, err
}

// EndReplay ends a claimed replay: replayed when its message is on the queue, else dead again.
// written is false when the record moved on meanwhile, as when the replay has died already.
func (d *DeadLetters) EndReplay(
	ctx context.Context, deliveryID string, replay int, status deadletter.Status, now time.Time,
) (written bool, err error) {
	return d.change(ctx, deliveryID, deadLetterChange{
		set:       map[string]types.AttributeValue{"status": str(string(status)), "updated_at": stamp(now)},
		condition: "#status = :replaying AND #replay_count = :seen_count",
		names:     []string{"replay_count"},
		values: map[string]types.AttributeValue{
			":replaying": str(string(deadletter.Replaying)), ":seen_count": num(int64(replay)),
		},
	})
}

// Purge deletes r, as Get returned it. deleted is false when it changed since it was read.
func (d *DeadLetters) Purge(ctx context.Context, r deadletter.Record) (deleted bool, err error) {
	_, err = d.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                aws.String(d.table),
		Key:                      deadLetterKey(r.DeliveryID),
		ConditionExpression:      aws.String("#status = :status AND #updated_at = :at"),
		ExpressionAttributeNames: map[string]string{"#status": "status", "#updated_at": "updated_at"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":status": str(string(r.Status)), ":at": stamp(r.UpdatedAt),
		},
	})
	return conditionHeld("purging dead letter", err)
}

// deadLetterChange is one conditional update. Every attribute set is "#name = :name" in expressions.
type deadLetterChange struct {
	set, append map[string]types.AttributeValue
	condition   string
	names       []string // further names the condition mentions
	values      map[string]types.AttributeValue
}

func (d *DeadLetters) change(ctx context.Context, deliveryID string, c deadLetterChange) (written bool, err error) {
	names, values := map[string]string{}, map[string]types.AttributeValue{}
	expression := "SET "
	for name, value := range c.set {
		names["#"+name], values[":"+name] = name, value
		expression += "#" + name + " = :" + name + ", "
	}
	for name, value := range c.append {
		names["#"+name], values[":"+name] = name, value
		expression += "#" + name + " = list_append(#" + name + ", :" + name + "), "
	}
	for _, name := range c.names {
		names["#"+name] = name
	}
	for name, value := range c.values {
		values[name] = value
	}
	_, err = d.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 aws.String(d.table),
		Key:                       deadLetterKey(deliveryID),
		UpdateExpression:          aws.String(expression[:len(expression)-2]),
		ConditionExpression:       aws.String(c.condition),
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
	})
	return conditionHeld("writing dead letter", err)
}

func deadLetterKey(deliveryID string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"delivery_id": str(deliveryID)}
}
