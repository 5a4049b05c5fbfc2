package delivery

import "testing"

func TestStatusReason(t *testing.T) {
	for status, want := range map[int]Reason{
		1: ReasonHTTP5xx, 99: ReasonHTTP5xx, 100: ReasonHTTP1xx, 199: ReasonHTTP1xx,
		200: "", 204: "", 299: "",
		300: ReasonHTTP3xx, 304: ReasonHTTP3xx, 399: ReasonHTTP3xx,
		400: ReasonHTTP4xx, 410: ReasonHTTP4xx, 428: ReasonHTTP4xx, 430: ReasonHTTP4xx, 499: ReasonHTTP4xx,
		429: ReasonHTTP429,
		500: ReasonHTTP5xx, 503: ReasonHTTP5xx, 599: ReasonHTTP5xx, 999: ReasonHTTP5xx,
	} {
		if got := StatusReason(status); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}

func TestReason_Ours_blamesNoReceiver(t *testing.T) {
	for _, r := range []Reason{
		ReasonInternal, ReasonOutOfTime, ReasonCrashed, ReasonUnreadable, ReasonUnopenable, ReasonReplayFault,
	} {
		if !r.Ours() {
			t.Errorf("%s is a fault of ours", r)
		}
	}
	for _, r := range []Reason{
		"", ReasonTimeout, ReasonConnect, ReasonDNS, ReasonTLS, ReasonProtocol, ReasonHTTP1xx, ReasonHTTP3xx, ReasonHTTP4xx,
		ReasonHTTP429, ReasonHTTP5xx, ReasonBlockedAddress, ReasonBlockedPort, ReasonBlockedURL, ReasonHeaderTooLarge,
		ReasonEndpointDisabled, ReasonEndpointDeleted, ReasonEndpointHanging, ReasonEndpointPaused, ReasonCircuitOpen,
		ReasonDiscarded, ReasonReplayed, ReasonTenantSlow,
	} {
		if r.Ours() {
			t.Errorf("%s is not a fault of ours", r)
		}
	}
}
