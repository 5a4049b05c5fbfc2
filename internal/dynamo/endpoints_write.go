package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/endpoint"
)

// EndpointsWriter is the part of the DynamoDB client that changes endpoints.
type EndpointsWriter interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	TransactWriteItems(
		context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options),
	) (*dynamodb.TransactWriteItemsOutput, error)
}

// What a change of an endpoint can meet.
var (
	ErrConflict = errors.New("changed by another request at the same time")
	ErrLimit    = errors.New("too many endpoints")
)

// countsKey is the sort key of the item that counts a tenant's endpoints: "live_count" and "total_count".
// It changes in the same transaction as what it counts. No endpoint id starts with '#'.
const countsKey = "#counts"

// errBusy is a transaction that another one was in the way of: nothing was written.
var errBusy = errors.New("another transaction was in the way")

// Create stores a new endpoint, and with it removes the tenant's longest deleted one when
// there are endpoint.MaxTotal. It is ErrLimit when endpoint.MaxLive are not deleted, however
// many are created at once, and ErrConflict when others kept being faster.
func (s *Endpoints) Create(ctx context.Context, e endpoint.Endpoint) error {
	for try := range maxTries {
		all, err := s.List(ctx, e.TenantID)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(o endpoint.Endpoint) bool { return o.ID == e.ID }) {
			return s.taken(all, e)
		}
		if countLive(all) >= endpoint.MaxLive {
			return ErrLimit
		}
		items := []types.TransactWriteItem{s.put(e, "attribute_not_exists(endpoint_id)", nil)}
		if len(all) < endpoint.MaxTotal {
			items = append(items, s.count(e.TenantID, 1, 1))
		} else {
			items = append(items, s.count(e.TenantID, 1, 0), s.remove(longestDeleted(all)))
		}
		err = s.transact(ctx, items)
		if !errors.Is(err, ErrConflict) && !errors.Is(err, errBusy) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return fmt.Errorf("creating endpoint: %w", err)
		}
	}
	return ErrConflict
}

// taken decides about an id that exists: ours, when only the answer to our write was lost.
func (s *Endpoints) taken(all []endpoint.Endpoint, e endpoint.Endpoint) error {
	if slices.ContainsFunc(all, func(o endpoint.Endpoint) bool { return o.Revision == e.Revision }) {
		return nil
	}
	return ErrConflict
}

// Replace stores now in place of was, which must still be what is stored: ErrConflict
// otherwise. now has a revision of its own. Bringing a deleted endpoint back can meet
// ErrLimit.
func (s *Endpoints) Replace(ctx context.Context, was, now endpoint.Endpoint) error {
	if was.Live() == now.Live() {
		return s.replaceOne(ctx, was, now)
	}
	change := 1
	if !now.Live() {
		change = -1
	}
	items := []types.TransactWriteItem{
		s.put(now, unchanged, map[string]types.AttributeValue{":revision": str(was.Revision)}),
		s.count(now.TenantID, change, 0),
	}
	for try := range maxTries {
		err := s.transact(ctx, items)
		if !errors.Is(err, errBusy) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return fmt.Errorf("changing endpoint: %w", err)
		}
	}
	return ErrConflict
}

// unchanged is the condition that nobody wrote since the endpoint was read.
const unchanged = "revision = :revision"

func (s *Endpoints) replaceOne(ctx context.Context, was, now endpoint.Endpoint) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           aws.String(s.table),
		Item:                                endpointItem(now),
		ConditionExpression:                 aws.String(unchanged),
		ExpressionAttributeValues:           map[string]types.AttributeValue{":revision": str(was.Revision)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		if getStr(refused.Item, "revision") == now.Revision {
			return nil // the SDK repeated a call that had been performed
		}
		return ErrConflict
	}
	var busy *types.TransactionConflictException
	if errors.As(err, &busy) {
		return ErrConflict // a delete, restore or create has the item in its transaction
	}
	if err != nil {
		return fmt.Errorf("changing endpoint: %w", err)
	}
	return nil
}

// transact performs a put and what goes with it, all or nothing. The SDK gives the call a
// token, so that a repetition of a call that had been performed succeeds.
func (s *Endpoints) transact(ctx context.Context, items []types.TransactWriteItem) error {
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		if err != nil {
			return fmt.Errorf("changing endpoint: %w", err)
		}
		return nil
	}
	verdict := canceledBecause(canceled.CancellationReasons, getStr(items[0].Put.Item, "revision"))
	if errors.Is(verdict, errPerformed) {
		return nil
	}
	if verdict == nil {
		return fmt.Errorf("changing endpoint: %w", err)
	}
	return verdict
}

// errPerformed is a transaction that was performed before, its token forgotten.
var errPerformed = errors.New("performed before")

// canceledBecause reads the reasons why a transaction was canceled: of the put, whose
// revision is given, of the counts, and of what else went with it. It is nil for a reason
// that is not about what is stored.
func canceledBecause(reasons []types.CancellationReason, revision string) (verdict error) {
	for i, reason := range reasons {
		switch aws.ToString(reason.Code) {
		case "None", "":
		case "TransactionConflict":
			verdict = errBusy
		case "ConditionalCheckFailed":
			switch {
			case i == 0 && getStr(reason.Item, "revision") == revision:
				return errPerformed
			case i == 1 && getNum(reason.Item, "live_count") >= endpoint.MaxLive:
				return ErrLimit
			}
			return ErrConflict
		default:
			return nil
		}
	}
	return verdict
}

func (s *Endpoints) put(
	e endpoint.Endpoint, condition string, values map[string]types.AttributeValue,
) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName:                           aws.String(s.table),
		Item:                                endpointItem(e),
		ConditionExpression:                 aws.String(condition),
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// count changes the tenant's counts, on the condition that they stay within the bounds.
func (s *Endpoints) count(tenantID string, live, total int) types.TransactWriteItem {
	values := map[string]types.AttributeValue{":live": num(int64(live)), ":total": num(int64(total))}
	var bounds []string
	bound := func(name string, change, most int) {
		if change > 0 {
			bounds = append(bounds, "(attribute_not_exists("+name+"_count) OR "+name+"_count < :most_"+name+")")
			values[":most_"+name] = num(int64(most))
		}
	}
	bound("live", live, endpoint.MaxLive)
	bound("total", total, endpoint.MaxTotal)
	update := &types.Update{
		TableName:                           aws.String(s.table),
		Key:                                 EndpointKey{tenantID, countsKey}.item(),
		UpdateExpression:                    aws.String("ADD live_count :live, total_count :total"),
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if len(bounds) > 0 {
		update.ConditionExpression = aws.String(bounds[0])
	}
	if len(bounds) > 1 {
		update.ConditionExpression = aws.String(bounds[0] + " AND " + bounds[1])
	}
	return types.TransactWriteItem{Update: update}
}

func (s *Endpoints) remove(e endpoint.Endpoint) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName:                 aws.String(s.table),
		Key:                       EndpointKey{e.TenantID, e.ID}.item(),
		ConditionExpression:       aws.String(unchanged),
		ExpressionAttributeValues: map[string]types.AttributeValue{":revision": str(e.Revision)},
	}}
}

func countLive(all []endpoint.Endpoint) int {
	n := 0
	for _, e := range all {
		if e.Live() {
			n++
		}
	}
	return n
}

// longestDeleted finds what to purge; with fewer than MaxLive not deleted there is one.
func longestDeleted(all []endpoint.Endpoint) endpoint.Endpoint {
	deleted := slices.DeleteFunc(slices.Clone(all), endpoint.Endpoint.Live)
	return slices.MinFunc(deleted, func(a, b endpoint.Endpoint) int {
		return cmp.Or(a.DeletedAt.Compare(b.DeletedAt), cmp.Compare(a.ID, b.ID))
	})
}

func endpointItem(e endpoint.Endpoint) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		"tenant_id":      str(e.TenantID),
		"endpoint_id":    str(e.ID),
		"url":            str(e.URL),
		"description":    str(e.Description),
		"events":         strs(e.Events),
		"status":         str(string(e.Status)),
		"created_at":     stamp(e.CreatedAt),
		"updated_at":     stamp(e.UpdatedAt),
		"secret_version": num(int64(e.SecretVersion)),
		"sealed_secret":  bytes(e.SealedSecret),
		"revision":       str(e.Revision),
	}
	if !e.DeletedAt.IsZero() {
		item["deleted_at"] = stamp(e.DeletedAt)
	}
	if !e.SecretRotatedAt.IsZero() {
		item["secret_rotated_at"] = stamp(e.SecretRotatedAt)
	}
	return item
}
