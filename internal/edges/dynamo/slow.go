package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// This file has the part of the table EndpointHealth about tenants: the time that each owes (package allowance), as one
// moment, slow_until.

// slowUntil reads a tenant's slow_until, in Unix milliseconds. It is zero if the tenant was never charged.
func slowUntil(item attributes) time.Time {
	if n := read[int64](item, "slow_until"); n != 0 {
		return time.UnixMilli(n).UTC()
	}
	return time.Time{}
}

var errRaced = errors.New("others kept charging the tenant")

// Charge moves a tenant's slow_until by d. If slow_until has passed, it becomes now plus d. Charges at the same moment
// add up, because a charge asks only whether slow_until has passed. If the answer to a charge is lost, the charge may
// count twice.
func (c *Circuits) Charge(
	ctx context.Context, tenantID string, d time.Duration, now time.Time,
) (until time.Time, err error) {
	later := update{
		expression: "SET slow_until = slow_until + :d", condition: "slow_until > :now",
		values: given{":d": d.Milliseconds(), ":now": now.UnixMilli()}, returns: types.ReturnValueUpdatedNew,
	}
	passed := update{
		expression: "SET slow_until = :until, tenant_id = :tenant",
		condition:  "attribute_not_exists(slow_until) OR slow_until <= :now",
		values:     given{":until": now.Add(d).UnixMilli(), ":now": now.UnixMilli(), ":tenant": tenantID},
		returns:    types.ReturnValueUpdatedNew,
	}
	for _, u := range []update{later, passed, later} {
		item, charged, err := c.updateItem(ctx, healthKey(tenantScope+tenantID), u)
		if err != nil || charged {
			return slowUntil(item), err
		}
	}
	return time.Time{}, c.wrap(errRaced)
}

// MoveSlow raises or lowers a tenant's slow_until from one moment to another. It changes nothing if slow_until is
// beyond the new moment already, or is gone.
func (c *Circuits) MoveSlow(ctx context.Context, tenantID string, from, to time.Time) error {
	u := update{
		expression: "SET slow_until = :to, listed = :listed", condition: "slow_until < :to",
		values: given{":to": to.UnixMilli(), ":listed": listedSlow},
	}
	if to.Before(from) {
		u.condition = "slow_until > :to"
	}
	_, _, err := c.updateItem(ctx, healthKey(tenantScope+tenantID), u)
	return err
}

// SlowUntil returns the slow_until of tenants that were charged at some time. The reads are eventually consistent. The
// ids must be distinct.
func (c *Circuits) SlowUntil(ctx context.Context, tenantIDs []string) (map[string]time.Time, error) {
	slow, keys := make(map[string]time.Time, len(tenantIDs)), make([]attributes, len(tenantIDs))
	for n, id := range tenantIDs {
		keys[n] = healthKey(tenantScope + id)
	}
	_, err := c.getBatch(ctx, keys, batchRead{tries: circuitTries}, func(item attributes) {
		if id, ok := scoped(item, tenantScope); ok {
			slow[id] = slowUntil(item)
		}
	})
	return slow, err
}

// ForgetSlow removes a tenant's slow_until, if it still has this value.
func (c *Circuits) ForgetSlow(ctx context.Context, tenantID string, until time.Time) error {
	unmoved := condition{"slow_until = :until", given{":until": until.UnixMilli()}}
	_, err := c.deleteItem(ctx, healthKey(tenantScope+tenantID), unmoved)
	return err
}

// Slow returns the slow_until of at most limit tenants that became slow. more says that there are others. The index is
// a little behind the table, and a slow_until may have passed.
func (c *Circuits) Slow(ctx context.Context, limit int) (slow map[string]time.Time, more bool, err error) {
	items, last, err := c.query(ctx, listed(listedSlow, limit))
	if err != nil {
		return nil, false, err
	}
	var ids []string
	for _, item := range items {
		if id, ok := scoped(item, tenantScope); ok {
			ids = append(ids, id)
		}
	}
	slow, err = c.SlowUntil(ctx, ids)
	return slow, len(last) > 0, err
}
