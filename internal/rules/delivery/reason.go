package delivery

// Reason is the typed cause of an attempt's outcome. It goes to record, log and metric.
type Reason string

// The reasons. All but the last group are the receiver's doing (or its network's).
const (
	ReasonTimeout        Reason = "timeout"
	ReasonConnect        Reason = "connect"
	ReasonDNS            Reason = "dns"
	ReasonTLS            Reason = "tls"           // no valid certificate, or broken TLS
	ReasonTLSHandshake   Reason = "tls_handshake" // no version or cipher suite in common
	ReasonProtocol       Reason = "protocol"      // the connection broke, or spoke no HTTP, before an answer came
	ReasonHTTP1xx        Reason = "http_1xx"
	ReasonHTTP3xx        Reason = "http_3xx"
	ReasonHTTP4xx        Reason = "http_4xx"
	ReasonHTTP429        Reason = "http_429"
	ReasonHTTP5xx        Reason = "http_5xx"
	ReasonBlockedAddress Reason = "blocked_address"
	ReasonBlockedPort    Reason = "blocked_port"
	ReasonBlockedURL     Reason = "blocked_url"
	ReasonHeaderTooLarge Reason = "response_header_too_large"

	ReasonEndpointDisabled Reason = "endpoint_disabled"
	ReasonEndpointPaused   Reason = "endpoint_paused" // by an operator, the endpoint or its tenant
	ReasonEndpointDeleted  Reason = "endpoint_deleted"
	ReasonCircuitOpen      Reason = "circuit_open"     // the endpoint keeps failing
	ReasonDiscarded        Reason = "discarded"        // by an operator
	ReasonUnsubscribed     Reason = "unsubscribed"     // by its owner: the endpoint no longer selects the type
	ReasonEndpointHanging  Reason = "endpoint_hanging" // not begun: another attempt of the batch has timed out
	ReasonTenantSlow       Reason = "tenant_slow"      // not begun: its tenant's deliveries go through SlowQueue
	ReasonRateLimited      Reason = "rate_limited"     // not begun: the endpoint's limit of deliveries a second
	ReasonRetryAfter       Reason = "retry_after"      // not begun: the receiver has answered 429, and when to come back

	ReasonInternal    Reason = "internal"     // an AWS call failed, or the code panicked
	ReasonOutOfTime   Reason = "out_of_time"  // the invocation's deadline came first
	ReasonCrashed     Reason = "crashed"      // its function died again and again: SQS's own redrive
	ReasonUnreadable  Reason = "unreadable"   // no delivery message this version can read
	ReasonUnopenable  Reason = "unopenable"   // the secret or the headers were not sealed for the endpoint as it stands
	ReasonReplayed    Reason = "replayed"     // queued again by an operator
	ReasonReplayFault Reason = "replay_fault" // the message of a replay could not be sent
)

// Reasons are all reasons.
func Reasons() []Reason {
	return []Reason{
		ReasonTimeout, ReasonConnect, ReasonDNS, ReasonTLS, ReasonTLSHandshake, ReasonProtocol, ReasonHTTP1xx,
		ReasonHTTP3xx, ReasonHTTP4xx, ReasonHTTP429, ReasonHTTP5xx, ReasonBlockedAddress, ReasonBlockedPort,
		ReasonBlockedURL, ReasonHeaderTooLarge, ReasonEndpointDisabled, ReasonEndpointPaused, ReasonEndpointDeleted,
		ReasonCircuitOpen, ReasonDiscarded, ReasonUnsubscribed, ReasonEndpointHanging, ReasonTenantSlow, ReasonRateLimited,
		ReasonRetryAfter, ReasonInternal, ReasonOutOfTime, ReasonCrashed, ReasonUnreadable, ReasonUnopenable,
		ReasonReplayed, ReasonReplayFault,
	}
}

// Ours reports whether the reason is an internal fault rather than the receiver's.
func (r Reason) Ours() bool {
	switch r {
	case ReasonInternal, ReasonOutOfTime, ReasonCrashed, ReasonUnreadable, ReasonUnopenable, ReasonReplayFault:
		return true
	default:
		return false
	}
}

// StatusReason maps an HTTP status to the reason it is not a success; "" for 2xx. A status that HTTP does not have is
// a fault of the receiver's (RFC 9110, 15).
func StatusReason(status int) Reason {
	switch {
	case status == 429:
		return ReasonHTTP429
	case status >= 500, status < 100:
		return ReasonHTTP5xx
	case status >= 400:
		return ReasonHTTP4xx
	case status >= 300:
		return ReasonHTTP3xx
	case status >= 200:
		return ""
	default:
		return ReasonHTTP1xx
	}
}
