package deliver

import (
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// tally counts what the alarms divide: deliveries that were attempted or failed by our own fault, and
// first attempts that succeeded. Deliveries that were not due, or whose endpoint is disabled, count
// in neither. What an open circuit holds counts as a first attempt that failed: otherwise an outage
// of all endpoints would end for the alarm as soon as their circuits open.
func (h *Handler) tally(ends []end) {
	var records, tried, faults, first, acknowledged int
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
		if e.posted() && e.first() {
			first++
			if e.outcome.Verdict == delivery.VerdictAcknowledged {
				acknowledged++
			}
		}
	}
	h.Output.Metrics.Count("Records", records, telemetry.Dimensions{})
	h.Output.Metrics.Share("Tried", tried, "Faults", faults)
	h.Output.Metrics.Share("FirstAttempts", first, "FirstAttemptsAcknowledged", acknowledged)
}

// first reports whether this is the delivery's first attempt, or stands for it.
func (e end) first() bool { return e.from != delivery.RetryQueue && e.place == 1 }
