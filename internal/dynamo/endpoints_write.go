package dynamo

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/endpoint"
)

// The refusals of a change.
var (
	ErrConflict = errors.New("changed by another request at the same time")
	ErrLimit    = errors.New("too many endpoints")
	// ErrBusy is no verdict: changes of other endpoints of the tenant were in the way. Nothing was written, and the same
	// change may be made again.
	ErrBusy = errors.New("other endpoints of the tenant were changed at the same time")
)

// endpointRow is an endpoint as it is stored.
type endpointRow struct {
	endpoint.Endpoint
	ExpiresAt int64 `dynamodbav:"expires_at,omitempty"` // of a deleted one: Unix seconds
}

// The conditions of writes.
const (
	absent    = "attribute_not_exists(endpoint_id)"
	unwritten = "revision = :was"
)

// row is an endpoint under the key that it has in its status.
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

// Check decides whether an endpoint may have its URL, given the ids, statuses and URLs of its tenant's live
// endpoints.
type Check func(live []endpoint.Endpoint) error

// Create stores a new endpoint that check allows; nil allows every one. It is ErrLimit when endpoint.MaxLive are not
// deleted, however many are created at once.
func (s *Endpoints) Create(ctx context.Context, e endpoint.Endpoint, check Check) error {
	seen, err := s.check(ctx, e.TenantID, check)
	if err != nil {
		return err
	}
	return s.move(ctx, e, s.count(e.TenantID, 1, seen))
}

// Readdress is Replace by a live endpoint whose URL is new among the tenant's: it was changed, or comes back with the
// endpoint. check allows it; nil allows every one.
func (s *Endpoints) Readdress(ctx context.Context, was, now endpoint.Endpoint, check Check) error {
	seen, err := s.check(ctx, now.TenantID, check)
	if err != nil {
		return err
	}
	if !was.Live() {
		return s.move(ctx, now, s.count(now.TenantID, 1, seen), s.drop(was))
	}
	row, err := marshal(s.row(now))
	if err != nil {
		return err
	}
	changed := s.put(row)
	changed.Put.ConditionExpression = aws.String(unwritten)
	changed.Put.ExpressionAttributeValues = given{":was": was.Revision}.encoded()
	return s.transact(ctx, []types.TransactWriteItem{changed, s.count(now.TenantID, 0, seen)}, now.Revision)
}

// check has the URLs of the tenant's live endpoints checked. Since then seen changes whenever a URL is set, so that
// of two that are set at once one is checked again.
func (s *Endpoints) check(ctx context.Context, tenantID string, check Check) (seen *int64, err error) {
	if check == nil {
		return nil, nil
	}
	counts, err := s.getItem(ctx, EndpointKey{tenantID, countsKey}.item(), "url_changes")
	if err != nil {
		return nil, err
	}
	live, err := s.under(ctx, tenantID, endpoint.IDPrefix, "tenant_id, endpoint_id, #status, #url")
	if err != nil {
		return nil, err
	}
	changes := read[int64](counts, "url_changes")
	return &changes, check(live)
}

// Replace stores now in place of was, which must still be stored: ErrConflict otherwise. now has a revision
// of its own. Bringing a deleted endpoint back can meet ErrLimit.
func (s *Endpoints) Replace(ctx context.Context, was, now endpoint.Endpoint) error {
	switch {
	case was.Live() == now.Live():
		return s.rewrite(ctx, was, now)
	case now.Live():
		return s.Readdress(ctx, was, now, nil)
	}
	return s.move(ctx, now, s.count(now.TenantID, -1, nil), s.drop(was))
}

// rewrite changes a row that stays where it is.
func (s *Endpoints) rewrite(ctx context.Context, was, now endpoint.Endpoint) error {
	_, stored, err := s.table.put(ctx, s.row(now), write{
		condition: unwritten, values: given{":was": was.Revision},
	})
	if inTransaction(err) || err == nil && !stored { // a deletion or restoration has the row
		return ErrConflict
	}
	return err
}

// maxPruned bounds a request. More than one is pruned only after deletions at the same moment.
const maxPruned = 10

// Prune removes the longest deleted endpoints of the tenant, so that those which were deleted last are kept. It reads
// all deleted ones, and bounds their number: the caller asks for it before a deletion.
func (s *Endpoints) Prune(ctx context.Context, tenantID string) error {
	deleted, err := s.under(ctx, tenantID, deletedPrefix, "tenant_id, endpoint_id, #status, deleted_at, revision")
	if err != nil {
		return err
	}
	slices.SortFunc(deleted, func(a, b endpoint.Endpoint) int {
		return cmp.Or(a.DeletedAt.Compare(b.DeletedAt), cmp.Compare(a.ID, b.ID))
	})
	beyond := len(deleted) - (endpoint.MaxTotal - endpoint.MaxLive)
	for _, e := range deleted[:max(min(beyond, maxPruned), 0)] {
		unchanged := write{condition: unwritten, values: given{":was": e.Revision}} // it may have been restored
		if _, err := s.deleteItem(ctx, rowKey(e).item(), unchanged); err != nil && !inTransaction(err) {
			return err
		}
	}
	return nil
}

// inTransaction reports whether a write was refused since a transaction has the item.
func inTransaction(err error) bool {
	var busy *types.TransactionConflictException
	return errors.As(err, &busy)
}

// move stores an endpoint in a place where none is, with other writes, all or nothing: the tenant's counts, and the
// endpoint's old row.
func (s *Endpoints) move(ctx context.Context, now endpoint.Endpoint, others ...types.TransactWriteItem) error {
	row, err := marshal(s.row(now))
	if err != nil {
		return err
	}
	return s.transact(ctx, append([]types.TransactWriteItem{s.put(row)}, others...), now.Revision)
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

// count changes the number of the tenant's live endpoints, which stays within its bound. Where URLs were checked, it
// counts the change of one, unless another was changed since seen.
func (s *Endpoints) count(tenantID string, change int64, seen *int64) types.TransactWriteItem {
	expression, condition, values := "ADD live_count :change", "", given{":change": change}
	if change > 0 {
		condition = "(attribute_not_exists(live_count) OR live_count < :most)"
		values[":most"] = endpoint.MaxLive
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

// transact writes all items or none. The SDK gives the call a token, so that a repetition of a call that had
// been performed succeeds.
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

// refusal says why the item with this index of a transaction was refused: the endpoint is there, or has changed, there
// are too many, or the URL of another endpoint has been set since it was checked.
func refusal(n int, refused types.TransactWriteItem, row attributes, revision string) error {
	bounded := n == 1 && refused.Update.ExpressionAttributeValues[":most"] != nil
	switch {
	case n == 0 && getStr(row, "revision") == revision:
		return nil // it had been performed, and its token was forgotten
	case bounded && read[int](row, "live_count") >= endpoint.MaxLive:
		return ErrLimit
	case n == 1:
		return ErrBusy
	}
	return ErrConflict
}
