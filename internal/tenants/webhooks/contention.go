package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
)

// A tenant's URLs are checked and counted one change after the other. A change that meets others waits for up to
// firstWait, and then for twice as long each time, up to longestWait: ten at once are done after three tries each, on
// average. None is begun in the last lastTry of a request's time, so that its answer still comes.
const (
	firstWait   = 200 * time.Millisecond
	longestWait = 1600 * time.Millisecond
	lastTry     = time.Second
)

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

// wait waits before the next try. It returns false if the request has no time for another one. The jitter is the whole
// wait, which may be as short as nothing: requests that have met once spread out, and do not meet again.
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
