package endpoint

import (
	"slices"
	"time"
)

// Of returns the marks that hold for an endpoint: its own, the pauses and limits of other endpoints that hold at its
// site since before it came there, and the limit of its tenant. So an owner sheds no order by deleting an endpoint and
// creating another one there. Endpoints that were there before keep what they have: the order was not about them.
func (t TenantMarks) Of(e Endpoint) Marks {
	m := t.Endpoints[e.ID]
	for _, id := range t.Carriers(e) {
		other := t.Endpoints[id]
		if other.holdsPause(e) && !m.Paused() {
			m.Pause(other.PausedAt, other.PausedBy, other.PauseReason)
		}
		if other.holdsLimit(e) {
			m.limitAs(other)
		}
	}
	m.limitAs(t.Tenant)
	return m
}

// limitAs takes over a limit that is smaller.
func (m *Marks) limitAs(other Marks) {
	// CONDITIONALS_BOUNDARY: Limit does nothing with the limit that holds already.
	if other.RateLimit > 0 && (m.RateLimit == 0 || other.RateLimit < m.RateLimit) {
		m.Limit(other.RateLimit, other.LimitedAt, other.LimitedBy, other.LimitReason)
	}
}

// Carriers returns the ids of the other endpoints that have a pause or a limit which also holds for e, sorted. Such an
// endpoint may no longer exist.
func (t TenantMarks) Carriers(e Endpoint) (ids []string) {
	if e.Site == "" {
		return nil
	}
	for id, other := range t.Endpoints {
		if id != e.ID && (other.holdsPause(e) || other.holdsLimit(e)) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (m Marks) holdsPause(e Endpoint) bool {
	return m.Paused() && m.PauseSite == e.Site && came(e, m.PausedAt)
}

func (m Marks) holdsLimit(e Endpoint) bool {
	// CONDITIONALS_BOUNDARY: without a limit there is no site of one.
	return m.RateLimit > 0 && m.LimitSite == e.Site && came(e, m.LimitedAt)
}

// came reports whether the endpoint came to its site after an order.
func came(e Endpoint, ordered time.Time) bool { return e.Site != "" && !e.SitedAt.Before(ordered) }

// LeavePause ends a pause that holds for an endpoint at its site, for all that came there. It reports whether it did.
func (m *Marks) LeavePause(e Endpoint) (changed bool) {
	changed = m.holdsPause(e)
	if changed {
		m.PauseSite = ""
	}
	return changed
}

// LeaveLimit is LeavePause for a limit.
func (m *Marks) LeaveLimit(e Endpoint) (changed bool) {
	changed = m.holdsLimit(e)
	if changed {
		m.LimitSite = ""
	}
	return changed
}

// Carries reports whether the marks hold for endpoints that come to a site later. Such marks outlast their endpoint.
func (m Marks) Carries() bool {
	return m.Paused() && m.PauseSite != "" || m.RateLimit > 0 && m.LimitSite != ""
}
