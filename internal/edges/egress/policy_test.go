package egress_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func TestParsePolicy_allowsWhatItNames(t *testing.T) {
	for name, row := range map[string]struct {
		settings egress.Settings
		want     map[string]delivery.Reason // by address and port
	}{
		"nothing, so public addresses on port 443": {
			want: map[string]delivery.Reason{
				"1.1.1.1:443": "", "1.1.1.1:8443": delivery.ReasonBlockedPort, "10.0.0.1:443": delivery.ReasonBlockedAddress,
			},
		},
		"a private prefix, written with a host in it": {
			settings: egress.Settings{AllowCIDRs: "10.1.2.3/16", Stage: "prod"},
			want: map[string]delivery.Reason{
				"10.1.255.255:443": "", "10.2.0.0:443": delivery.ReasonBlockedAddress, "10.1.0.1:80": delivery.ReasonBlockedPort,
			},
		},
		"ports and ranges, with spaces": {
			settings: egress.Settings{AllowPorts: "8443, 9000-9002,65535", Stage: "prod"},
			want: map[string]delivery.Reason{
				"1.1.1.1:443": "", "1.1.1.1:8443": "", "1.1.1.1:9000": "", "1.1.1.1:9002": "", "1.1.1.1:65535": "",
				"1.1.1.1:8999": delivery.ReasonBlockedPort, "1.1.1.1:9003": delivery.ReasonBlockedPort,
			},
		},
		"loopback in the local stage": {
			settings: egress.Settings{AllowCIDRs: "127.0.0.1/32,::1/128", Stage: egress.LocalStage},
			want: map[string]delivery.Reason{
				"127.0.0.1:443": "", "127.0.0.0:443": delivery.ReasonBlockedAddress,
				"127.0.0.2:443": delivery.ReasonBlockedAddress, "[::1]:443": "",
				"[::ffff:127.0.0.1]:443": delivery.ReasonBlockedAddress, "[::127.0.0.1]:443": delivery.ReasonBlockedAddress,
			},
		},
		"internal hosts with public addresses, and part of an allowed range": {
			settings: egress.Settings{
				AllowCIDRs: "10.1.0.0/16", DenyCIDRs: "1.1.1.9/24, 10.1.2.0/24,2606:4700::/32", Stage: "prod",
			},
			want: map[string]delivery.Reason{
				"1.1.2.0:443": "", "1.1.1.255:443": delivery.ReasonBlockedAddress,
				"10.1.3.0:443": "", "10.1.2.255:443": delivery.ReasonBlockedAddress,
				"[2606:4701::1]:443": "", "[2606:4700::1]:443": delivery.ReasonBlockedAddress,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := egress.ParsePolicy(row.settings)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]delivery.Reason{}
			for address := range row.want {
				network := "tcp4"
				if address[0] == '[' {
					network = "tcp6"
				}
				got[address] = reasonOf(policy.Check(network, address))
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("reasons by address (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParsePolicy_refuses(t *testing.T) {
	refused := func(s egress.Settings) bool {
		s.Stage = egress.LocalStage
		_, err := egress.ParsePolicy(s)
		return err != nil
	}
	for _, cidr := range []string{"10.0.0.1", "10.0.0.0/33", "example.com/8", "10.0.0.0-10.0.0.9"} {
		if !refused(egress.Settings{AllowCIDRs: cidr}) || !refused(egress.Settings{DenyCIDRs: cidr}) {
			t.Errorf("prefix %q is accepted", cidr)
		}
	}
	if !refused(egress.Settings{DenyCIDRs: "::ffff:1.1.1.0/120"}) {
		t.Error("a prefix that denies nothing is accepted")
	}
	for _, ports := range []string{
		"0", "65536", "-1", "https", "9001-9000", "0-9", "9000-", "9000-65536", "9000-9001-9002",
	} {
		if !refused(egress.Settings{AllowPorts: ports}) {
			t.Errorf("ports %q are accepted", ports)
		}
	}
}

// A range may be allowed in the local stage only, whatever its size, if it meets loopback, link-local or AWS's own
// addresses, or addresses that may be translated into IPv4. Other stages refuse it.
func TestParsePolicy_reachesLoopbackInTheLocalStageOnly(t *testing.T) {
	for _, cidr := range []string{
		"127.0.0.1/32", "127.0.0.0/8", "0.0.0.0/0", "169.254.169.254/32", "168.0.0.0/7", "0.0.0.0/32", "::1/128", "::/0",
		"::ffff:10.0.0.0/104", "fe80::/64", "fd00:ec2::254/128", "fc00::/7", "64:ff9b::/96", "64:ff9b::7f00:1/128",
		"64:ff9b:1::/48", "2001::/32", "2002::/16", "2002:7f00:1::/48", "::ffff:0:0:0/96", "3ffe::/16", "2000::/3",
	} {
		if _, err := egress.ParsePolicy(egress.Settings{AllowCIDRs: cidr, Stage: "prod"}); err == nil {
			t.Errorf("%s is accepted in another stage", cidr)
		}
		if _, err := egress.ParsePolicy(egress.Settings{AllowCIDRs: cidr, Stage: egress.LocalStage}); err != nil {
			t.Errorf("%s in the local stage: %v", cidr, err)
		}
	}
}

func TestParsePolicy_joinsAllFaults(t *testing.T) {
	_, err := egress.ParsePolicy(egress.Settings{
		AllowCIDRs: "10.0.0.0/8,nonsense,127.0.0.0/8", DenyCIDRs: "10.0.0.0/8,nonsense", AllowPorts: "80,0", Stage: "prod",
	})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 4 {
		t.Errorf("error %v, want four in one", err)
	}
}

func TestPolicy_Addr_neverAllowsAZone(t *testing.T) {
	policy, err := egress.ParsePolicy(egress.Settings{Stage: egress.LocalStage, AllowCIDRs: "fe80::/10"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"fe80::1": true, "fe80::1%eth0": false, "2606:4700::1111": true, "2606:4700::1111%1": false}
	got := map[string]bool{}
	for addr := range want {
		got[addr] = policy.Addr(netip.MustParseAddr(addr))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses allowed (-want +got):\n%s", diff)
	}
	if policy.Addr(netip.Addr{}) {
		t.Error("no address at all is allowed")
	}
}

func TestBlocked_Error_namesNoAddress(t *testing.T) {
	err := egress.Policy{}.Check("tcp4", "10.1.2.3:443")
	if diff := cmp.Diff(&egress.Blocked{Reason: delivery.ReasonBlockedAddress}, err); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("egress refused: blocked_address", err.Error()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}
