package replay

// The results of one id.
const (
	resultReplayed  = "replayed"
	resultPurged    = "purged"
	resultDiscarded = "discarded"

	// The reason says why it was refused. Nothing was changed.
	resultRefused = "refused"

	// An internal error: ask again.
	resultFailed   = "failed"
	resultNotFound = "not_found"

	// Time ran out before anything was done: ask again.
	resultNotStarted = "not_started"

	// A preview would have published the event. No answer has this result.
	resultWouldPublish = "would_publish"
)

// The reasons of refused and failed ids.
const (
	reasonAlreadyReplayed = "already_replayed"

	// The delivery was acknowledged after it had died.
	reasonAlreadyAcknowledged = "already_acknowledged"

	// An earlier replay had sent it, and had broken off before it said so. This is the one reason of a success.
	reasonResumed = "resumed"

	// Another replay has claimed the letter.
	reasonReplayRunning = "replay_running"

	// The letter was replayed deadletter.MaxReplays times.
	reasonReplayLimit = "replay_limit"

	// The message could not be read when it died, so there is no delivery. It can be looked at and purged.
	reasonUnreadable = "unreadable"

	// The record was changed since it was sealed, or has parts of another record: an incident.
	reasonUnopenable = "unopenable"

	reasonEndpointDeleted  = "endpoint_deleted"
	reasonEndpointDisabled = "endpoint_disabled"

	// The endpoint's row, or its tenant's, is damaged.
	reasonEndpointUnreadable = "endpoint_unreadable"

	// The endpoint no longer selects the type.
	reasonUnsubscribed = "unsubscribed"

	// The letter is of another tenant than the request names.
	reasonTenantMismatch = "tenant_mismatch"

	// The letter changed between two steps.
	reasonChanged = "changed_meanwhile"

	// It died again after the job had begun.
	reasonDiedAgain = "died_again"

	// It died again or was replayed after the job had begun.
	reasonNotSelected = "no_longer_selected"

	// Its queue did not take the message.
	reasonNotSent  = "not_sent"
	reasonInternal = "internal"
)

// maxIDs is the most ids in one request.
const maxIDs = 1000

// Result is the outcome for one delivery id.
type Result struct {
	DeliveryID string `json:"delivery_id"`
	Result     string `json:"result"`
	Reason     string `json:"reason"`
}

// countResults counts results for the request's log line. The audit log has the ids.
func countResults[R any](results []R, of func(R) string) map[string]int {
	counts := map[string]int{}
	for _, r := range results {
		counts[of(r)]++
	}
	return counts
}
