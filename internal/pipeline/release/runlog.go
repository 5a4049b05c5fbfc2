package release

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
)

// runLog writes a wide line and the metrics at the end of a run.
type runLog struct {
	log     *slog.Logger
	metrics *telemetry.Metrics
}

// write writes the wide line and the metrics of a run. A run that found nothing to do writes one metric, and one that
// was blind, because it could not see its work, says nothing of a run.
func (l runLog) write(ctx context.Context, run counts, took time.Duration, blind bool) {
	attrs := []slog.Attr{
		slog.Int64(telemetry.KeyMillis, took.Milliseconds()),
		slog.Int("endpoints", run.inTrouble), slog.Int("faults", run.faultCount()),
	}
	for kind, n := range run.transferred {
		if n > 0 {
			attrs = append(attrs, slog.Int(kindNames[kind], n))
			l.metrics.Count("Released", n)
		}
	}
	if run.someDue {
		attrs = append(attrs, slog.Float64("late_s", run.lateness.Seconds()))
		l.metrics.Seconds("BacklogLate", run.lateness)
	}
	if run.rateWait > 0 {
		attrs = append(attrs, slog.Float64("rate_wait_s", run.rateWait.Seconds()))
		l.metrics.Seconds("RateWait", run.rateWait)
	}
	// Numbers that are zero are left out: a quiet minute costs one metric.
	if run.held > 0 {
		attrs = append(attrs, slog.Int("seen_held", run.held))
	}
	if run.told > 0 {
		attrs = append(attrs, slog.Int("notices", run.told))
	}
	l.count("NoticesRefused", run.untold)
	l.count("EndpointsInTrouble", run.inTrouble)
	l.count("Faults", run.faultCount())
	if !blind {
		l.metrics.Count("Runs", 1)
	}
	l.log.LogAttrs(ctx, slog.LevelInfo, "run", attrs...)
	if err := l.metrics.Flush(); err != nil {
		l.log.ErrorContext(ctx, "metrics lost", telemetry.Cause(err))
	}
}

// count counts a number that is not zero.
func (l runLog) count(name string, n int) {
	if n > 0 {
		l.metrics.Count(name, n)
	}
}
