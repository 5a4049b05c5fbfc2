package dynamo

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// The refusals of a change.
var (
	ErrConflict = errors.New("changed by another request at the same time")
	ErrLimit    = errors.New("too many endpoints")
	// ErrBusy means that changes of the tenant's other endpoints were in the way. Nothing was written, and the caller may
	// make the same change again.
	ErrBusy = errors.New("other endpoints of the tenant were changed at the same time")
)

// endpointRow is an endpoint as it is stored.
type endpointRow struct {
	endpoint.Endpoint

	// ExpiresAt is set for a deleted endpoint, in Unix seconds.
	ExpiresAt int64 `dynamodbav:"expires_at,omitempty"`
}

// The conditions of writes.
const (
	absent    = "attribute_not_exists(endpoint_id)"
	unwritten = "revision = :was"
)

// row is an endpoint as it is stored. Its key depends on its status.
func (s *Endpoints) row(e endpoint.Endpoint) endpointRow {
	row := endpointRow{Endpoint: e}
	if !e.Live() {
		row.ID = rowKey(e).EndpointID
		if s.kept > 0 {
			row.ExpiresAt = e.DeletedAt.Add(s.kept).Unix()
		}
	}
	return row
}

func rowKey(e endpoint.Endpoint) EndpointKey {
	key := EndpointKey{e.TenantID, e.ID}
	if e.Live() {
		return key
	}
	return key.deleted()
}

// Check decides whether an endpoint may have its URLs. It gets the ids, statuses and URLs of the tenant's live
// endpoints, and where their tokens come from.
type Check func(live []endpoint.Endpoint) error

// Create stores a new endpoint if check allows it; a nil check allows every endpoint. The error is ErrLimit if the
// tenant has as many live endpoints as it may have. The limit holds for any number of calls at the same time.
func (s *Endpoints) Create(ctx context.Context, e endpoint.Endpoint, check Check) error {
	seen, err := s.check(ctx, e.TenantID, check)
	if err != nil {
		return err
	}
	return s.move(ctx, endpoint.Endpoint{}, e, s.count(e.TenantID, 1, seen))
}

// Readdress is Replace for a live endpoint that brings a URL to the tenant: the URL was changed, or the endpoint was
// deleted before. check decides about the URL; a nil check allows every URL.
func (s *Endpoints) Readdress(ctx context.Context, was, now endpoint.Endpoint, check Check) error {
	seen, err := s.check(ctx, now.TenantID, check)
	if err != nil {
		return err
	}
	if !was.Live() {
		return s.move(ctx, was, now, s.count(now.TenantID, 1, seen), s.drop(was))
	}
	return s.swap(ctx, was, now, s.count(now.TenantID, 0, seen))
}

// swap changes a row that stays where it is, and makes other writes, in one transaction.
func (s *Endpoints) swap(ctx context.Context, was, now endpoint.Endpoint, others ...types.TransactWriteItem) error {
	row, err := marshal(s.row(now))
	if err != nil {
		return err
	}
	told, err := s.tell(was, now)
	if err != nil {
		return err
	}
	changed := s.put(row)
	changed.Put.ConditionExpression = aws.String(unwritten)
	changed.Put.ExpressionAttributeValues = given{":was": was.Revision}.encoded()
	return s.transact(ctx, slices.Concat([]types.TransactWriteItem{changed}, others, told), now.Revision)
}

// check calls a Check with the URLs of the tenant's live endpoints. seen is the number of changes of URLs before the
// check. If two requests set a URL at the same time, the second finds another number and has to check again.
func (s *Endpoints) check(ctx context.Context, tenantID string, check Check) (seen *int64, err error) {
	if check == nil {
		return nil, nil
	}
	counts, err := s.getItem(ctx, EndpointKey{tenantID, countsKey}.item(), "url_changes")
	if err != nil {
		return nil, err
	}
	live, err := s.under(ctx, tenantID, endpoint.IDPrefix, "tenant_id, endpoint_id, #status, #url, oauth2")
	if err != nil {
		return nil, err
	}
	changes := read[int64](counts, "url_changes")
	return &changes, check(live)
}

// Replace stores now in place of was. The error is ErrConflict if was is not stored any more. now must have another
// revision than was. The restoration of a deleted endpoint may fail with ErrLimit.
func (s *Endpoints) Replace(ctx context.Context, was, now endpoint.Endpoint) error {
	switch {
	case was.Live() == now.Live():
		return s.rewrite(ctx, was, now)
	case now.Live():
		return s.Readdress(ctx, was, now, nil)
	}
	return s.move(ctx, was, now, s.count(now.TenantID, -1, nil), s.drop(was))
}

// rewrite changes a row that stays where it is.
func (s *Endpoints) rewrite(ctx context.Context, was, now endpoint.Endpoint) error {
	if now.Retells(was) {
		return s.swap(ctx, was, now)
	}
	_, stored, err := s.table.put(ctx, s.row(now), condition{unwritten, given{":was": was.Revision}})
	if inTransaction(err) || err == nil && !stored {
		// A deletion or a restoration has changed the row, or changes it now.
		return ErrConflict
	}
	return err
}

// Surplus returns the tenant's deleted endpoints that have to make room ([endpoint.Surplus]), with the fields that
// Prune needs. It reads all deleted endpoints. The caller prunes before each deletion, so that they stay few.
func (s *Endpoints) Surplus(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	deleted, err := s.under(ctx, tenantID, deletedPrefix, "tenant_id, endpoint_id, #status, deleted_at, about, revision")
	if err != nil {
		return nil, err
	}
	return endpoint.Surplus(deleted), nil
}

// Prune deletes endpoints that Surplus has returned, for good. It leaves an endpoint that was restored since.
func (s *Endpoints) Prune(ctx context.Context, surplus []endpoint.Endpoint) error {
	for _, e := range surplus {
		unchanged := condition{unwritten, given{":was": e.Revision}}
		deleted, err := s.deleteItem(ctx, rowKey(e).item(), unchanged)
		if err == nil && deleted {
			err = s.forget(ctx, e)
		}
		if err != nil && !inTransaction(err) {
			return err
		}
	}
	return nil
}

// inTransaction reports whether a write was refused because a transaction has the item.
func inTransaction(err error) bool {
	var busy *types.TransactionConflictException
	return errors.As(err, &busy)
}

// move stores an endpoint under a key without a row. The other writes, to the tenant's counts and to the endpoint's old
// row, are parts of the same transaction.
func (s *Endpoints) move(ctx context.Context, was, now endpoint.Endpoint, others ...types.TransactWriteItem) error {
	row, err := marshal(s.row(now))
	if err != nil {
		return err
	}
	told, err := s.tell(was, now)
	if err != nil {
		return err
	}
	return s.transact(ctx, slices.Concat([]types.TransactWriteItem{s.put(row)}, others, told), now.Revision)
}

func (s *Endpoints) put(row attributes) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.name, Item: row, ConditionExpression: aws.String(absent),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// drop removes an endpoint's row, unless it has changed.
func (s *Endpoints) drop(e endpoint.Endpoint) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.name, Key: rowKey(e).item(), ConditionExpression: aws.String(unwritten),
		ExpressionAttributeValues: given{":was": e.Revision}.encoded(),
	}}
}

// count changes the number of the tenant's live endpoints, within its limit. After a check of URLs, it also counts one
// change of a URL. It is then refused if another URL has been changed since seen.
func (s *Endpoints) count(tenantID string, change int64, seen *int64) types.TransactWriteItem {
	expression := "ADD live_count :change"
	values := given{":change": change}
	condition := ""
	if change > 0 {
		condition = "(attribute_not_exists(live_count) OR live_count < :most)"
		values[":most"] = s.most
	}
	if seen != nil {
		expression += ", url_changes :one"
		values[":one"] = 1
		unchanged := "attribute_not_exists(url_changes)"
		if *seen > 0 {
			unchanged, values[":seen"] = "url_changes = :seen", *seen
		}
		condition = strings.TrimPrefix(condition+" AND "+unchanged, " AND ")
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.name, Key: EndpointKey{tenantID, countsKey}.item(),
		UpdateExpression: &expression, ConditionExpression: optional(condition), ExpressionAttributeValues: values.encoded(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// transact writes all items or none. The SDK gives the call a token. A repetition of a call that was performed before
// therefore succeeds.
func (s *Endpoints) transact(ctx context.Context, items []types.TransactWriteItem, revision string) error {
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		return s.wrap(err)
	}
	verdict := error(canceled)
	for n, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "None", "":
		case "TransactionConflict":
			verdict = ErrBusy
		case "ConditionalCheckFailed":
			return refusal(n, items[n], reason.Item, revision)
		default:
			return canceled
		}
	}
	return verdict
}

// refusal is the reason for which the item with this index of a transaction was refused. The endpoint exists already or
// has changed, there are too many endpoints, or the URL of another endpoint has been set since the check.
func refusal(n int, refused types.TransactWriteItem, row attributes, revision string) error {
	bounded := false
	if n == 1 {
		most := refused.Update.ExpressionAttributeValues
		bounded = most[":most"] != nil && read[int](row, "live_count") >= read[int](most, ":most")
	}
	switch {
	case n == 0 && getStr(row, "revision") == revision:
		// The transaction was performed before, and DynamoDB has forgotten its token.
		return nil
	case bounded:
		return ErrLimit
	case n == 1:
		return ErrBusy
	}
	return ErrConflict
}
