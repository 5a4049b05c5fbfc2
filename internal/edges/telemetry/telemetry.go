// Package telemetry has the keys of every function's log, with one wide line of JSON per request, event or attempt
// (successes outside the sample share one line per batch), and its metrics, in CloudWatch's embedded metric format on
// the same stream.
//
// Nothing logs bodies, secrets, keys or URLs: ids, hosts, numbers and typed reasons only.
package telemetry

// The keys of log lines.
const (
	KeyTenant    = "tenant_id"
	KeyEndpoint  = "endpoint_id"
	KeyEvent     = "event_id"
	KeyEventType = "event_type"
	KeyDelivery  = "delivery_id"
	KeyMessage   = "message_id"
	KeyTrace     = "trace_id"  // as its publisher's traceparent has it; left out where there is none
	KeyParent    = "parent_id" // that an attempt sent to the receiver, with ForwardTrace
	KeyAttempt   = "attempt"
	KeyReplay    = "replay"
	KeyOutcome   = "outcome"
	KeyReason    = "reason"
	KeyFault     = "fault" // "internal" or "receiver"
	KeyStatus    = "status"
	KeyMillis    = "ms"
	KeyHost      = "host"
	KeyNext      = "next_attempt_s"
	KeyCount     = "count"
	KeyRecords   = "records" // of a batch
	KeySends     = "deliveries"
	KeyError     = "error"
	KeyOperator  = "operator"
	KeyAction    = "action"
	KeyKey       = "key_id"
	KeyRoute     = "route"
	KeyRequest   = "request_id"
)
