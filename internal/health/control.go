package health

import "time"

// Refusal says why an operator's request changes nothing; "" when it does.
type Refusal string

// The refusals.
const (
	AlreadyPaused  Refusal = "already_paused"
	NotPaused      Refusal = "not_paused"
	StillPaused    Refusal = "paused"   // resume first: nothing is released to a paused endpoint
	StillDisabled  Refusal = "disabled" // only its owner can change that
	TenantIsPaused Refusal = "tenant_paused"
)

// Pause marks the endpoint, or the tenant if the item is a tenant's, as paused. The item must have
// its key; one that is not stored has version 0.
func (i Item) Pause(now time.Time) (Write, Refusal) {
	if i.Paused {
		return Write{}, AlreadyPaused
	}
	next := i
	next.Paused, next.Changed, next.Held = true, now, i.EndpointID != ""
	return i.put(next, now), ""
}

// Resume takes the mark away. What waited is recovered. An endpoint whose circuit was open before is
// probed first, at once; for one that is disabled, deliveries go on waiting. The endpoints of a tenant
// are turned by the next run of release.
func (i Item) Resume(now time.Time) (Write, Refusal) {
	if !i.Paused {
		return Write{}, NotPaused
	}
	next := i
	next.Paused, next.Changed = false, now
	switch {
	case i.EndpointID == "", i.State == Disabled:
	case i.State == Open:
		next.NextProbe = now
	default:
		next = next.recover(now)
	}
	return i.put(next, now), ""
}

// Release sends what waits for the endpoint now, whatever its circuit and its schedule say.
func (v View) Release(e Endpoint, now time.Time) (Write, Refusal) {
	i := v.item()
	switch {
	case v.Tenant.Paused:
		return Write{}, TenantIsPaused
	case i.Paused:
		return Write{}, StillPaused
	case e.Disabled:
		return Write{}, StillDisabled
	}
	next := i.recover(now).withHeld()
	next.Ordered = true
	return i.put(next, now), ""
}

// Discard drops every delivery of the endpoint whose life began before the time given.
func (i Item) Discard(before, now time.Time) Write {
	next := i
	next.DiscardedBefore = latest(i.DiscardedBefore, before)
	return i.put(next, now)
}
