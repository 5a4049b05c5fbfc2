package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/dynamo"
)

// endLives looks at what is due while its endpoint holds it: some go on waiting for the endpoint,
// some are sent once more, some die, some are dropped.
func (t *tick) endLives(ctx context.Context, until time.Time) (left bool) {
	for t.inTime(until) {
		pages := t.takeEnding()
		if len(pages) == 0 {
			break
		}
		t.each(ctx, "reading what is over", len(pages), func(i int) error { return t.end(ctx, pages[i]) })
	}
	left = t.goOn(ctx, t.sweeps, until)
	t.mu.Lock()
	defer t.mu.Unlock()
	return left || len(t.ending) > 0 || t.unread()
}

// takeEnding takes pages of keys for all lanes, endpoint by endpoint in turn.
func (t *tick) takeEnding() (pages [][]dynamo.Due) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ending = inTurn(t.ending)
	n := min(len(t.ending), lanes*pageSize)
	pages = slices.Collect(slices.Chunk(slices.Clone(t.ending[:n]), pageSize))
	t.ending = t.ending[n:]
	return pages
}

func (t *tick) end(ctx context.Context, page []dynamo.Due) error {
	var keys []backlog.Key
	for _, d := range page {
		if !t.skips(t.met(d.EndpointID), d) {
			keys = append(keys, d.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	moves, err := t.decide(ctx, keys)
	if err != nil {
		return err
	}
	t.carry(ctx, moves)
	return nil
}
