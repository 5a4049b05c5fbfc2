package circuit

import "time"

// The rules of the table EndpointHealth. Each decides on a write by the item that is stored: the conditions of package
// dynamo and the model of the tests follow them, and the package comment has their table.

// Seen reports whether no state was stored since was was read: only then another state may replace the stored one.
func (i Item) Seen(was Item) bool { return i.Version == was.Version }

// Grows reports whether a lease until then may replace the stored one, which is counted in milliseconds.
func (i Item) Grows(until time.Time) bool {
	return i.HeldUntil.IsZero() || until.UTC().Truncate(time.Millisecond).After(i.HeldUntil)
}

// Untouched reports whether neither state nor lease was stored since seen was read: only then the lease may be cleared,
// or the item removed.
func (i Item) Untouched(seen Item) bool { return i.Seen(seen) && i.HeldUntil.Equal(seen.HeldUntil) }

// TakesDeath reports whether a dead letter of the tenant may be noted: none was at or after before, and the endpoint is
// no other tenant's.
func (i Item) TakesDeath(tenantID string, before time.Time) bool {
	return (i.TenantID == "" || i.TenantID == tenantID) && (i.Death.At.IsZero() || i.Death.At.Before(before))
}
