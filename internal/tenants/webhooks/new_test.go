package webhooks

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

var settings = Settings{
	Stage: "test", EgressAllowCIDRs: "10.1.0.0/16", EgressDenyCIDRs: "1.0.0.0/24", EgressAllowPorts: "8443",
	KeyRequestsPerMinute: 300, MaxEndpoints: 50, MaxEndpointsPerHost: 20, TestsPerMinute: 5,
	CompanionHeaders: delivery.CompanionsWebhook,
}

func TestNew_takesURLsThatTheDiallerWouldCall(t *testing.T) {
	h, err := New(Config{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"10.1.2.3": true, "10.2.0.1": false, "127.0.0.1": false, "1.1.1.1": true, "1.0.0.1": false,
	} {
		if got := h.URLs.Addr(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is allowed: %v, want %v", address, got, want)
		}
	}
	for port, want := range map[uint16]bool{443: true, 8443: true, 80: false} {
		if got := h.URLs.Port(port); got != want {
			t.Errorf("port %d is allowed: %v, want %v", port, got, want)
		}
	}
}

func TestNew_refusesSignaturesThatNoHeaderCarries(t *testing.T) {
	for companions, refused := range map[delivery.Companions]bool{
		delivery.CompanionsNone: true, delivery.CompanionsWebhook: false, delivery.CompanionsSvix: false,
	} {
		s := settings
		s.CompanionHeaders, s.AsymmetricSignatures = companions, true
		_, err := New(Config{Settings: s})
		if refused != (err != nil && strings.Contains(err.Error(), "ASYMMETRIC_SIGNATURES on needs COMPANION_HEADERS")) {
			t.Errorf("%s: %v", companions, err)
		}
	}
}

func TestNew_namesTheVariablesAtFaultAndShowsNoValue(t *testing.T) {
	s := settings
	s.EgressAllowCIDRs, s.EgressAllowPorts, s.KeyRequestsPerMinute = "10.1.0.0/16, hush", "hush", 9
	s.MaxEndpoints, s.MaxEndpointsPerHost, s.TestsPerMinute = 0, 201, 61
	s.SourceAddresses = "203.0.113.7,hush"
	s.CompanionHeaders = "hush"
	s.AsymmetricSignatures = true
	_, err := New(Config{Settings: s})
	want := strings.Join([]string{
		"reading the environment: EGRESS_ALLOW_CIDRS: entry 2 is not a CIDR prefix",
		"EGRESS_ALLOW_PORTS: entry 1 is not a port or a range of ports",
		"SOURCE_ADDRESSES: entry 2 is neither an address nor a CIDR prefix",
		"MAX_ENDPOINTS must be 1 to 200",
		"MAX_ENDPOINTS_PER_HOST must be 1 to 200",
		"TESTS_PER_MINUTE must be 1 to 60",
		"API_KEY_REQUESTS_PER_MINUTE must be 10 to 1000000",
		"COMPANION_HEADERS must be none, webhook, svix or webhook+svix",
	}, "\n")
	if err == nil {
		t.Fatal("faulty settings are taken")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}
