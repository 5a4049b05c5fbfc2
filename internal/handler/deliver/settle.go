package deliver

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// stateWrites bounds the concurrent conditional writes of one batch; stateTime, all of its
// writes: what they record is not worth holding an invocation for.
const (
	stateWrites = 10
	stateTime   = 2 * time.Second
)

// settle moves first failures to RetryQueue, makes later ones invisible until they are due, records states, and returns
// the records that SQS has to keep.
func (h *Handler) settle(ctx context.Context, jobs []*job) []string {
	kept := map[*job]bool{} // the message stays in its queue
	h.move(ctx, jobs, kept)
	h.keep(ctx, jobs, kept)
	h.record(ctx, jobs, kept)
	var failed []string
	for _, j := range jobs {
		if j.unreadable != nil || kept[j.primary()] {
			failed = append(failed, j.record.MessageID)
		}
	}
	h.report(ctx, jobs)
	return failed
}

// primary is the job whose fate this one shares.
func (j *job) primary() *job {
	if j.twin != nil {
		return j.twin
	}
	return j
}

func (j *job) retry() bool {
	return j.outcome != nil && j.outcome.Verdict != delivery.VerdictAcknowledged && j.outcome.Verdict != delivery.VerdictDiscarded
}

// wait is how long until the next attempt of a job that is to be retried.
func (h *Handler) wait(j *job) time.Duration {
	elapsed := time.Duration(0)
	if j.retrying() {
		elapsed = h.Now().Sub(j.received)
	}
	switch {
	case j.outcome.Reason == delivery.ReasonNotReady:
		return min(j.invisible, retry.Cap-elapsed)
	case h.Schedule.Exhausted(j.number + 1):
		return 0 // SQS moves it to DeadLetterQueue at once, not after 12 hours
	default:
		return h.Schedule.Wait(j.number+1, h.Random(), j.outcome.RetryAfter, elapsed)
	}
}

// move sends what failed on DeliveryQueue to RetryQueue. Only what could not be sent stays.
func (h *Handler) move(ctx context.Context, jobs []*job, kept map[*job]bool) {
	var moved []*job
	var messages []queue.Outgoing
	for _, j := range jobs {
		if j.twin != nil || j.retrying() || !j.retry() {
			continue
		}
		j.next = h.wait(j)
		m := j.message
		m.Retrying, m.Attempts = true, j.attempts()
		delay := j.next
		if delay > retry.MaxDelay {
			m.NotBefore, delay = h.Now().Add(delay), retry.MaxDelay
		}
		moved = append(moved, j)
		messages = append(messages, queue.Of(m, delay))
	}
	for i, err := range h.RetryQueue.Send(ctx, messages) {
		if err != nil {
			kept[moved[i]] = true
			h.lost(moved[i], "SendsLost", err)
		}
	}
}

// keep changes the visibility of what failed on RetryQueue: failed for SQS, and invisible
// until its next attempt.
func (h *Handler) keep(ctx context.Context, jobs []*job, kept map[*job]bool) {
	var waiting []*job
	var changes []queue.VisibilityChange
	for _, j := range jobs {
		p := j.primary()
		if !p.retrying() || !p.retry() {
			continue
		}
		if !kept[p] { // whichever of the twins comes first
			p.next = h.wait(p)
			kept[p] = true
		}
		waiting = append(waiting, j)
		changes = append(changes, queue.VisibilityChange{ReceiptHandle: j.record.ReceiptHandle, Wait: p.next})
	}
	for i, err := range h.Visibility.ChangeVisibility(ctx, changes) {
		if err != nil { // it comes back after the queue's own visibility timeout: early, never lost
			h.lost(waiting[i], "ParksLost", err)
		}
	}
}

// lost says that SQS did not take what became of an attempt: a fault of ours, whatever the
// receiver did. The message comes back by itself.
func (h *Handler) lost(j *job, metric string, err error) {
	j.err = err
	h.Metrics.Count(metric, 1, telemetry.Dimensions{Fault: "ours"})
}

// attempts counts the places in the schedule used so far, this attempt included.
func (j *job) attempts() int {
	switch {
	case j.outcome != nil && j.outcome.Reason == delivery.ReasonExhausted:
		return j.message.Attempts + j.number - 1 // the schedule has no such place
	case j.retrying():
		return j.message.Attempts + j.number
	case j.posted:
		return 1
	default:
		return 0
	}
}

// record writes the delivery states. A failed write is logged and counted: the queues know.
func (h *Handler) record(ctx context.Context, jobs []*job, kept map[*job]bool) {
	now := h.Now()
	var done, open []delivery.Record
	for _, j := range jobs {
		if j.twin != nil || j.outcome == nil {
			continue
		}
		switch j.outcome.Reason {
		case delivery.ReasonExhausted, delivery.ReasonNotReady: // says nothing new
			continue
		}
		r := j.state(now)
		if j.outcome.Verdict == delivery.VerdictAcknowledged {
			done = append(done, r)
		} else {
			if kept[j] && !j.retrying() {
				r.NextAttemptAt = time.Time{} // stays on DeliveryQueue: SQS knows until when
			}
			open = append(open, r)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	defer cancel()
	if err := h.States.Acknowledge(ctx, done); err != nil {
		h.stateLost(ctx, err)
	}
	for _, err := range parallel.Each(len(open), stateWrites, func(i int) error {
		_, err := h.States.Update(ctx, open[i])
		return err
	}) {
		if err != nil {
			h.stateLost(ctx, err)
		}
	}
}

func (j *job) state(now time.Time) delivery.Record {
	name, _ := j.message.EventType() // decoded before: cannot fail
	r := delivery.Record{
		Ref: j.message.Ref, EventType: name, State: delivery.Retrying, Attempts: j.attempts(), LastStatus: j.outcome.Status,
		Reason: j.outcome.Reason, DurationMS: j.outcome.Elapsed.Milliseconds(), UpdatedAt: now,
	}
	switch j.outcome.Verdict {
	case delivery.VerdictAcknowledged:
		r.State = delivery.Acknowledged
	case delivery.VerdictDiscarded:
		r.State = delivery.Discarded
	case delivery.VerdictRetry:
		r.NextAttemptAt = now.Add(j.next)
	}
	return r
}

func (h *Handler) stateLost(ctx context.Context, err error) {
	h.Log.ErrorContext(ctx, "delivery state not written", telemetry.KeyFault, "ours", telemetry.KeyError, err.Error())
	h.Metrics.Count("StateWritesLost", 1, telemetry.Dimensions{Fault: "ours"})
}

// report writes one wide line per record and the metrics of the batch.
func (h *Handler) report(ctx context.Context, jobs []*job) {
	for _, j := range jobs {
		if j.unreadable != nil {
			h.Log.ErrorContext(ctx, "no attempt", telemetry.KeyMessage, j.record.MessageID, telemetry.KeyOutcome, "unreadable",
				telemetry.KeyReason, string(delivery.ReasonUnreadable), telemetry.KeyFault, "ours", telemetry.KeyError, j.unreadable.Error())
			h.Metrics.Count("NotAttempted", 1, telemetry.Dimensions{Outcome: "unreadable", Reason: string(delivery.ReasonUnreadable), Fault: "ours"})
			continue
		}
		h.reportOne(ctx, j)
	}
	if err := h.Metrics.Flush(); err != nil {
		h.Log.ErrorContext(ctx, "metrics lost", telemetry.KeyError, err.Error())
	}
}

func (h *Handler) reportOne(ctx context.Context, j *job) {
	p := j.primary()
	blame := p.blame()
	fault, level := blame, slog.LevelInfo
	if j.err != nil {
		fault = "ours" // besides whatever the receiver did
	}
	switch {
	case fault == "ours":
		level = slog.LevelError
	case p.outcome.Reason != "":
		level = slog.LevelWarn
	}
	attrs := make([]slog.Attr, 0, 14)
	attrs = append(attrs,
		slog.String(telemetry.KeyTenant, j.message.TenantID), slog.String(telemetry.KeyEndpoint, j.message.EndpointID),
		slog.String(telemetry.KeyEvent, j.message.EventID), slog.String(telemetry.KeyDelivery, j.message.DeliveryID),
		slog.Int(telemetry.KeyAttempt, p.attempts()),
		slog.String(telemetry.KeyOutcome, string(p.outcome.Verdict)), slog.Int(telemetry.KeyStatus, p.outcome.Status),
		slog.Int64(telemetry.KeyMillis, p.outcome.Elapsed.Milliseconds()))
	if j.message.Replay > 0 {
		attrs = append(attrs, slog.Int(telemetry.KeyReplay, j.message.Replay))
	}
	if j.twin != nil {
		attrs = append(attrs, slog.Bool("duplicate", true))
	}
	if p.outcome.Reason != "" {
		attrs = append(attrs, slog.String(telemetry.KeyReason, string(p.outcome.Reason)), slog.String(telemetry.KeyFault, fault),
			slog.String(telemetry.KeyHost, host(p.endpoint.URL)), slog.Float64(telemetry.KeyNext, p.next.Seconds()))
	}
	if j.err != nil {
		attrs = append(attrs, slog.String(telemetry.KeyError, j.err.Error()))
		var panicked *parallel.Panic
		if errors.As(j.err, &panicked) {
			attrs = append(attrs, slog.String("stack", string(panicked.Stack)))
		}
	}
	line := "attempt"
	if !p.posted || j.twin != nil {
		line = "no attempt"
	}
	h.log(ctx, level, line, attrs)
	h.count(j, blame)
}

// log is LogAttrs without looking for the line of code, which no handler here shows.
func (h *Handler) log(ctx context.Context, level slog.Level, line string, attrs []slog.Attr) {
	if to := h.Log.Handler(); to.Enabled(ctx, level) {
		r := slog.NewRecord(h.Now(), level, line, 0)
		r.AddAttrs(attrs...)
		_ = to.Handle(ctx, r) // as LogAttrs does: there is nowhere else to say so
	}
}

// blame says whose doing it is that a delivery was not acknowledged: nobody's where the
// schedule or the tenant decided that nothing is sent now.
func (j *job) blame() string {
	switch {
	case j.outcome.Reason.Ours():
		return "ours"
	case j.posted && j.outcome.Reason != "":
		return "receiver"
	default:
		return ""
	}
}

// count keeps attempts, which are POSTs, apart from what else became of the records.
func (h *Handler) count(j *job, blame string) {
	p := j.primary()
	d := telemetry.Dimensions{Outcome: string(p.outcome.Verdict), Reason: string(p.outcome.Reason), Fault: blame}
	if !p.posted || j.twin != nil {
		h.Metrics.Count("NotAttempted", 1, d)
		return
	}
	h.Metrics.Count("Attempts", 1, d)
	h.Metrics.Millis("Attempt", p.outcome.Elapsed, telemetry.Dimensions{Outcome: d.Outcome})
}

// host is all of a URL that a log may show.
func host(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
