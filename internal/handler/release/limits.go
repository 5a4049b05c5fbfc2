package release

import (
	"time"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
)

// lastLimit is how many last attempts the endpoint gets in a tick, apart from those that recovery sends
// within its quota. One that answers gets as many as it would get of a recovery.
func (e *destination) lastLimit(s health.Settings) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lastLimitNow(s)
}

// lastLimitNow is lastLimit under e.mu.
func (e *destination) lastLimitNow(s health.Settings) int {
	switch e.view.Endpoint.State {
	case health.Open:
		return s.Last
	case health.Recovering:
		return 0
	}
	return s.RecoveryLimit
}

// takeLast counts one more last attempt and returns its number, if one more is allowed.
func (e *destination) takeLast(limit int) (number int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lasts >= limit {
		return 0, false
	}
	e.lasts++
	return e.lasts - 1, true
}

func (e *destination) lookedInVain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.idle++
}

// useless reports, from its key alone, that an item need not be read in this tick: it has to wait for
// its last attempt, or recovery is going to send it.
func (e *destination) useless(s health.Settings, d dynamo.Due, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.view.Endpoint
	switch {
	case i.State == health.Open && !e.is.Gone:
		return e.lasts >= s.Last && !d.DueAt.After(now) && !i.OutOfPatience(s, d.DueAt, now)
	case e.lasts >= e.lastLimitNow(s):
		return e.idle >= maxIdle
	}
	return false
}

// class is what can be told from a key of what an endpoint holds.
type class int

const (
	upcoming class = iota // to be held
	patient               // to be sent once more, or to be held
	dying
	classes
)

// takesKey reports whether endLives may look at one more key of the endpoint in this tick, so that one
// endpoint does not keep it from looking at the others.
func (e *destination) takesKey(s health.Settings, d dynamo.Due, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, room := dying, maxEndingEach
	i := e.view.Endpoint
	switch {
	case d.DueAt.After(now):
		c = upcoming
	case i.State == health.Open && !e.is.Gone && !i.OutOfPatience(s, d.DueAt, now):
		c, room = patient, 4*s.Last // some are to be held, or gone
	}
	if e.ended[c] >= room {
		return false
	}
	e.ended[c]++
	return true
}
