package deliver

import (
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// count counts for the alarms. One metric has the deliveries that were attempted or met an internal error. Another has
// the first attempts, and the successful ones among them. A delivery that was not due, or has a disabled endpoint,
// counts in neither. A delivery that an open circuit holds counts as a failed first attempt. Otherwise an outage of all
// endpoints would seem to end as soon as their circuits open.
func (h *Handler) count(ends []end) {
	var records, tried, faults, first, acknowledged, replayed int
	for _, e := range ends {
		records += len(e.records)
		if e.outcome.Reason == delivery.ReasonCircuitOpen && e.first() {
			first++
		}
		ours := e.outcome.Reason.Ours()
		if !e.posted() && !ours {
			continue
		}
		tried++
		if ours {
			faults++
		}
		if !e.posted() {
			continue
		}
		h.measure(e)
		// Jobs replay to RetryQueue, so that a first attempt may be made there.
		if e.place == 1 {
			replayed += min(e.message.Replay, 1)
		}
		if e.first() {
			first++
			if e.outcome.Verdict == delivery.VerdictAcknowledged {
				acknowledged++
			}
		}
	}
	h.Output.Metrics.Count("Records", records)
	h.Output.Metrics.Share("Faults", faults, tried)
	h.Output.Metrics.Share("FirstAttemptsAcknowledged", acknowledged, first)
	if replayed > 0 {
		h.Output.Metrics.Count("Replayed", replayed)
	}
}

// measure takes the times of an attempt, and of the service levels. The objective for first attempts leaves out
// SlowQueue, because deliveries wait there on purpose.
func (h *Handler) measure(e end) {
	h.Output.Metrics.Millis("Attempt", e.outcome.Elapsed)
	if e.first() && e.from == delivery.DeliveryQueue {
		h.Output.Metrics.Seconds("FirstAttempt", max(e.begun.Sub(e.sent()), 0))
	}
	if e.outcome.Verdict == delivery.VerdictAcknowledged && !e.message.IsTest() {
		h.Output.Metrics.Seconds("Acknowledged", max(e.ended.Sub(e.sent()), 0))
		if e.message.TenantID == h.Output.Heartbeat {
			h.Output.Metrics.Count("HeartbeatsAcknowledged", 1)
		}
	}
}
