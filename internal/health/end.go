package health

import (
	"time"

	"github.com/herald-webhooks/herald/internal/retry"
)

// ended reports whether a life is over that waits for an endpoint which is disabled or paused, and why. A
// life that ended before that waited for its turn: it is kept for the recovery, until MaxLife is over, so
// that a short pause kills nothing.
func (v View) ended(disabled bool, startedAt, diesAt, now time.Time) (Reason, bool) {
	i, since := v.Endpoint, now
	earlier := func(at time.Time) {
		if at.Before(since) {
			since = at
		}
	}
	reason := ReasonPaused
	if disabled {
		reason = ReasonDisabled
	}
	if disabled && i.State == Disabled {
		earlier(i.Since)
	}
	if i.Paused {
		earlier(i.Changed)
	}
	if v.Tenant.Paused {
		earlier(v.Tenant.Changed)
	}
	if diesAt.IsZero() || now.Before(diesAt) {
		return "", false
	}
	return reason, !diesAt.Before(since) || !now.Before(startedAt.Add(retry.MaxLife))
}

// held keeps what is held, and holds what would be sent. What is kept beyond the end of its life is
// looked at again when MaxLife is over.
func held(s Settings, w Waiting, now time.Time) Fate {
	switch longest := w.StartedAt.Add(retry.MaxLife); {
	case !now.Before(w.DiesAt) && w.DueAt.Before(longest):
		return Fate{Step: Redate, Due: longest}
	case due(s, w, now).Step == SendDue:
		return Fate{Step: Redate, Due: w.DiesAt}
	}
	return Fate{}
}
