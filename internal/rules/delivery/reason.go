package delivery

// Reason is the typed cause of an attempt's outcome. It goes to record, log and metric.
type Reason string

// The reasons. The receiver's owner has to fix the first group, replay comes afterwards. What an operator needs to know
// stands above each: infra/docs/operators.md has it from here.
const (
	// No whole answer within AttemptTimeoutSeconds: receivers should answer first and work later.
	ReasonTimeout Reason = "timeout"
	// No connection.
	ReasonConnect Reason = "connect"
	// The host has no address.
	ReasonDNS Reason = "dns"
	// No valid certificate for the host (the intermediate may be missing), a handshake above 24 KiB, or a flood of
	// records.
	ReasonTLS Reason = "tls"
	// No TLS version or cipher suite in common, or the receiver wants a client certificate.
	ReasonTLSHandshake Reason = "tls_handshake"
	// The connection broke, or spoke no HTTP/1.1, before the headers of an answer ended.
	ReasonProtocol Reason = "protocol"
	// The status.
	ReasonHTTP1xx Reason = "http_1xx"
	// The status: redirects are not followed.
	ReasonHTTP3xx Reason = "http_3xx"
	// The status: it may be a wrong secret.
	ReasonHTTP4xx Reason = "http_4xx"
	// The status: the receiver gets too many requests. A rate limit may help.
	ReasonHTTP429 Reason = "http_429"
	// The status.
	ReasonHTTP5xx Reason = "http_5xx"
	// Herald must not connect there: the URL has to change.
	ReasonBlockedAddress Reason = "blocked_address"
	// Likewise, of the port.
	ReasonBlockedPort Reason = "blocked_port"
	// Likewise, of the URL.
	ReasonBlockedURL Reason = "blocked_url"
	// More than 64 KiB of headers.
	ReasonHeaderTooLarge Reason = "response_header_too_large"
	// The endpoint's token server answered, with no token that can be used: its owner has to set oauth2 anew.
	ReasonTokenRefused Reason = "token_refused"
	// The token server gave no answer within 5 s, or 429 or 5xx. It is asked again after 30 s.
	ReasonTokenUnreachable Reason = "token_unreachable" //nolint:gosec // it is no credential

	// Held, or dead after 7 days: its owner has to set the endpoint active; then replay.
	ReasonEndpointDisabled Reason = "endpoint_disabled"
	// Held, or dead after 7 days: an operator has paused the endpoint or its tenant. Resume it; then replay.
	ReasonEndpointPaused Reason = "endpoint_paused"
	// Dropped: its endpoint was deleted.
	ReasonEndpointDeleted Reason = "endpoint_deleted"
	// Held, or dead after 7 days: the endpoint keeps failing. Tell its owner.
	ReasonCircuitOpen Reason = "circuit_open"
	// Dropped: an operator discarded it. A test is dropped for any reason.
	ReasonDiscarded Reason = "discarded"
	// Dropped: its endpoint no longer selects its type.
	ReasonUnsubscribed Reason = "unsubscribed"
	// Not begun, since another attempt of its batch timed out. It is made from RetryQueue.
	ReasonEndpointHanging Reason = "endpoint_hanging"
	// Sent on to SlowQueue, or dead: its 7 days ended there.
	ReasonTenantSlow Reason = "tenant_slow"
	// Waits for the rate of its endpoint, or dead: it waited for 7 days.
	ReasonRateLimited Reason = "rate_limited"
	// Not begun, since the receiver has answered 429 with Retry-After. It is made from RetryQueue, a minute later at
	// most.
	ReasonRetryAfter Reason = "retry_after"

	// An internal fault, which uses up short retries at most: read the log of deliver.
	ReasonInternal Reason = "internal"
	// The deadline of the invocation came first. Likewise.
	ReasonOutOfTime Reason = "out_of_time"
	// Dead by SQS's redrive, since deliver crashed or was throttled again and again: fix the cause, replay.
	ReasonCrashed Reason = "crashed"
	// No delivery message that this version reads. Open it, find out where it came from, purge it.
	ReasonUnreadable Reason = "unreadable"
	// An incident: the endpoint's row holds a secret, headers or a client secret that were not sealed for it, or its URL
	// or token URL leads to another origin. Nothing is sent. Find out who wrote the row. Its owner has to set url,
	// headers and oauth2 anew, and to rotate the secret.
	ReasonUnopenable Reason = "unopenable"
	// An operator sent it again.
	ReasonReplayed Reason = "replayed"
	// A replay could not be sent: replay it again.
	ReasonReplayFault Reason = "replay_fault"
)

// Reasons are all reasons.
func Reasons() []Reason {
	return []Reason{
		ReasonTimeout, ReasonConnect, ReasonDNS, ReasonTLS, ReasonTLSHandshake, ReasonProtocol, ReasonHTTP1xx,
		ReasonHTTP3xx, ReasonHTTP4xx, ReasonHTTP429, ReasonHTTP5xx, ReasonBlockedAddress, ReasonBlockedPort,
		ReasonBlockedURL, ReasonHeaderTooLarge, ReasonTokenRefused, ReasonTokenUnreachable,
		ReasonEndpointDisabled, ReasonEndpointPaused, ReasonEndpointDeleted,
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
