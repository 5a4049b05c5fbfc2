package dynamo

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/rules/rate"
)

// Rates keeps the moments of package rate in the table EndpointHealth. An endpoint has no item before its first
// delivery under a limit, and DynamoDB deletes the item when nothing was sent for long. A lost item costs the slots
// that were taken ahead: a minute of twice the limit.
type Rates struct{ table }

// NewRates returns the store on a table.
func NewRates(client *dynamodb.Client, name string) *Rates { return &Rates{table{client, name}} }

// rateScope begins the hash keys of these items. It is another than a circuit's, because DynamoDB throttles each hash
// key alone: refusals of slots do not hold up circuits.
const rateScope = "rate#"

// The range keys: each is one moment.
const (
	slotsInTime = "slots"
	slotsLate   = "late"
)

func isRate(item attributes) bool { return strings.HasPrefix(getStr(item, "scope"), rateScope) }

// takenUntil reads a moment, in Unix microseconds. It is zero where no slot was ever taken.
func takenUntil(item attributes) time.Time {
	if n := read[int64](item, "taken_until"); n != 0 {
		return time.UnixMicro(n).UTC()
	}
	return time.Time{}
}

// keptFor is how long an item is kept that is not used.
const keptFor = time.Hour

var errSlots = errors.New("others kept taking the slots")

// Take takes as many slots as are wanted, or as there are. It is one write where the asker has seen the moment as it
// is, and where none is free. If the answer to a write is lost, its slots may be taken twice: some are then left
// unused.
func (r *Rates) Take(ctx context.Context, key EndpointKey, a rate.Ask, now time.Time) (rate.Taken, error) {
	name := slotsInTime
	if a.Late {
		name = slotsLate
	}
	row := attributes{"scope": str(rateScope + key.EndpointID), "name": str(name)}
	seen := a.Seen
	if a.Free(seen, now) == 0 {
		// Only the stored moment decides. The limit may have been raised since, or the item deleted.
		seen = time.Time{}
	}
	for range 4 {
		slots := a.Free(seen, now)
		item, taken, err := r.updateItem(ctx, row, taking(key.TenantID, a, seen, now, slots))
		if err != nil {
			return rate.Taken{}, err
		}
		stored := takenUntil(item)
		if taken {
			return rate.Taken{Slots: slots, First: stored.Add(-rate.Time(a.Limit, slots)), Until: stored}, nil
		}
		if a.Free(stored, now) == 0 {
			return rate.Taken{Until: stored}, nil
		}
		seen = stored
	}
	return rate.Taken{}, r.wrap(errSlots)
}

// taking is the write that takes slots, by the moment as it was last seen. A moment in the future is moved on, even if
// it has changed since, as long as it ends up within the time ahead. A moment in the past is moved on from the present.
func taking(tenantID string, a rate.Ask, seen, now time.Time, slots int) update {
	ends := a.Take(time.Time{}, now, slots)
	u := update{
		expression: "SET taken_until = :until, tenant_id = :tenant, expires_at = :expires",
		condition:  "attribute_not_exists(taken_until) OR taken_until <= :now",
		values: given{
			":until": ends.UnixMicro(), ":now": now.UnixMicro(), ":tenant": tenantID,
			":expires": now.Add(a.Ahead + keptFor).Unix(),
		},
		returns: types.ReturnValueUpdatedNew,
	}
	if seen.After(now) {
		takes := rate.Time(a.Limit, slots)
		u.expression = "SET taken_until = taken_until + :takes, tenant_id = :tenant, expires_at = :expires"
		u.condition = "taken_until > :now AND taken_until <= :latest"
		delete(u.values, ":until")
		u.values[":takes"] = takes.Microseconds()
		u.values[":latest"] = now.Add(a.Ahead - takes).UnixMicro()
	}
	return u
}
