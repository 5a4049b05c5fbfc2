package dynamo

import (
	"context"
	"errors"
	"time"
)

// slowUntil reads a tenant's moment, Unix milliseconds; zero when the tenant was never charged.
func slowUntil(item attributes) time.Time {
	if n := read[int64](item, "slow_until"); n != 0 {
		return time.UnixMilli(n).UTC()
	}
	return time.Time{}
}

var errRaced = errors.New("others kept charging the tenant")

// Charge moves a tenant's slow_until by d, from now where it has passed. Charges at the same moment add
// up: a charge asks only whether the moment has passed. One whose answer was lost may count twice.
func (c *Circuits) Charge(
	ctx context.Context, tenantID string, d time.Duration, now time.Time,
) (until time.Time, err error) {
	later := write{
		expression: "SET slow_until = slow_until + :d", condition: "slow_until > :now",
		values: given{":d": d.Milliseconds(), ":now": now.UnixMilli()}, shows: true,
	}
	passed := write{
		expression: "SET slow_until = :until, tenant_id = :tenant",
		condition:  "attribute_not_exists(slow_until) OR slow_until <= :now",
		values:     given{":until": now.Add(d).UnixMilli(), ":now": now.UnixMilli(), ":tenant": tenantID},
		shows:      true,
	}
	for _, w := range []write{later, passed, later} {
		item, charged, err := c.updateItem(ctx, healthKey(tenantScope+tenantID), w)
		if err != nil || charged {
			return slowUntil(item), err
		}
	}
	return time.Time{}, c.wrap(errRaced)
}

// MoveSlow raises or lowers a tenant's slow_until from one moment to another. Where it is beyond that
// already, or gone, it stays.
func (c *Circuits) MoveSlow(ctx context.Context, tenantID string, from, to time.Time) error {
	w := write{
		expression: "SET slow_until = :to, listed = :listed", condition: "slow_until < :to",
		values: given{":to": to.UnixMilli(), ":listed": listedSlow},
	}
	if to.Before(from) {
		w.condition = "slow_until > :to"
	}
	_, _, err := c.updateItem(ctx, healthKey(tenantScope+tenantID), w)
	return err
}

// SlowUntil returns the slow_until of tenants that were ever charged, a little behind. The ids are distinct.
func (c *Circuits) SlowUntil(ctx context.Context, tenantIDs []string) (map[string]time.Time, error) {
	slow, keys := make(map[string]time.Time, len(tenantIDs)), make([]attributes, len(tenantIDs))
	for n, id := range tenantIDs {
		keys[n] = healthKey(tenantScope + id)
	}
	_, err := c.getBatch(ctx, keys, batchRead{tries: circuitTries}, func(item attributes) {
		slow[getStr(item, "tenant_id")] = slowUntil(item)
	})
	return slow, err
}

// ForgetSlow removes a tenant's moment if it is still this one.
func (c *Circuits) ForgetSlow(ctx context.Context, tenantID string, until time.Time) error {
	w := write{condition: "slow_until = :until", values: given{":until": until.UnixMilli()}}
	_, err := c.deleteItem(ctx, healthKey(tenantScope+tenantID), w)
	return err
}
