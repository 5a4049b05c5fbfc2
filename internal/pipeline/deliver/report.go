package deliver

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// report writes one wide line per record, except for successes at once that are not in the sample, and a line and the
// metrics of the batch.
func (h *Handler) report(ctx context.Context, ends []end, bad []unreadable, began time.Time) {
	for _, u := range bad {
		h.reportUnreadable(ctx, u)
	}
	for _, e := range ends {
		logged := !e.succeededAtOnce() || h.Output.Sample.Takes(e.message.EventID)
		for i := range e.records {
			if logged {
				h.reportRecord(ctx, e, i > 0)
			}
		}
	}
	h.reportBatch(ctx, ends, len(bad), began)
	h.count(ends)
	if err := h.Output.Metrics.Flush(); err != nil {
		h.Output.Log.ErrorContext(ctx, "metrics lost", telemetry.Cause(err))
	}
}

// reportUnreadable writes the line of a record that no version of this function has written, or that was cut. Its body
// stays out of the log: the dead letter has it, sealed.
func (h *Handler) reportUnreadable(ctx context.Context, u unreadable) {
	const outcome, reason = "unreadable", string(delivery.ReasonUnreadable)
	h.Output.Log.ErrorContext(ctx, "no attempt",
		slog.String(telemetry.KeyMessage, u.record.MessageId), slog.String(telemetry.KeyOutcome, outcome),
		slog.String(telemetry.KeyReason, reason), slog.String(telemetry.KeyFault, "internal"), telemetry.Cause(u.err))
	h.Output.Metrics.Count("Records", 1)
	h.Output.Metrics.Share("Faults", 1, 1)
}

// reportStateLost says that operators will not see the state of a delivery until its next change.
func (h *Handler) reportStateLost(ctx context.Context, err error) {
	h.Output.Log.ErrorContext(ctx, "delivery state not written",
		slog.String(telemetry.KeyFault, "internal"), telemetry.Cause(err))
	h.Output.Metrics.Count("StateWritesLost", 1)
	h.Output.Metrics.Count("ResultsLost", 1)
}

// reportCircuitLost says that an endpoint's circuit opens or closes a batch later than it should.
func (h *Handler) reportCircuitLost(ctx context.Context, key dynamo.EndpointKey, err error) {
	h.Output.Log.WarnContext(ctx, "circuit not written", slog.String(telemetry.KeyTenant, key.TenantID),
		slog.String(telemetry.KeyEndpoint, key.EndpointID), telemetry.Cause(err))
	h.Output.Metrics.Count("CircuitWritesLost", 1)
}

// reportPreviousLost says that receivers with the secret before the rotation cannot verify the delivery.
func (h *Handler) reportPreviousLost(ctx context.Context, key dynamo.EndpointKey, err error) {
	h.Output.Log.ErrorContext(ctx, "previous secret not opened", slog.String(telemetry.KeyTenant, key.TenantID),
		slog.String(telemetry.KeyEndpoint, key.EndpointID), slog.String(telemetry.KeyFault, "internal"), telemetry.Cause(err))
	h.Output.Metrics.Count("PreviousSecretsLost", 1)
}

// reportBatch counts all records by their outcomes.
// The verdicts come in a fixed order, and those without a record are left out.
func (h *Handler) reportBatch(ctx context.Context, ends []end, unreadable int, began time.Time) {
	records, outcomes := unreadable, map[delivery.Verdict]int{}
	for _, e := range ends {
		records += len(e.records)
		outcomes[e.outcome.Verdict] += len(e.records)
	}
	attrs := []slog.Attr{slog.Int(telemetry.KeyRecords, records)}
	for _, verdict := range []delivery.Verdict{
		delivery.VerdictAcknowledged, delivery.VerdictRetry, delivery.VerdictDead, delivery.VerdictDiscarded,
	} {
		if n := outcomes[verdict]; n > 0 {
			attrs = append(attrs, slog.Int(string(verdict), n))
		}
	}
	if unreadable > 0 {
		attrs = append(attrs, slog.Int(string(delivery.ReasonUnreadable), unreadable))
	}
	attrs = append(attrs, slog.Int64(telemetry.KeyMillis, h.Now().Sub(began).Milliseconds()))
	h.Output.Log.LogAttrs(ctx, slog.LevelInfo, "batch", attrs...)
}

// reportRecord writes the line of one record of a delivery.
// The duplicates of a delivery share one attempt. Only the line of the first record is called "attempt", so that the
// number of such lines is the number of attempts.
func (h *Handler) reportRecord(ctx context.Context, e end, duplicate bool) {
	line := "no attempt"
	if e.posted() && !duplicate {
		line = "attempt"
	}
	blame, level := e.blame(), slog.LevelInfo
	if e.err != nil {
		blame = "internal" // even if the receiver failed, too
	}
	switch {
	case blame == "internal":
		level = slog.LevelError
	case e.outcome.Reason != "":
		level = slog.LevelWarn
	}
	h.Output.Log.LogAttrs(ctx, level, line, e.attrs(duplicate, blame)...)
}

// host is the one that is to blame: the receiver's, or that of its token server.
func (e end) host() string {
	to := e.reading.Endpoint
	switch e.outcome.Reason {
	case delivery.ReasonTokenRefused, delivery.ReasonTokenUnreachable:
		to.URL = to.TokenURL()
	}
	return to.Host()
}

// attrs are the fields of a record's line. The receiver appears as its host only, since a path or a query may hold a
// secret.
func (e end) attrs(duplicate bool, blame string) []slog.Attr {
	attrs := []slog.Attr{
		slog.String(telemetry.KeyTenant, e.message.TenantID), slog.String(telemetry.KeyEndpoint, e.message.EndpointID),
		slog.String(telemetry.KeyEvent, e.message.EventID), slog.String(telemetry.KeyDelivery, e.message.DeliveryID),
		telemetry.Trace(e.message.Trace), slog.Int(telemetry.KeyAttempt, e.number()),
		slog.String(telemetry.KeyOutcome, string(e.outcome.Verdict)), slog.Int(telemetry.KeyStatus, e.outcome.Status),
		slog.Int64(telemetry.KeyMillis, e.outcome.Elapsed.Milliseconds()),
	}
	if parent := e.outcome.Parent; parent != (trace.SpanID{}) && !duplicate {
		attrs = append(attrs, slog.String(telemetry.KeyParent, parent.String()))
	}
	if e.message.Replay > 0 {
		attrs = append(attrs, slog.Int(telemetry.KeyReplay, e.message.Replay))
	}
	if duplicate {
		attrs = append(attrs, slog.Bool("duplicate", true))
	}
	if e.outcome.Reason != "" {
		attrs = append(attrs,
			slog.String(telemetry.KeyReason, string(e.outcome.Reason)), slog.String(telemetry.KeyFault, blame),
			slog.String(telemetry.KeyHost, e.host()), slog.Float64(telemetry.KeyNext, e.wait().Seconds()))
	}
	if e.err != nil {
		attrs = append(attrs, telemetry.Cause(e.err))
	}
	return attrs
}
