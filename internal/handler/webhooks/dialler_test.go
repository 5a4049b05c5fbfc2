package webhooks_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// TestNormalise_storesNoLiteralThatTheDiallerWouldRefuse holds the rules for writing a URL against
// the policy of internal/egress itself.
func TestNormalise_storesNoLiteralThatTheDiallerWouldRefuse(t *testing.T) {
	local, err := egress.ParsePolicy(egress.Settings{
		Stage: egress.LocalStage, AllowCIDRs: "127.0.0.1/32", AllowPorts: "1024-65535",
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, policy := range map[string]egress.Policy{"everywhere": {}, "local stage": local} {
		urls := endpoint.URLPolicy{Addr: policy.Addr, Port: policy.Port}
		stored := 0
		for _, literal := range []string{
			"0.0.0.0", "0.1.2.3", "1.1.1.1", "8.8.8.8", "9.255.255.255", "10.0.0.0", "10.255.255.255",
			"11.0.0.0", "100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0", "126.255.255.255",
			"127.0.0.0", "127.0.0.1", "127.0.0.2", "127.255.255.255", "128.0.0.0", "169.253.255.255",
			"169.254.0.0", "169.254.169.254", "169.254.255.255", "172.15.255.255", "172.16.0.0",
			"172.31.255.255", "172.32.0.0", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.167.255.255",
			"192.168.0.0", "192.168.255.255", "192.169.0.0", "198.17.255.255", "198.18.0.0", "198.19.255.255",
			"198.20.0.0", "198.51.100.1", "203.0.113.1", "223.255.255.255", "224.0.0.0", "239.255.255.255",
			"240.0.0.0", "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:7f00:1", "::ffff:808:808",
			"64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1",
			"2606:4700:4700::1111", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
		} {
			for _, port := range []uint16{443, 80, 8443} {
				addr := netip.MustParseAddr(literal)
				at := netip.AddrPortFrom(addr, port)
				network := "tcp4"
				if addr.Is6() {
					network = "tcp6"
				}
				_, err := urls.Normalise(fmt.Sprintf("https://%s/x", at))
				if dialled := policy.Check(network, at.String()) == nil; dialled != (err == nil) {
					t.Errorf("%s, %s: dialled %v, written %v", name, at, dialled, err)
				}
				if err == nil {
					stored++
				}
			}
		}
		if stored == 0 {
			t.Errorf("%s: nothing at all is stored", name)
		}
	}
}
