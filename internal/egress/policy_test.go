package egress_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/egress"
)

func TestParsePolicy_allowsWhatItNames(t *testing.T) {
	for name, row := range map[string]struct {
		cidrs, ports, stage string
		want                map[string]delivery.Reason // by address and port
	}{
		"nothing, so public addresses on port 443": {
			want: map[string]delivery.Reason{
				"1.1.1.1:443": "", "1.1.1.1:8443": delivery.ReasonBlockedPort, "10.0.0.1:443": delivery.ReasonBlockedAddress,
			},
		},
		"a private prefix, written with a host in it": {
			cidrs: "10.1.2.3/16", stage: "prod",
			want: map[string]delivery.Reason{
				"10.1.255.255:443": "", "10.2.0.0:443": delivery.ReasonBlockedAddress, "10.1.0.1:80": delivery.ReasonBlockedPort,
			},
		},
		"ports and ranges, with spaces": {
			ports: "8443, 9000-9002,65535", stage: "prod",
			want: map[string]delivery.Reason{
				"1.1.1.1:443": "", "1.1.1.1:8443": "", "1.1.1.1:9000": "", "1.1.1.1:9002": "", "1.1.1.1:65535": "",
				"1.1.1.1:8999": delivery.ReasonBlockedPort, "1.1.1.1:9003": delivery.ReasonBlockedPort,
			},
		},
		"loopback in the local stage": {
			cidrs: "127.0.0.1/32,::1/128", stage: egress.LocalStage,
			want: map[string]delivery.Reason{"127.0.0.1:443": "", "127.0.0.2:443": delivery.ReasonBlockedAddress},
		},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := egress.ParsePolicy(row.cidrs, row.ports, row.stage)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]delivery.Reason{}
			for address := range row.want {
				got[address] = reasonOf(policy.Check("tcp4", address))
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("reasons by address (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParsePolicy_refuses(t *testing.T) {
	refused := func(cidrs, ports, stage string) bool {
		_, err := egress.ParsePolicy(cidrs, ports, stage)
		return err != nil
	}
	for _, cidr := range []string{"10.0.0.1", "10.0.0.0/33", "example.com/8", "10.0.0.0-10.0.0.9"} {
		if !refused(cidr, "", egress.LocalStage) {
			t.Errorf("prefix %q is accepted", cidr)
		}
	}
	for _, ports := range []string{
		"0", "65536", "-1", "https", "9001-9000", "0-9", "9000-", "9000-65536", "9000-9001-9002",
	} {
		if !refused("", ports, egress.LocalStage) {
			t.Errorf("ports %q are accepted", ports)
		}
	}
}

// What meets loopback or link-local addresses, however small or large, is for the local stage.
func TestParsePolicy_reachesLoopbackInTheLocalStageOnly(t *testing.T) {
	for _, cidr := range []string{
		"127.0.0.1/32", "127.0.0.0/8", "0.0.0.0/0", "169.254.169.254/32", "168.0.0.0/7", "0.0.0.0/32", "::1/128", "::/0",
		"::ffff:10.0.0.0/104", "fe80::/64",
	} {
		if _, err := egress.ParsePolicy(cidr, "", "prod"); err == nil {
			t.Errorf("%s is accepted in another stage", cidr)
		}
		if _, err := egress.ParsePolicy(cidr, "", egress.LocalStage); err != nil {
			t.Errorf("%s in the local stage: %v", cidr, err)
		}
	}
}

func TestParsePolicy_joinsAllFaults(t *testing.T) {
	_, err := egress.ParsePolicy("10.0.0.0/8,nonsense,127.0.0.0/8", "80,0", "prod")
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 3 {
		t.Errorf("error %v, want three in one", err)
	}
}

func TestPolicy_Addr_neverAllowsAZone(t *testing.T) {
	policy, err := egress.ParsePolicy("fe80::/10", "", egress.LocalStage)
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
