package webhooks

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

var environment = map[string]string{
	"STAGE": "test", "ENDPOINTS_TABLE": "Endpoints", "API_KEYS_TABLE": "Keys", "SECRETS_KEY_ARN": "key",
	"EGRESS_ALLOW_CIDRS": "10.1.0.0/16", "EGRESS_DENY_CIDRS": "1.0.0.0/24", "EGRESS_ALLOW_PORTS": "8443",
	"DELETED_ENDPOINT_DAYS": "30", "API_KEY_REQUESTS_PER_MINUTE": "300", "MAX_ENDPOINTS_PER_HOST": "20",
	"AUDIT_LOG_GROUP": "Audit",
}

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, environment)
	var calls wiring.AWS
	h, err := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	calls.Check(t, func() error { _, _, err := h.Endpoints.Get(t.Context(), "t", "id"); return err }, "GetItem Endpoints")
	calls.Check(t, func() error { _, _, err := h.Keys.Get(t.Context(), "id"); return err }, "GetItem Keys")
	calls.Check(t, func() error {
		_, _, err := h.Keys.Spend(t.Context(), apikey.Key{ID: "id"}, 1, 1, h.Now())
		return err
	}, "UpdateItem Keys")
	calls.Check(t, func() error {
		_, err := h.Secrets.Seal(t.Context(), keyring.SecretID{TenantID: "t", EndpointID: "id", Version: 1}, "secret")
		return err
	}, "Encrypt key")
	calls.Check(t, func() error {
		return h.Audit.Write(t.Context(), audit.Line{Action: "test"})
	}, "PutLogEvents Audit", "PutLogEvents webhooks")
}

func TestNew_takesURLsThatTheDiallerWouldCall(t *testing.T) {
	h, err := New(Config{Settings: wiring.Settings[Settings](t, environment)})
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

func TestNew_namesTheVariablesAtFaultAndShowsNoValue(t *testing.T) {
	s := wiring.Settings[Settings](t, environment)
	s.EgressAllowCIDRs, s.EgressAllowPorts, s.KeyRequestsPerMinute = "10.1.0.0/16, hush", "hush", 9
	s.MaxEndpointsPerHost = 51
	_, err := New(Config{Settings: s})
	want := strings.Join([]string{
		"reading the environment: EGRESS_ALLOW_CIDRS: entry 2 is not a CIDR prefix",
		"EGRESS_ALLOW_PORTS: entry 1 is not a port or a range of ports",
		"MAX_ENDPOINTS_PER_HOST must be 1 to 50",
		"API_KEY_REQUESTS_PER_MINUTE must be 10 to 1000000",
	}, "\n")
	if err == nil {
		t.Fatal("faulty settings are taken")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}
