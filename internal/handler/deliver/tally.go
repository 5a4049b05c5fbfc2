package deliver

import (
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// tally counts what the alarms divide: deliveries that were attempted or failed by our own fault, and
// first attempts that succeeded. Deliveries that were not due, or whose endpoint is disabled, count
// in neither.
func (h *Handler) tally(tasks []*task) {
	var records, tried, faults, first, acknowledged int
	for _, t := range tasks {
		records += len(t.records)
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
