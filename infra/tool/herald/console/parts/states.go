package parts

import (
	"cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// The colours of states, as classes of the style sheet. A state without one is grey.
var (
	endpointColours = map[api.State]string{
		api.StateHealthy: "good", api.StateFailing: "warn", api.StateFlapping: "warn", api.StatePaused: "warn",
		api.StateDisabled: "warn", api.StateOpen: "bad", api.StateUnreadable: "bad",
	}
	deliveryColours = map[delivery.State]string{
		delivery.Acknowledged: "good", delivery.Retrying: "warn", delivery.Waiting: "warn", delivery.Dead: "bad",
	}
	letterColours = map[deadletter.Status]string{
		deadletter.Replayed: "good", deadletter.Replaying: "warn", deadletter.Dead: "bad",
	}
	jobColours     = map[job.State]string{job.Done: "good", job.Stopped: "warn"}
	attemptColours = map[delivery.Verdict]string{
		delivery.VerdictAcknowledged: "good", delivery.VerdictRetry: "warn", delivery.VerdictDead: "bad",
	}
)

func colour[S ~string](colours map[S]string, state S) string { return cmp.Or(colours[state], "dim") }

// means explains the states of endpoints, and says who has to act.
var means = map[api.State]string{
	api.StateFailing:  "The last attempts failed; everything is still attempted on schedule. Tell its owner.",
	api.StateFlapping: "Some attempts succeed and some fail. Tell its owner.",
	api.StateOpen: "Only probes are sent. All other deliveries are held, and are sent once a probe succeeds. " +
		"Tell its owner.",
	api.StateRecovering: "It answered, so waiting deliveries are sent, more each minute.",
	api.StateRated:      "It gets as many deliveries a second as its limit allows. The others wait, which is normal.",
	api.StatePaused:     "An operator stopped it. Deliveries are held.",
	api.StateDisabled:   "Its owner disabled it. Deliveries are held until the owner sets it active.",
	api.StateDeleted:    "Its owner deleted it. What waits is discarded, unless the owner restores it.",
	api.StateUnreadable: "Its row in the table Endpoints is broken, so its deliveries die. Repair the row.",
}

// standing is the state of a delivery with its colour. One that waits for its endpoint's limit alone is in no trouble.
func standing(d api.Delivery) (state, class string) {
	if waitsForItsRate(d) {
		return string(api.StateRated), colour(endpointColours, api.StateRated)
	}
	return string(d.State), colour(deliveryColours, d.State)
}

func waitsForItsRate(d api.Delivery) bool {
	return d.State == delivery.Waiting && d.Reason == delivery.ReasonRateLimited
}
