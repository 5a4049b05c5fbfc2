package release

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// tally counts the work of a run. It is safe for concurrent use.
type tally struct {
	log *slog.Logger

	mu     sync.Mutex
	moved  map[kind]int
	held   int // items that were seen and wait for their endpoint
	due    bool
	behind time.Duration // the longest of a due delivery
	faults map[string]int

	told, refused int // notices for owners that the bus took, and that it refused
}

func newTally(log *slog.Logger) *tally {
	return &tally{log: log, moved: map[kind]int{}, faults: map[string]int{}}
}

// each runs do(0) … do(n-1), at most lanes at once, and counts their errors as faults.
func (t *tally) each(ctx context.Context, doing string, n int, do func(i int) error) []error {
	errs := parallel.Each(n, lanes, do)
	for _, err := range errs {
		if err != nil {
			t.fault(ctx, doing, err)
		}
	}
	return errs
}

func (t *tally) count(k kind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.moved[k]++
}

// late notes the lateness of something due.
func (t *tally) late(by time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = true
	t.behind = max(t.behind, by)
}

// notice counts a notice for an owner.
func (t *tally) notice(taken bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if taken {
		t.told++
		return
	}
	t.refused++
}

// see counts held items, and items that cannot be read as a fault.
func (t *tally) see(ctx context.Context, page dynamo.Page) {
	if len(page.Unreadable) > 0 {
		t.fault(ctx, "reading an item", errUnreadable)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range page.Items {
		if i.Held {
			t.held++
		}
	}
}

// fault counts a fault of ours. Only the first of each kind goes to the log.
func (t *tally) fault(ctx context.Context, doing string, err error) {
	t.mu.Lock()
	t.faults[doing]++
	first := t.faults[doing] == 1
	t.mu.Unlock()
	if first {
		t.log.LogAttrs(ctx, slog.LevelError, "fault", telemetry.Cause(err),
			slog.String(telemetry.KeyAction, doing), slog.String(telemetry.KeyFault, "ours"))
	}
}

// report writes one wide line and the metrics, with the number of endpoints in trouble. A run that found nothing to do
// writes one metric, and one that was blind, because it could not see its work, says nothing of a run.
func (t *tally) report(
	ctx context.Context, metrics *telemetry.Metrics, took time.Duration, endpoints int, blind bool,
) {
	t.mu.Lock()
	defer t.mu.Unlock()
	faults := 0
	for _, n := range t.faults {
		faults += n
	}
	attrs := []slog.Attr{
		slog.Int64(telemetry.KeyMillis, took.Milliseconds()),
		slog.Int("endpoints", endpoints), slog.Int("faults", faults),
	}
	for _, k := range kinds {
		if n := t.moved[k]; n > 0 {
			attrs = append(attrs, slog.Int(string(k), n))
			metrics.Count("Released", n)
		}
	}
	if t.due {
		attrs = append(attrs, slog.Float64("late_s", t.behind.Seconds()))
		metrics.Seconds("BacklogLate", t.behind)
	}
	if t.held > 0 {
		attrs = append(attrs, slog.Int("seen_held", t.held))
	}
	if t.told > 0 {
		attrs = append(attrs, slog.Int("notices", t.told))
	}
	if t.refused > 0 {
		metrics.Count("NoticesRefused", t.refused)
	}
	if endpoints > 0 {
		metrics.Count("EndpointsInTrouble", endpoints)
	}
	if faults > 0 {
		metrics.Count("Faults", faults)
	}
	if !blind {
		metrics.Count("Runs", 1)
	}
	t.log.LogAttrs(ctx, slog.LevelInfo, "run", attrs...)
	if err := metrics.Flush(); err != nil {
		t.log.ErrorContext(ctx, "metrics lost", telemetry.Cause(err))
	}
}
