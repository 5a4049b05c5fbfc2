package endpoint

import "time"

// Marks are operators' orders for an endpoint or a tenant. A zero time is a mark that was never made. The tags name
// attributes in the table Endpoints.
type Marks struct {
	PausedAt        time.Time `dynamodbav:"paused_at,omitempty"`
	PausedBy        string    `dynamodbav:"paused_by,omitempty"`        // operator
	PauseReason     string    `dynamodbav:"pause_reason,omitempty"`     // as given
	ResumedAt       time.Time `dynamodbav:"resumed_at,omitempty"`       // end of the last pause
	DiscardedBefore time.Time `dynamodbav:"discarded_before,omitempty"` // older lives of deliveries are dropped
	ReleasedAt      time.Time `dynamodbav:"released_at,omitempty"`      // last order to send the backlog
	RateLimit       int       `dynamodbav:"rate_limit,omitempty"`       // deliveries a second, of each endpoint; 0: none
	LimitedAt       time.Time `dynamodbav:"limited_at,omitempty"`       // when that limit was set
	LimitedBy       string    `dynamodbav:"limited_by,omitempty"`       // operator
	LimitReason     string    `dynamodbav:"limit_reason,omitempty"`     // as given

	// Sites where a pause or a limit of an endpoint holds for endpoints that come there later; "" for nowhere.
	PauseSite string `dynamodbav:"pause_site,omitempty"`
	LimitSite string `dynamodbav:"limit_site,omitempty"`

	// EndpointsPerHost is how many live endpoints a tenant may have at one site, where that is more than the stack's own
	// bound. 0: no more than that.
	EndpointsPerHost int `dynamodbav:"endpoints_per_host,omitempty"`
}

// TenantMarks are all operators' marks on a tenant: for everything it has, and on single endpoints.
type TenantMarks struct {
	Tenant    Marks            `dynamodbav:"tenant"`
	Endpoints map[string]Marks `dynamodbav:"endpoints,omitempty"` // by id
}

// The marks of a tenant are one row, which DynamoDB bounds at 400 KB, and each batch of deliveries pays for its length:
// 32 read units at maxMarks. Some 300 endpoints with marks fit, since a mark takes markSize besides its texts.
const (
	maxMarks = 128 << 10
	markSize = 400
)

// Full reports whether no further endpoint of the tenant should have marks.
func (t TenantMarks) Full() bool {
	size := 0
	for _, m := range t.Endpoints {
		size += markSize + len(m.PausedBy) + len(m.PauseReason) + len(m.LimitedBy) + len(m.LimitReason)
	}
	return size > maxMarks
}

// Paused reports whether nothing is sent.
func (m Marks) Paused() bool { return !m.PausedAt.IsZero() }

// Pause stops all sends. Like the other changes, it reports whether there was anything to change.
func (m *Marks) Pause(at time.Time, by, reason string) (changed bool) {
	if m.Paused() {
		return false
	}
	m.PausedAt = at
	m.PausedBy = by
	m.PauseReason = reason
	return true
}

// Resume ends a pause.
func (m *Marks) Resume(at time.Time) (changed bool) {
	if !m.Paused() {
		return false
	}
	m.PausedAt = time.Time{}
	m.PausedBy = ""
	m.PauseReason = ""
	m.PauseSite = ""
	m.ResumedAt = at
	return true
}

// Discard orders the drop of deliveries with lives that began before a moment. The moment only grows.
func (m *Marks) Discard(before time.Time) (changed bool) { return grow(&m.DiscardedBefore, before) }

// Release orders the send of all waiting deliveries. The moment of the order only grows.
func (m *Marks) Release(at time.Time) (changed bool) { return grow(&m.ReleasedAt, at) }

// Allow sets how many live endpoints a tenant may have at one site, 0 for as many as the stack allows.
func (m *Marks) Allow(perSite int) (changed bool) {
	changed = m.EndpointsPerHost != perSite
	m.EndpointsPerHost = perSite
	return changed
}

func grow(mark *time.Time, at time.Time) bool {
	if !at.After(*mark) {
		return false
	}
	*mark = at
	return true
}

// DiscardedBefore is the last discard's moment, given the tenant's marks: older lives are dropped.
func (e Endpoint) DiscardedBefore(tenant Marks) time.Time {
	if tenant.DiscardedBefore.After(e.Marks.DiscardedBefore) {
		return tenant.DiscardedBefore
	}
	return e.Marks.DiscardedBefore
}
