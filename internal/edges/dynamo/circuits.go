package dynamo

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Circuits is the table EndpointHealth. It keeps the circuits of endpoints in trouble, and the time that tenants owe. A
// change of state is conditional on the item's version. Leases only grow, and no change of state touches them.
type Circuits struct {
	table

	// owned are the attributes that Store sets or removes.
	owned []string

	// returns selects the attributes in the answer to Store.
	returns types.ReturnValue
}

// NewCircuits returns the store on a table.
func NewCircuits(client *dynamodb.Client, name string) *Circuits {
	return &Circuits{table{client, name}, circuitAttributes, types.ReturnValueAllNew}
}

// WithoutNotices returns the store for deliver. No attempt changes the notices to owners, and IAM does not allow
// deliver to write them. Store therefore neither writes nor returns notices. Only a refused Store returns the whole
// item.
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

// circuitOf reads the item of an endpoint. The endpoint's id is taken from the item's key. An attribute may be forged,
// and the circuit would then decide about another endpoint.
func circuitOf(item attributes, endpointID string) (circuit.Item, error) {
	var i circuit.Item
	err := unmarshal(item, &i)
	i.EndpointID = endpointID
	return i, err
}

// scoped is the id in the key of an item. The scope says whether it is an endpoint's or a tenant's id. ok is false for
// an item of another scope.
func scoped(item attributes, scope string) (id string, ok bool) {
	return strings.CutPrefix(getStr(item, "scope"), scope)
}

// circuitRow is a circuit as it is stored.
type circuitRow struct {
	circuit.Item

	// Listed is the hash key of listedIndex.
	Listed string `dynamodbav:"listed"`
}

// circuitAttributes are the attributes of a change of state: all except the key and the lease.
var circuitAttributes = namesOf[circuitRow]("held_until")

// Store replaces the state was by next, unless another write has changed the stored state since was was read. stored is
// the item after the call, lease included. Without notices it is next itself. If applied is false, another write made
// the stored item.
func (c *Circuits) Store(
	ctx context.Context, was, next circuit.Item,
) (stored circuit.Item, applied bool, err error) {
	unchanged := condition{holds: "attribute_not_exists(#version)"}
	if was.Version != 0 {
		unchanged = condition{"#version = :was", given{":was": was.Version}}
	}
	item, applied, err := c.updateRow(ctx, circuitKey(next), row{
		from: circuitRow{next, listedEndpoint}, owned: c.owned, condition: unchanged, returns: c.returns,
	})
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

// Hold stores a lease until then, unless a longer one is stored.
func (c *Circuits) Hold(ctx context.Context, key EndpointKey, until, now time.Time) error {
	_, _, err := c.updateItem(ctx, healthKey(endpointScope+key.EndpointID), update{
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

// MarkDeath notes a dead letter, so that release sends a notice to the endpoint's owner. It changes nothing if a death
// at or after before was noted already. It changes nothing either if the endpoint is another tenant's: the tenant is
// taken from a message on DeadLetterQueue, and such a message may be forged.
func (c *Circuits) MarkDeath(ctx context.Context, key EndpointKey, death circuit.Spell, before time.Time) error {
	_, _, err := c.updateItem(ctx, healthKey(endpointScope+key.EndpointID), update{
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
func unchanged(i circuit.Item) condition {
	if i.HeldUntil.IsZero() {
		return condition{"version = :version AND attribute_not_exists(held_until)", given{":version": i.Version}}
	}
	return condition{
		"version = :version AND held_until = :held", given{":version": i.Version, ":held": i.HeldUntil},
	}
}

// Clear removes the lease of i, unless the item has changed since i was read. A call that the SDK repeats because the
// first answer was lost still counts as applied.
func (c *Circuits) Clear(ctx context.Context, i circuit.Item) (applied bool, err error) {
	when := unchanged(i)
	cleared := given{"version": i.Version}.encoded()
	cleared["held_until"] = nil
	_, applied, err = c.updateItem(ctx, circuitKey(i), update{
		expression: "REMOVE held_until", condition: when.holds, values: when.values, leaves: cleared,
	})
	return applied, err
}

// Remove deletes the item of i, unless the item has changed since i was read. A missing item counts as deleted.
func (c *Circuits) Remove(ctx context.Context, i circuit.Item) (applied bool, err error) {
	return c.deleteItem(ctx, circuitKey(i), unchanged(i))
}

// Get returns an endpoint's circuit by a strongly consistent read. For an endpoint without an item, the circuit has
// only the endpoint's id.
func (c *Circuits) Get(ctx context.Context, endpointID string) (circuit.Item, error) {
	item, err := c.getItem(ctx, healthKey(endpointScope+endpointID), "")
	if err != nil {
		return circuit.Item{}, err
	}
	return circuitOf(item, endpointID)
}

// State returns the state of an endpoint's circuit alone, by a strongly consistent read: all that webhooks may read.
func (c *Circuits) State(ctx context.Context, endpointID string) (circuit.State, error) {
	item, err := c.getItem(ctx, healthKey(endpointScope+endpointID), "#state")
	return circuit.State(getStr(item, "state")), err
}

// listedIndex lists endpoints in trouble and slow tenants for operators, each under its own hash key. The keys of an
// item never change. DynamoDB therefore writes the index when an item is made or removed, and not at each failure.
const (
	listedIndex    = "listed"
	listedEndpoint = "endpoint" // a value of its hash key, as the next
	listedSlow     = "slow"
)

// Trouble returns at most limit endpoints with a circuit, in the order of their ids. The index is a little behind the
// table. next is "" after the last page.
func (c *Circuits) Trouble(ctx context.Context, limit int, cursor string) (keys []EndpointKey, next string, err error) {
	items, next, err := c.list(ctx, listed(listedEndpoint, limit), cursor)
	for _, item := range items {
		if id, ok := scoped(item, endpointScope); ok {
			keys = append(keys, EndpointKey{getStr(item, "tenant_id"), id})
		}
	}
	return keys, next, err
}

// listed asks the index that has endpoints in trouble, or slow tenants, and none of the healthy rest.
func listed(kind string, limit int) query {
	return query{
		index: listedIndex, condition: "listed = :listed", values: given{":listed": kind}, limit: limit,
	}
}

var errScope = errors.New("an item of neither an endpoint nor a tenant")

// All returns all stored circuits in no order and, by tenant, the slow_until of tenants. The reads are strongly
// consistent. If an item is unreadable, All returns an error and still returns all other items.
func (c *Circuits) All(ctx context.Context) (items []circuit.Item, slow map[string]time.Time, err error) {
	slow = map[string]time.Time{}
	var unreadable error
	for q, more := (query{scan: true}), true; more; more = len(q.start) > 0 {
		found, last, err := c.query(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		q.start = last
		for _, item := range found {
			if id, ok := scoped(item, tenantScope); ok {
				slow[id] = slowUntil(item)
				continue
			}
			if isRate(item) {
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
