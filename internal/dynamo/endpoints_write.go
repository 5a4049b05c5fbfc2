package dynamo

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/endpoint"
)

// The refusals of a change.
var (
	ErrConflict = errors.New("changed by another request at the same time")
	ErrLimit    = errors.New("too many endpoints")
)

// endpointRow is an endpoint as it is stored, but for its marks.
type endpointRow struct {
	endpoint.Endpoint
	ExpiresAt int64 `dynamodbav:"expires_at,omitempty"` // of a deleted one: Unix seconds
}

// ownersAttributes are written by every change of the owner's: all but the key.
var ownersAttributes = namesOf[endpointRow]("tenant_id", "endpoint_id")

// The conditions of writes.
const (
	absent    = "attribute_not_exists(endpoint_id)"
	unwritten = "revision = :was"
	unmarked  = unwritten + " AND attribute_not_exists(paused_at) AND attribute_not_exists(discarded_before) AND " +
		"attribute_not_exists(released_at)"
)

// owned is the write of e's owner's attributes to a row that is absent.
func (s *Endpoints) owned(e endpoint.Endpoint) (write, error) {
	row := endpointRow{Endpoint: e}
	if s.kept > 0 && !e.Live() {
		row.ExpiresAt = e.DeletedAt.Add(s.kept).Unix()
	}
	w, err := assign(row, ownersAttributes)
	w.condition = absent
	return w, err
}

// over is the write in place of a row with this revision.
func (w write) over(revision string) write {
	w.condition, w.values = unwritten, maps.Clone(w.values)
	w.values[":was"] = str(revision)
	return w
}

// Create stores a new endpoint. It is ErrLimit when endpoint.MaxLive are not deleted, however many are
// created at once, and ErrConflict when others kept being faster.
func (s *Endpoints) Create(ctx context.Context, e endpoint.Endpoint) error {
	row, err := s.owned(e)
	if err != nil {
		return err
	}
	return s.repeat(ctx, func() error {
		return s.transact(ctx, change{now: e, key: EndpointKey{e.TenantID, e.ID}, row: row, live: 1})
	})
}

// Replace stores now in place of was, which must still be stored: ErrConflict otherwise. now has a revision
// of its own. Bringing a deleted endpoint back can meet ErrLimit.
func (s *Endpoints) Replace(ctx context.Context, was, now endpoint.Endpoint) error {
	row, err := s.owned(now)
	if err != nil {
		return err
	}
	c := change{was: was, now: now, key: EndpointKey{now.TenantID, now.ID}, row: row}
	switch {
	case was.Live() && now.Live():
		return s.rewrite(ctx, c)
	case was.Live():
		return s.repeat(ctx, func() error { return s.remove(ctx, c) })
	}
	return s.repeat(ctx, func() error { return s.restore(ctx, c) })
}

// change is a change of an endpoint by its owner.
type change struct {
	was, now endpoint.Endpoint
	key      EndpointKey // of the row that is written
	row      write
	live     int                       // change of the number of live endpoints
	drops    []types.TransactWriteItem // removals of other rows
}

// rewrite changes a row that stays where it is.
func (s *Endpoints) rewrite(ctx context.Context, c change) error {
	row, refused, err := s.updateItem(ctx, c.key.item(), c.row.over(c.was.Revision))
	var busy *types.TransactionConflictException
	switch {
	case refused && getStr(row, "revision") != c.now.Revision, errors.As(err, &busy):
		return ErrConflict // busy: a deletion or restoration has the row in its transaction
	case refused:
		return nil // the SDK repeated a call that had been performed
	}
	return err
}

// remove moves a row without marks to the key of the deleted, and leaves one with marks where it is.
func (s *Endpoints) remove(ctx context.Context, c change) error {
	all, err := s.List(ctx, c.was.TenantID)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(all, func(e endpoint.Endpoint) bool { return e.ID == c.was.ID })
	if n < 0 || all[n].Revision != c.was.Revision {
		return ErrConflict
	}
	c.live = -1
	if all[n].Marks == (endpoint.Marks{}) {
		c.drops = []types.TransactWriteItem{s.drop(c.key, c.was.Revision, unmarked)}
		c.key = c.key.deleted()
	} else {
		c.row = c.row.over(c.was.Revision)
	}
	purged, err := s.purge(ctx, slices.DeleteFunc(all, endpoint.Endpoint.Live))
	if err != nil {
		return err
	}
	c.drops = append(c.drops, purged...)
	return s.transact(ctx, c)
}

// maxPurged bounds a transaction. More than one is purged only after deletions at the same moment.
const maxPurged = 10

// purge removes the longest deleted endpoints, so that with one more there are not too many.
func (s *Endpoints) purge(
	ctx context.Context, deleted []endpoint.Endpoint,
) (drops []types.TransactWriteItem, err error) {
	slices.SortFunc(deleted, func(a, b endpoint.Endpoint) int {
		return cmp.Or(a.DeletedAt.Compare(b.DeletedAt), cmp.Compare(a.ID, b.ID))
	})
	beyond := len(deleted) + 1 - (endpoint.MaxTotal - endpoint.MaxLive)
	for _, e := range deleted[:max(min(beyond, maxPurged), 0)] {
		key, _, found, err := s.find(ctx, EndpointKey{e.TenantID, e.ID})
		if err != nil {
			return nil, err
		}
		if found {
			drops = append(drops, s.drop(key, e.Revision, unwritten))
		}
	}
	return drops, nil
}

// restore brings a row back from the key that it has.
func (s *Endpoints) restore(ctx context.Context, c change) error {
	key, stored, found, err := s.find(ctx, c.key)
	if err != nil {
		return err
	}
	if !found || stored.Revision != c.was.Revision {
		return ErrConflict
	}
	c.live = 1
	if key == c.key {
		c.row = c.row.over(c.was.Revision)
	} else {
		c.drops = []types.TransactWriteItem{s.drop(key, c.was.Revision, unwritten)}
	}
	return s.transact(ctx, c)
}

// drop removes the row under a key.
func (s *Endpoints) drop(key EndpointKey, revision, condition string) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.name, Key: key.item(), ConditionExpression: &condition,
		ExpressionAttributeValues: attributes{":was": str(revision)},
	}}
}

// update is a write of a transaction.
func (s *Endpoints) update(key EndpointKey, w write) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.name, Key: key.item(),
		UpdateExpression: &w.expression, ConditionExpression: optional(w.condition),
		ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// count changes the number of the tenant's live endpoints, which stays within its bound.
func (s *Endpoints) count(tenantID string, change int) types.TransactWriteItem {
	w := write{expression: "ADD live_count :change", values: attributes{":change": num(int64(change))}}
	if change > 0 {
		w.condition = "attribute_not_exists(live_count) OR live_count < :most"
		w.values[":most"] = num(endpoint.MaxLive)
	}
	return s.update(EndpointKey{tenantID, countsKey}, w)
}

// errBusy is a transaction to try again from the start: nothing was written.
var errBusy = errors.New("another transaction was in the way")

// repeat tries a transaction again while another one is in its way.
func (s *Endpoints) repeat(ctx context.Context, do func() error) error {
	for try := range maxTries {
		err := do()
		if !errors.Is(err, errBusy) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return s.wrap(err)
		}
	}
	return ErrConflict
}

// transact performs a change, the count, and the removals, all or nothing. The SDK gives the call a token,
// so that a repetition of a call that had been performed succeeds.
func (s *Endpoints) transact(ctx context.Context, c change) error {
	items := append([]types.TransactWriteItem{s.update(c.key, c.row), s.count(c.now.TenantID, c.live)}, c.drops...)
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		return canceledBecause(canceled, c.now.Revision)
	}
	return s.wrap(err)
}

// canceledBecause reads the reasons why a transaction was canceled, in the order of its items.
func canceledBecause(canceled *types.TransactionCanceledException, revision string) (verdict error) {
	verdict = canceled
	for n, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "None", "":
		case "TransactionConflict":
			verdict = errBusy
		case "ConditionalCheckFailed":
			return refusal(n, reason.Item, revision)
		default:
			return canceled
		}
	}
	return verdict
}

// refusal reads the row for which the item with this index of a transaction was refused. Where another row
// was to go, it has changed, and the change looks again.
func refusal(n int, row attributes, revision string) error {
	switch {
	case n == 0 && getStr(row, "revision") == revision:
		return nil // it had been performed, and its token was forgotten
	case n == 0:
		return ErrConflict
	case n == 1:
		return ErrLimit
	}
	return errBusy
}
