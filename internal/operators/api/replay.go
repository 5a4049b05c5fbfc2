package api

// The actions on dead letters and rejected events that a request names. Everything of an endpoint, a tenant or a reason
// is a job's.
var (
	// ReplayDeliveries sends dead deliveries again, under the same ids and with the same bodies, through the whole
	// schedule, with the current secret and URL. If the endpoint is open or paused, they wait with its others. A replay
	// that was interrupted leaves its dead letter replaying: after two minutes, it can be replayed by its id, or by a
	// job with that status.
	ReplayDeliveries = Action[ReplayRequest, DeliveryResults]{Replay, "deliveries"}

	// PurgeDeliveries deletes dead letters for good, in any status but a running replay. Only the table's point-in-time
	// recovery still has them.
	PurgeDeliveries = Action[PurgeRequest, DeliveryResults]{ReplayForGood, "purge"}

	// PublishRejected publishes rejected events again. An event that this version would reject again is refused.
	PublishRejected = Action[PublishRequest, EventResults]{Replay, "rejected_events"}

	// DiscardRejected deletes rejected events for good.
	DiscardRejected = Action[DiscardRejectedRequest, EventResults]{ReplayForGood, "discard_rejected_events"}
)

// The results of replay for one id. ResultRefused, ResultFailed and ResultNotStarted are among them.
const (
	ResultReplayed  Result = "replayed" // or, of an event, published
	ResultPurged    Result = "purged"
	ResultDiscarded Result = "discarded"
	ResultNotFound  Result = "not_found" // no dead letter, or no rejected event, has this id
)

// The reasons of refused and failed ids. An event is refused with the fault of its body in words.
const (
	ReasonAlreadyReplayed     = "already_replayed"
	ReasonAlreadyAcknowledged = "already_acknowledged" // after it had died
	ReasonReplayRunning       = "replay_running"       // another replay has claimed the letter
	ReasonReplayLimit         = "replay_limit"         // it was replayed 100 times
	ReasonEndpointDeleted     = "endpoint_deleted"
	ReasonEndpointDisabled    = "endpoint_disabled"
	ReasonEndpointUnreadable  = "endpoint_unreadable" // the endpoint's row, or its tenant's, is damaged
	ReasonUnsubscribed        = "unsubscribed"        // the endpoint no longer selects the type
	ReasonTenantMismatch      = "tenant_mismatch"     // the letter is of another tenant than the request names
	ReasonChanged             = "changed_meanwhile"   // the letter changed between two steps: ask again
	ReasonDiedAgain           = "died_again"          // after the job had begun
	ReasonNotSelected         = "no_longer_selected"  // it died again or was replayed after the job had begun
	ReasonNotSent             = "not_sent"            // its queue did not take the message: ask again
	ReasonInternal            = "internal"            // ask again

	// ReasonResumed is the one reason of a success: an earlier replay had sent the delivery, and had broken off before it
	// said so.
	ReasonResumed = "resumed"

	// ReasonUnreadable is that of a message which could not be read when it died, so there is no delivery. It can be
	// looked at and purged.
	ReasonUnreadable = "unreadable"

	// ReasonUnopenable is an incident: the record was changed since it was sealed, or has parts of another record.
	ReasonUnopenable = "unopenable"
)

// ReplayRequest names dead deliveries.
type ReplayRequest struct {
	// 1 to 1,000. Repetitions count once.
	DeliveryIDs []string `json:"delivery_ids"`

	// If it is given, letters of other tenants are refused.
	TenantID string `json:"tenant_id"`
}

// PurgeRequest names dead letters.
type PurgeRequest struct {
	ReplayRequest

	// Must be true, since a purge cannot be undone.
	Confirm bool `json:"confirm"`
}

// DeliveryResults are the outcomes of the deliveries that a request names, in its order.
type DeliveryResults struct {
	Data []DeliveryResult `json:"data"`
}

// DeliveryResult is the outcome for one delivery id.
type DeliveryResult struct {
	DeliveryID string `json:"delivery_id"`
	Result     Result `json:"result"`

	// Why it was refused or has failed, or that it was resumed. Otherwise empty.
	Reason string `json:"reason"`
}

// PublishRequest names rejected events by the ids of their messages.
type PublishRequest struct {
	// 1 to 1,000. Repetitions count once.
	MessageIDs []string `json:"message_ids"`
}

// DiscardRejectedRequest names rejected events by the ids of their messages.
type DiscardRejectedRequest struct {
	PublishRequest

	// Must be true, since discarding cannot be undone.
	Confirm bool `json:"confirm"`
}

// EventResults are the outcomes of the events that a request names. An event that was rejected twice is there twice.
type EventResults struct {
	Data []EventResult `json:"data"`

	// False if time or room ran out: there may be more on the queue, and ids that were not found are not_started. If it
	// is true, the whole queue was searched and they are not_found. Events that another request was looking at were
	// hidden: ask again a minute later.
	Complete bool `json:"complete"`
}

// EventResult is the outcome for one rejected event.
type EventResult struct {
	MessageID string `json:"message_id"`

	// Empty if no event was found.
	EventID string `json:"event_id"`
	Result  Result `json:"result"`

	// Why it was refused or has failed.
	Reason string `json:"reason"`
}
