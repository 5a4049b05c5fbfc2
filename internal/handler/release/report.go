package release

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// tally is what a tick did, under tick.mu.
type tally struct {
	moved  map[kind]int
	held   int // items that were seen and wait for their endpoint
	late   time.Duration
	dued   bool // something was due
	faults map[string]int
}

func newTally() tally { return tally{moved: map[kind]int{}, faults: map[string]int{}} }

func (t *tick) count(k kind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tally.moved[k]++
}

// late notes by how much something that is sent is late.
func (t *tick) late(by time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tally.dued = true
	t.tally.late = max(t.tally.late, by)
}

var errUnreadable = errors.New("a later release wrote it")

// see counts what is held, and reports once that something cannot be read.
func (t *tick) see(ctx context.Context, page dynamo.Page) {
	if len(page.Unreadable) > 0 {
		t.fault(ctx, "reading an item", errUnreadable)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range page.Items {
		if i.Held {
			t.tally.held++
		}
	}
}

// fault counts a fault of ours. Only the first of each kind goes to the log.
func (t *tick) fault(ctx context.Context, doing string, err error) {
	t.mu.Lock()
	t.tally.faults[doing]++
	first := t.tally.faults[doing] == 1
	t.mu.Unlock()
	if first {
		t.Log.ErrorContext(ctx, "fault",
			telemetry.KeyAction, doing, telemetry.KeyFault, "ours", telemetry.KeyError, err.Error())
	}
}

// report writes one wide line and the metrics. A tick that found nothing to do writes one metric.
func (t *tick) report(ctx context.Context) {
	t.noteUnsent()
	t.mu.Lock()
	defer t.mu.Unlock()
	faults := 0
	for _, n := range t.tally.faults {
		faults += n
	}
	attrs := []slog.Attr{
		slog.Int64(telemetry.KeyMillis, t.Now().Sub(t.began).Milliseconds()),
		slog.Int("endpoints", len(t.destinations)), slog.Int("faults", faults),
	}
	for _, k := range kinds {
		if n := t.tally.moved[k]; n > 0 {
			attrs = append(attrs, slog.Int(string(k), n))
			t.Metrics.Count("Released", n, telemetry.Dimensions{Outcome: string(k)})
		}
	}
	if t.tally.dued {
		attrs = append(attrs, slog.Float64("late_s", t.tally.late.Seconds()))
		t.Metrics.Seconds("BacklogLate", t.tally.late, telemetry.Dimensions{})
	}
	if t.tally.held > 0 {
		attrs = append(attrs, slog.Int("seen_held", t.tally.held))
		t.Metrics.Count("BacklogHeldSeen", t.tally.held, telemetry.Dimensions{})
	}
	if faults > 0 {
		t.Metrics.Count("Faults", faults, telemetry.Dimensions{})
	}
	if !t.blind {
		t.Metrics.Count("Ticks", 1, telemetry.Dimensions{})
	}
	t.Log.LogAttrs(ctx, slog.LevelInfo, "tick", attrs...)
	if err := t.Metrics.Flush(); err != nil {
		t.Log.ErrorContext(ctx, "metrics lost", telemetry.KeyError, err.Error())
	}
}

// noteUnsent notes how late that is for which there was no time.
func (t *tick) noteUnsent() {
	for _, l := range t.due {
		for _, d := range l.keys {
			if e := t.met(d.EndpointID); e == nil || e.runs() {
				t.late(t.Now().Sub(d.DueAt))
			}
		}
	}
}
