package jobs

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// perSecond bounds the dead letters and events of all jobs together, for some 40 s of each minute. It is a sixth of the
// bound of recoveries: where receivers hang for 15 s, 75 of the 200 processes of RetryQueue's mapping wait.
const perSecond = 50

// pace spreads the work of all jobs over an invocation.
type pace struct {
	now func() time.Time

	// When the next page may begin.
	free time.Time
}

// wait waits until n more may be sent. It returns false if no time is left then.
func (p *pace) wait(ctx context.Context, n int) bool {
	now := p.now()
	timer := time.NewTimer(p.free.Sub(now))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	if p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(n) * time.Second / perSecond)
	return !invoke.OutOfTime(ctx)
}
