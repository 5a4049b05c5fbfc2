package deliver

import (
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// tally counts what the alarms divide: deliveries that were attempted or failed by our own fault, and
// first attempts that succeeded. Deliveries that were not due, or whose endpoint is disabled, count
// in neither. What an open circuit holds counts as a first attempt that failed: otherwise an outage
// of all endpoints would end for the alarm as soon as their circuits open.
func (h *Handler) tally(tasks []*task) {
	var records, tried, faults, first, acknowledged int
	for _, t := range tasks {
		records += len(t.records)
		if t.outcome.Reason == delivery.ReasonCircuitOpen && !t.fromRetryQueue() {
			first++
		}
		ours := t.outcome.Reason.Ours()
		if !t.posted() && !ours {
			continue
		}
		tried++
		if ours {
			faults++
		}
		if t.posted() && !t.fromRetryQueue() {
			first++
			if t.outcome.Verdict == delivery.VerdictAcknowledged {
				acknowledged++
			}
		}
	}
	h.Metrics.Count("Records", records, telemetry.Dimensions{})
	h.Metrics.Share("Tried", tried, "Faults", faults)
	h.Metrics.Share("FirstAttempts", first, "FirstAttemptsAcknowledged", acknowledged)
}
