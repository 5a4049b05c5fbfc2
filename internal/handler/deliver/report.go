package deliver

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// report writes one wide line per record, except for those that succeeded at once and are not in the
// sample, and a line and the metrics of the batch.
func (h *Handler) report(ctx context.Context, b *batch, began time.Time) {
	for _, t := range b.tasks {
		logged := !t.firstTime() || h.Sample.Takes(t.message.EventID)
		for i := range t.records {
			duplicate := i > 0
			d := h.count(t, duplicate)
			if logged {
				h.reportRecord(ctx, t, duplicate, d)
			}
		}
	}
	h.reportBatch(ctx, b, began)
	h.tally(b.tasks)
	if err := h.Metrics.Flush(); err != nil {
		h.Log.ErrorContext(ctx, "metrics lost", telemetry.KeyError, err.Error())
	}
}

func (h *Handler) reportUnreadable(ctx context.Context, r events.SQSMessage, err error) {
	const outcome, reason = "unreadable", string(delivery.ReasonUnreadable)
	h.Log.ErrorContext(ctx, "no attempt", telemetry.KeyMessage, r.MessageId, telemetry.KeyOutcome, outcome,
		telemetry.KeyReason, reason, telemetry.KeyFault, "ours", telemetry.KeyError, err.Error())
	h.Metrics.Count("NotAttempted", 1, telemetry.Dimensions{Outcome: outcome, Reason: reason, Fault: "ours"})
	h.Metrics.Count("Records", 1, telemetry.Dimensions{})
	h.Metrics.Share("Tried", 1, "Faults", 1)
}

func (h *Handler) reportStateLost(ctx context.Context, err error) {
	h.Log.ErrorContext(ctx, "delivery state not written", telemetry.KeyFault, "ours", telemetry.KeyError, err.Error())
	h.Metrics.Count("StateWritesLost", 1, telemetry.Dimensions{Fault: "ours"})
	h.Metrics.Count("ResultsLost", 1, telemetry.Dimensions{})
}

// reportBatch says what became of all records together.
func (h *Handler) reportBatch(ctx context.Context, b *batch, began time.Time) {
	records, outcomes := len(b.unreadable), map[delivery.Verdict]int{}
	for _, t := range b.tasks {
		records += len(t.records)
		outcomes[t.outcome.Verdict] += len(t.records)
	}
	attrs := []slog.Attr{slog.Int(telemetry.KeyRecords, records)}
	for _, verdict := range []delivery.Verdict{
		delivery.VerdictAcknowledged, delivery.VerdictRetry, delivery.VerdictDead, delivery.VerdictDiscarded,
	} {
		if n := outcomes[verdict]; n > 0 {
			attrs = append(attrs, slog.Int(string(verdict), n))
		}
	}
	if n := len(b.unreadable); n > 0 {
		attrs = append(attrs, slog.Int(string(delivery.ReasonUnreadable), n))
	}
	attrs = append(attrs, slog.Int64(telemetry.KeyMillis, h.Now().Sub(began).Milliseconds()))
	h.Log.LogAttrs(ctx, slog.LevelInfo, "batch", attrs...)
}

// count counts one record of a task. Attempts, which are POSTs, are counted apart from what else became
// of the records, duplicates of an attempt among them.
func (h *Handler) count(t *task, duplicate bool) telemetry.Dimensions {
	d := telemetry.Dimensions{Outcome: string(t.outcome.Verdict), Reason: string(t.outcome.Reason), Fault: t.blame()}
	if t.posted() && !duplicate {
		h.Metrics.Count("Attempts", 1, d)
		h.Metrics.Millis("Attempt", t.outcome.Elapsed, telemetry.Dimensions{Outcome: d.Outcome})
	} else {
		h.Metrics.Count("NotAttempted", 1, d)
	}
	return d
}

// reportRecord writes the line of one record of a task.
func (h *Handler) reportRecord(ctx context.Context, t *task, duplicate bool, d telemetry.Dimensions) {
	line := "no attempt"
	if t.posted() && !duplicate {
		line = "attempt"
	}
	blame, level := d.Fault, slog.LevelInfo
	if t.err != nil {
		blame = "ours" // besides whatever the receiver did
	}
	switch {
	case blame == "ours":
		level = slog.LevelError
	case d.Reason != "":
		level = slog.LevelWarn
	}
	h.Log.LogAttrs(ctx, level, line, t.attrs(duplicate, blame)...)
}

func (t *task) attrs(duplicate bool, blame string) []slog.Attr {
	attrs := []slog.Attr{
		slog.String(telemetry.KeyTenant, t.message.TenantID), slog.String(telemetry.KeyEndpoint, t.message.EndpointID),
		slog.String(telemetry.KeyEvent, t.message.EventID), slog.String(telemetry.KeyDelivery, t.message.DeliveryID),
		slog.Int(telemetry.KeyAttempt, t.number()),
		slog.String(telemetry.KeyOutcome, string(t.outcome.Verdict)), slog.Int(telemetry.KeyStatus, t.outcome.Status),
		slog.Int64(telemetry.KeyMillis, t.outcome.Elapsed.Milliseconds()),
	}
	if t.message.Replay > 0 {
		attrs = append(attrs, slog.Int(telemetry.KeyReplay, t.message.Replay))
	}
	if duplicate {
		attrs = append(attrs, slog.Bool("duplicate", true))
	}
	if t.outcome.Reason != "" {
		attrs = append(attrs,
			slog.String(telemetry.KeyReason, string(t.outcome.Reason)), slog.String(telemetry.KeyFault, blame),
			slog.String(telemetry.KeyHost, host(t.to.endpoint.URL)), slog.Float64(telemetry.KeyNext, t.next.Wait.Seconds()))
	}
	if t.err != nil {
		attrs = append(attrs, slog.String(telemetry.KeyError, t.err.Error()))
		var panicked *parallel.Panic
		if errors.As(t.err, &panicked) {
			attrs = append(attrs, slog.String("stack", string(panicked.Stack)))
		}
	}
	return attrs
}

// blame says whose fault it is that a delivery was not acknowledged: nobody's where the schedule or
// the tenant decided that nothing is sent now.
func (t *task) blame() string {
	switch {
	case t.outcome.Reason.Ours():
		return "ours"
	case t.posted() && t.outcome.Reason != "":
		return "receiver"
	default:
		return ""
	}
}

// number is the attempt's, or that of the one before where none was made.
func (t *task) number() int {
	if t.posted() {
		return t.place
	}
	return t.place - 1
}

// host is the part of a URL that a log may show.
func host(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
