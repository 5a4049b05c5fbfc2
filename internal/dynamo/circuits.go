package dynamo

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/circuit"
)

// Circuits keeps the circuits of endpoints in trouble, and the time that tenants owe, in the table
// EndpointHealth. A change of state is conditional on the item's version; leases only grow, and no change
// of state touches them.
type Circuits struct {
	table
	owned   []string          // the attributes that Store sets or removes
	returns types.ReturnValue // of Store
}

// NewCircuits returns the store on a table.
func NewCircuits(client *dynamodb.Client, name string) *Circuits {
	return &Circuits{table{client, name}, circuitAttributes, types.ReturnValueAllNew}
}

// WithoutNotices returns the store as deliver has it: IAM keeps deliver from the notices to owners, which no attempt
// changes. Store neither writes nor returns them, unless it is refused: then it returns the item as it is.
func (c *Circuits) WithoutNotices() *Circuits {
	return &Circuits{c.table, namesOf[circuitRow]("held_until", "outage", "pause", "death"), types.ReturnValueNone}
}

const (
	endpointScope = "endpoint#"
	tenantScope   = "tenant#"
)

// healthKey is the key of the endpoint's or tenant's item.
func healthKey(scope string) attributes {
	return attributes{"scope": str(scope), "name": str("health")}
}

func circuitKey(i circuit.Item) attributes { return healthKey(endpointScope + i.EndpointID) }

// circuitOf reads the item of an endpoint. Its id is the one in the item's key: an attribute can be forged, and the
// circuit would then decide over another endpoint's.
func circuitOf(item attributes, endpointID string) (circuit.Item, error) {
	var i circuit.Item
	err := unmarshal(item, &i)
	i.EndpointID = endpointID
	return i, err
}

// scoped is the id that the key of an item names, of an endpoint or of a tenant. Other kinds have none.
func scoped(item attributes, scope string) (id string, ok bool) {
	return strings.CutPrefix(getStr(item, "scope"), scope)
}

// circuitRow is a circuit as it is stored.
type circuitRow struct {
	circuit.Item
	Listed string `dynamodbav:"listed"` // key of listedIndex
}

// circuitAttributes are written by a change of state: all but the key and the lease.
var circuitAttributes = namesOf[circuitRow]("held_until")

// Store replaces the state of was by next's, unless the stored one has changed since. stored is the item afterwards,
// lease included, or without notices next as it is given; where applied is false it is another's.
func (c *Circuits) Store(
	ctx context.Context, was, next circuit.Item,
) (stored circuit.Item, applied bool, err error) {
	w := write{row: circuitRow{next, listedEndpoint}, owned: c.owned, returns: c.returns}
	w.condition = "attribute_not_exists(#version)"
	if was.Version != 0 {
		w.condition, w.values = "#version = :was", given{":was": was.Version}
	}
	item, applied, err := c.updateItem(ctx, circuitKey(next), w)
	if err != nil {
		return circuit.Item{}, false, err
	}
	if applied && c.returns == types.ReturnValueNone {
		return next, true, nil
	}
	stored, err = circuitOf(item, next.EndpointID)
	stored.TenantID = next.TenantID
	return stored, applied && err == nil, err
}

// Hold stores a lease until then, unless there is a longer one.
func (c *Circuits) Hold(ctx context.Context, key EndpointKey, until, now time.Time) error {
	_, _, err := c.updateItem(ctx, healthKey(endpointScope+key.EndpointID), write{
		expression: "SET held_until = :until, tenant_id = :tenant, endpoint_id = :endpoint, listed = :listed, " +
			"version = if_not_exists(version, :version), since = if_not_exists(since, :now)",
		condition: "attribute_not_exists(held_until) OR held_until < :until",
		values: given{
			":until": until, ":tenant": key.TenantID, ":endpoint": key.EndpointID,
			":version": now.UnixNano(), ":now": now, ":listed": listedEndpoint,
		},
	})
	return err
}

// MarkDeath notes a dead letter for release's notice to the owner, unless one at or after before was noted already, or
// the endpoint is another tenant's: a message on DeadLetterQueue may be forged, and names its tenant itself.
func (c *Circuits) MarkDeath(ctx context.Context, key EndpointKey, death circuit.Spell, before time.Time) error {
	_, _, err := c.updateItem(ctx, healthKey(endpointScope+key.EndpointID), write{
		expression: "SET tenant_id = :tenant, endpoint_id = :endpoint, death = :death, " +
			"version = if_not_exists(version, :version) + :one, since = if_not_exists(since, :now)",
		condition: "(attribute_not_exists(death) OR death.#at < :before) AND " +
			"(attribute_not_exists(tenant_id) OR tenant_id = :tenant)",
		values: given{
			":tenant": key.TenantID, ":endpoint": key.EndpointID, ":death": death, ":before": before,
			":version": death.At.UnixNano(), ":one": 1, ":now": death.At,
		},
	})
	return err
}

// unchanged is the condition that an item has the version and the lease of i.
func unchanged(i circuit.Item) write {
	w := write{
		condition: "version = :version AND attribute_not_exists(held_until)",
		values:    given{":version": i.Version},
	}
	if !i.HeldUntil.IsZero() {
		w.condition, w.values[":held"] = "version = :version AND held_until = :held", i.HeldUntil
	}
	return w
}

// Clear removes the lease of i if nobody has changed the item since. A call that was repeated because its
// answer was lost is not refused.
func (c *Circuits) Clear(ctx context.Context, i circuit.Item) (applied bool, err error) {
	w := unchanged(i)
	w.expression, w.sets = "REMOVE held_until", given{"version": i.Version}.encoded()
	w.sets["held_until"] = nil
	_, applied, err = c.updateItem(ctx, circuitKey(i), w)
	return applied, err
}

// Remove deletes the item of i if nobody has changed it since. An item that is gone is no refusal.
func (c *Circuits) Remove(ctx context.Context, i circuit.Item) (applied bool, err error) {
	return c.deleteItem(ctx, circuitKey(i), unchanged(i))
}

// Get returns an endpoint's circuit, strongly consistent; where there is none, it has the endpoint's id only.
func (c *Circuits) Get(ctx context.Context, endpointID string) (circuit.Item, error) {
	item, err := c.getItem(ctx, healthKey(endpointScope+endpointID), "")
	if err != nil {
		return circuit.Item{}, err
	}
	return circuitOf(item, endpointID)
}

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
		values: given{":d": d.Milliseconds(), ":now": now.UnixMilli()}, returns: types.ReturnValueUpdatedNew,
	}
	passed := write{
		expression: "SET slow_until = :until, tenant_id = :tenant",
		condition:  "attribute_not_exists(slow_until) OR slow_until <= :now",
		values:     given{":until": now.Add(d).UnixMilli(), ":now": now.UnixMilli(), ":tenant": tenantID},
		returns:    types.ReturnValueUpdatedNew,
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
		if id, ok := scoped(item, tenantScope); ok {
			slow[id] = slowUntil(item)
		}
	})
	return slow, err
}

// ForgetSlow removes a tenant's moment if it is still this one.
func (c *Circuits) ForgetSlow(ctx context.Context, tenantID string, until time.Time) error {
	w := write{condition: "slow_until = :until", values: given{":until": until.UnixMilli()}}
	_, err := c.deleteItem(ctx, healthKey(tenantScope+tenantID), w)
	return err
}

// listedIndex lists endpoints in trouble and tenants that became slow, apart from each other, for operators. Its
// keys never change: it is written when an item is made or removed, and not with each failure.
const (
	listedIndex    = "listed"
	listedEndpoint = "endpoint" // a value of its hash key, as the next
	listedSlow     = "slow"
)

// Trouble names endpoints that have a circuit, in the order of their ids, at most limit of them. It is a little
// behind; next is "" after the last page.
func (c *Circuits) Trouble(ctx context.Context, limit int, cursor string) (keys []EndpointKey, next string, err error) {
	items, next, err := c.list(ctx, listed(listedEndpoint, limit), cursor)
	for _, item := range items {
		if id, ok := scoped(item, endpointScope); ok {
			keys = append(keys, EndpointKey{getStr(item, "tenant_id"), id})
		}
	}
	return keys, next, err
}

// Slow returns the moments slow_until of at most limit tenants that became slow; more says that there are others. It
// is a little behind, and a moment may have passed.
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

func listed(what string, limit int) query {
	return query{
		index: listedIndex, condition: "listed = :listed", values: given{":listed": what}, limit: limit,
	}
}

var errScope = errors.New("an item of neither an endpoint nor a tenant")

// All returns the circuits that are stored and, by tenant, the moments slow_until, in no order, strongly
// consistent. An item that cannot be read is an error beside all the others.
func (c *Circuits) All(ctx context.Context) (items []circuit.Item, slow map[string]time.Time, err error) {
	slow = map[string]time.Time{}
	var unreadable error
	for q, more := (query{scan: true}), true; more; more = len(q.start) > 0 {
		var found []attributes
		if found, q.start, err = c.query(ctx, q); err != nil {
			return nil, nil, err
		}
		for _, item := range found {
			if id, ok := scoped(item, tenantScope); ok {
				slow[id] = slowUntil(item)
				continue
			}
			id, ok := scoped(item, endpointScope)
			i, err := circuitOf(item, id)
			if !ok {
				err = errScope
			}
			if err != nil {
				unreadable = c.wrap(err)
				continue
			}
			items = append(items, i)
		}
	}
	return items, slow, unreadable
}
