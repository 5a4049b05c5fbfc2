package console

import (
	"context"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// eachAttempt is the field of an address that asks for a delivery's attempts, from the log.
const eachAttempt = "attempts"

// costs reports whether the page of an address makes a query of the log that is paid for. Every five seconds, one of
// thirty days' log would cost more than the stack.
func (s *Server) costs(q url.Values) bool { return s.LogCosts && q.Get(eachAttempt) != "" }

// longestLife bounds the time of a delivery's attempts: its schedule, and its life in Backlog, each begun again by a
// replay.
const longestLife = 30 * 24 * time.Hour

// addAttempts adds a delivery's attempts from the log, in place of the last one alone.
func (s *Server) addAttempts(ctx context.Context, t *parts.Timeline, d api.Delivery) {
	if d.CreatedAt.IsZero() {
		return
	}
	until := d.CreatedAt.Add(longestLife)
	if !d.UpdatedAt.IsZero() {
		until = d.UpdatedAt.Add(time.Minute)
	}
	lines, err := s.Log.Attempts(ctx, d.DeliveryID, d.CreatedAt.Add(-time.Second), until)
	if err != nil {
		t.Wait("The attempts cannot be shown", err.Error())
		return
	}
	t.AddAttempts(lines)
}
