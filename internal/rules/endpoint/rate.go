package endpoint

import "time"

// The bounds of a limit on an endpoint's deliveries, in deliveries a second.
const (
	MinRate = 1
	MaxRate = 300
)

// Rate is the limit that holds for the endpoint, in deliveries a second: the smaller one of its owner's and of an
// operator's mark. 0 means that neither has set one. It is never above MaxRate, whatever a row has.
func (e Endpoint) Rate() int {
	own, mark := max(e.RateLimit, 0), max(e.Marks.RateLimit, 0)
	// CONDITIONALS_BOUNDARY: of two equal limits, either is the smaller one.
	if own == 0 || mark > 0 && mark < own {
		own = mark
	}
	return min(own, MaxRate)
}

// Limit sets an operator's limit on an endpoint, in place of one before. Like the other marks, it reports whether there
// was anything to change.
func (m *Marks) Limit(rate int, at time.Time, by, reason string) (changed bool) {
	if m.RateLimit == rate {
		return false
	}
	m.RateLimit = rate
	m.LimitedAt = at
	m.LimitedBy = by
	m.LimitReason = reason
	return true
}

// Unlimit removes an operator's limit. The owner's is left as it is.
func (m *Marks) Unlimit() (changed bool) {
	if m.RateLimit == 0 {
		return false
	}
	m.RateLimit = 0
	m.LimitedAt = time.Time{}
	m.LimitedBy = ""
	m.LimitReason = ""
	m.LimitSite = ""
	return true
}
