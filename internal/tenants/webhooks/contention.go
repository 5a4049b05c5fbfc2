package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// A tenant's URLs are checked and counted one change after the other. A change that meets others waits for up to
// firstWait, and then for twice as long each time, up to longestWait: ten at once are done after three tries each, on
// average. None is begun in the last lastTry of a request's time, so that its answer still comes.
const (
	firstWait   = 200 * time.Millisecond
	longestWait = 1600 * time.Millisecond
	lastTry     = time.Second
)

// freeTries is how often a request may write for the units that it has cost. A write may read all of the tenant's live
// endpoints before.
const freeTries = 4

// store writes a change, and tries again while changes of the tenant's other endpoints are in its way.
func (h *Handler) store(ctx context.Context, c *call, write func() error) error {
	for try := 1; ; try++ {
		if err := h.pay(ctx, c); err != nil {
			return err
		}
		err := write()
		if !errors.Is(err, dynamo.ErrBusy) || !h.wait(ctx, try) {
			return err
		}
	}
}

// pay counts the request's tries to write, and charges those beyond the free ones to its key, so that no crowd makes
// requests dearer than their units.
func (h *Handler) pay(ctx context.Context, c *call) error {
	c.tries++
	if c.operator != "" || c.tries == 1 || c.tries%freeTries != 1 {
		return nil
	}
	key, spent, err := h.Keys.Spend(ctx, c.key, changeUnits, h.Budget, h.Now())
	switch {
	case err != nil:
		return fmt.Errorf("counting a try: %w", err)
	case !spent:
		return problem.New(problem.CodeTooManyRequests)
	}
	c.key = key
	return nil
}

// wait waits before the next try, with jitter. It is false where the request has no time for another one. A whole wait
// is drawn, from nothing on: requests that have met once spread out, and do not meet again.
func (h *Handler) wait(ctx context.Context, try int) bool {
	longest := min(firstWait<<min(try-1, 8), longestWait)
	jitter := time.Duration(h.Random() * float64(longest))
	if end, bounded := ctx.Deadline(); bounded && time.Until(end) < jitter+lastTry {
		return false
	}
	timer := time.NewTimer(jitter)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
