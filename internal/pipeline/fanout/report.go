package fanout

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// The outcomes of an event.
const (
	outcomeFannedOut = "fanned_out"
	outcomeFailed    = "failed"
	outcomeRejected  = "rejected"
)

// outcome is the word of the log. An event with an error counts as failed even if it is bad, since it comes back.
func (t task) outcome() string {
	switch {
	case t.err != nil:
		return outcomeFailed
	case t.bad != nil:
		return outcomeRejected
	default:
		return outcomeFannedOut
	}
}

// reportBatch logs the outcomes of all events together.
func (h *Handler) reportBatch(ctx context.Context, tasks []task, began time.Time) {
	sends, outcomes := 0, map[string]int{}
	for _, t := range tasks {
		sends += t.sends
		outcomes[t.outcome()]++
	}
	attrs := append(make([]slog.Attr, 0, 8), slog.Int(telemetry.KeyRecords, len(tasks)))
	for _, outcome := range []string{outcomeFannedOut, outcomeRejected, outcomeFailed} {
		if n := outcomes[outcome]; n > 0 {
			attrs = append(attrs, slog.Int(outcome, n))
		}
	}
	attrs = append(attrs, slog.Int(telemetry.KeySends, sends),
		slog.Int64(telemetry.KeyMillis, h.Now().Sub(began).Milliseconds()))
	h.Log.LogAttrs(ctx, slog.LevelInfo, "batch", attrs...)
}

// report writes the line of an event, unless all went well and it is not in the sample.
func (h *Handler) report(ctx context.Context, t task) {
	outcome, level := t.outcome(), slog.LevelInfo
	var odd []string
	if outcome == outcomeFannedOut {
		odd = h.oddities(t)
		if len(odd) == 0 && !h.Sample.Takes(t.event.ID) {
			return
		}
	}
	attrs := []slog.Attr{slog.String(telemetry.KeyMessage, t.record.MessageId)}
	switch {
	case outcome == outcomeFailed:
		level = slog.LevelError
		attrs = append(attrs, telemetry.Cause(t.err), slog.String(telemetry.KeyFault, "internal"))
	case outcome == outcomeRejected:
		level = slog.LevelWarn
	case len(odd) > 0:
		level = slog.LevelWarn
		attrs = append(attrs, slog.String(telemetry.KeyReason, strings.Join(odd, "; ")))
	}
	if t.bad != nil {
		attrs = append(attrs, slog.String(telemetry.KeyEvent, t.bad.EventID), slog.String(telemetry.KeyReason, t.bad.Error()))
	} else {
		attrs = append(attrs, slog.String(telemetry.KeyTenant, t.event.TenantID), slog.String(telemetry.KeyEvent, t.event.ID),
			slog.String(telemetry.KeyEventType, t.event.Type), slog.Int(telemetry.KeyCount, t.sends))
	}
	attrs = append(attrs, telemetry.Trace(t.trace), slog.String(telemetry.KeyOutcome, outcome))
	h.Log.LogAttrs(ctx, level, "event", attrs...)
}

// oddities are the reasons for a line about an event that is delivered nevertheless. Each is counted.
func (h *Handler) oddities(t task) (reasons []string) {
	if t.reused {
		h.Metrics.Count("EventIdsReused", 1)
		reasons = append(reasons, reasonReused)
	}
	if t.mismatch != "" {
		h.Metrics.Count("SchemaMismatches", 1)
		reasons = append(reasons, t.mismatch)
	}
	if t.unchecked {
		h.Metrics.Count("SchemaChecksSkipped", 1)
		reasons = append(reasons, "data not checked, "+event.TooCostly)
	}
	return reasons
}
