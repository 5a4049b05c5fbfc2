package egress_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// ranges are the blocks that are not globally reachable. Both edges of each block must be refused. The next address on
// either side must pass, unless it belongs to another such block.
var ranges = []struct{ prefix, why, before, after string }{
	{"0.0.0.0/8", "this network (RFC 791)", "", "1.0.0.0"},
	{"10.0.0.0/8", "private (RFC 1918)", "9.255.255.255", "11.0.0.0"},
	{"100.64.0.0/10", "CGNAT (RFC 6598)", "100.63.255.255", "100.128.0.0"},
	{"127.0.0.0/8", "loopback, where Lambda's Runtime API lives", "126.255.255.255", "128.0.0.0"},
	{"169.254.0.0/16", "link-local and metadata (RFC 3927)", "169.253.255.255", "169.255.0.0"},
	{"172.16.0.0/12", "private (RFC 1918)", "172.15.255.255", "172.32.0.0"},
	{"192.0.0.0/24", "protocol assignments (RFC 6890)", "191.255.255.255", "192.0.1.0"},
	{"192.0.2.0/24", "documentation (RFC 5737)", "192.0.1.255", "192.0.3.0"},
	{"192.31.196.0/24", "AS112 (RFC 7535)", "192.31.195.255", "192.31.197.0"},
	{"192.52.193.0/24", "AMT (RFC 7450)", "192.52.192.255", "192.52.194.0"},
	{"192.88.99.0/24", "6to4 relay anycast (RFC 7526)", "192.88.98.255", "192.88.100.0"},
	{"192.168.0.0/16", "private (RFC 1918)", "192.167.255.255", "192.169.0.0"},
	{"192.175.48.0/24", "AS112 (RFC 7534)", "192.175.47.255", "192.175.49.0"},
	{"198.18.0.0/15", "benchmarking (RFC 2544)", "198.17.255.255", "198.20.0.0"},
	{"198.51.100.0/24", "documentation (RFC 5737)", "198.51.99.255", "198.51.101.0"},
	{"203.0.113.0/24", "documentation (RFC 5737)", "203.0.112.255", "203.0.114.0"},
	{"224.0.0.0/4", "multicast (RFC 1112)", "223.255.255.255", ""},
	{"240.0.0.0/4", "reserved (RFC 1112)", "", ""},
	{"255.255.255.255/32", "broadcast (RFC 919)", "", ""},

	{"::/128", "unspecified", "", ""},
	{"::1/128", "loopback", "", ""},
	{"::/96", "IPv4-compatible (RFC 4291)", "", ""},
	{"::ffff:0:0/96", "IPv4-mapped (RFC 4291)", "", ""},
	{"::ffff:0:0:0/96", "IPv4-translated (RFC 2765)", "", ""},
	{"64:ff9b::/96", "NAT64 (RFC 6052)", "", ""},
	{"64:ff9b:1::/48", "NAT64 for local use (RFC 8215)", "", ""},
	{"100::/64", "discard (RFC 6666)", "", ""},
	{"100:0:0:1::/64", "dummy prefix (RFC 9780)", "", ""},
	{"200::/7", "reserved, once for NSAP (RFC 4048)", "", ""},
	{"1000::/4", "reserved", "", "2000::"},
	{"2001::/32", "Teredo (RFC 4380)", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
	{"2001:1::1/128", "port control anycast (RFC 7723)", "", ""},
	{"2001:2::/48", "benchmarking (RFC 5180)", "", ""},
	{"2001:3::/32", "AMT (RFC 7450)", "", ""},
	{"2001:4:112::/48", "AS112 (RFC 7535)", "", ""},
	{"2001:10::/28", "ORCHID (RFC 4843)", "", ""},
	{"2001:20::/28", "ORCHIDv2 (RFC 7343)", "", ""},
	{"2001:30::/28", "drone remote ids (RFC 9374)", "", ""},
	{"2001::/23", "protocol assignments (RFC 2928)", "", "2001:200::"},
	{"2001:db8::/32", "documentation (RFC 3849)", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
	{"2002::/16", "6to4 (RFC 3056)", "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"},
	{"2620:4f:8000::/48", "AS112 (RFC 7534)", "2620:4f:7fff:ffff:ffff:ffff:ffff:ffff", "2620:4f:8001::"},
	{"3ffe::/16", "6bone, given back (RFC 3701)", "3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
	{"3fff::/20", "documentation (RFC 9637)", "", "3fff:1000::"},
	{"4000::/3", "reserved", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
	{"5f00::/16", "segment routing (RFC 9602)", "", ""},
	{"6000::/3", "reserved", "", ""},
	{"8000::/3", "reserved", "", ""},
	{"a000::/3", "reserved", "", ""},
	{"c000::/3", "reserved", "", ""},
	{"e000::/4", "reserved", "", ""},
	{"f000::/5", "reserved", "", ""},
	{"f800::/6", "reserved", "", ""},
	{"fc00::/7", "unique local (RFC 4193)", "", ""},
	{"fe00::/9", "reserved", "", ""},
	{"fe80::/10", "link-local (RFC 4291)", "", ""},
	{"fec0::/10", "site-local (RFC 3879)", "", ""},
	{"ff00::/8", "multicast (RFC 4291)", "", ""},
}

// dialled are single decisions of the dialler, on the network and address it is about to connect to.
var dialled = []struct {
	network, address, why string
	want                  delivery.Reason
}{
	{"tcp4", "169.254.169.254:443", "EC2 metadata", delivery.ReasonBlockedAddress},
	{"tcp4", "127.0.0.1:9001", "Lambda's Runtime API", delivery.ReasonBlockedAddress},
	{"tcp6", "[fd00:ec2::254]:443", "EC2 metadata over IPv6", delivery.ReasonBlockedAddress},

	{"tcp6", "[::ffff:8.8.8.8]:443", "mapped public: the form alone is refused", delivery.ReasonBlockedAddress},
	{"tcp6", "[::8.8.8.8]:443", "compatible public", delivery.ReasonBlockedAddress},

	{"tcp6", "[fe80::1%eth0]:443", "link-local with a zone", delivery.ReasonBlockedAddress},
	{"tcp6", "[2606:4700:4700::1111%eth0]:443", "public with a zone", delivery.ReasonBlockedAddress},

	{"tcp4", "1.1.1.1:80", "plain HTTP's port", delivery.ReasonBlockedPort},
	{"tcp4", "1.1.1.1:22", "SSH", delivery.ReasonBlockedPort},
	{"tcp4", "1.1.1.1:0", "no port", delivery.ReasonBlockedPort},
	{"tcp4", "1.1.1.1:442", "below the port", delivery.ReasonBlockedPort},
	{"tcp4", "1.1.1.1:444", "above the port", delivery.ReasonBlockedPort},
	{"tcp4", "1.1.1.1:65535", "the last port", delivery.ReasonBlockedPort},

	{"tcp", "1.1.1.1:443", "a network that says no family", delivery.ReasonBlockedAddress},
	{"udp4", "1.1.1.1:443", "UDP", delivery.ReasonBlockedAddress},
	{"ip4:icmp", "1.1.1.1", "raw IP", delivery.ReasonBlockedAddress},
	{"unix", "/var/run/docker.sock", "a Unix socket", delivery.ReasonBlockedAddress},
	{"tcp4", "localhost:443", "a name where an address belongs", delivery.ReasonBlockedAddress},
	{"tcp4", "127.1:443", "a short form", delivery.ReasonBlockedAddress},
	{"tcp4", "1.1.1.1:65536", "a port that does not exist", delivery.ReasonBlockedAddress},
	{"tcp4", "1.1.1.1", "no port at all", delivery.ReasonBlockedAddress},
	{"tcp4", "", "nothing", delivery.ReasonBlockedAddress},

	{"tcp4", "1.1.1.1:443", "public", ""},
	{"tcp6", "[2606:4700:4700::1111]:443", "public", ""},
}

// Threat of a tenant: has Herald call an internal host. Held by: every address is checked when dialled; redirects are
// refused.
func TestPolicy_Check_refusesEveryRangeAtBothEdges(t *testing.T) {
	for _, r := range ranges {
		for _, addr := range edges(r.prefix) {
			if got := check(egress.Policy{}, addr); got != delivery.ReasonBlockedAddress {
				t.Errorf("%s of %s, %s: got %q, want %q", addr, r.prefix, r.why, got, delivery.ReasonBlockedAddress)
			}
		}
		for _, neighbour := range []string{r.before, r.after} {
			if neighbour == "" {
				continue
			}
			if got := check(egress.Policy{}, neighbour); got != "" {
				t.Errorf("%s beside %s: got %q, want it to pass", neighbour, r.prefix, got)
			}
		}
	}
}

func TestPolicy_Check_refusesEveryIPv4RangeInsideIPv6(t *testing.T) {
	for _, r := range ranges {
		prefix := netip.MustParsePrefix(r.prefix)
		if !prefix.Addr().Is4() {
			continue
		}
		for _, addr := range []netip.Addr{prefix.Addr(), lastOf(prefix)} {
			for _, form := range embed(addr) {
				if got := check(egress.Policy{}, form.String()); got != delivery.ReasonBlockedAddress {
					t.Errorf("%s, which is %s of %s: got %q, want %q", form, addr, r.why, got, delivery.ReasonBlockedAddress)
				}
			}
		}
	}
}

func TestPolicy_Check_ofWhatIsDialled(t *testing.T) {
	for _, d := range dialled {
		if got := reasonOf(egress.Policy{}.Check(d.network, d.address)); got != d.want {
			t.Errorf("%s %q, %s: got %q, want %q", d.network, d.address, d.why, got, d.want)
		}
	}
}

func check(policy egress.Policy, addr string) delivery.Reason {
	network := "tcp4"
	if netip.MustParseAddr(addr).Is6() {
		network = "tcp6"
	}
	return reasonOf(policy.Check(network, net.JoinHostPort(addr, "443")))
}

// reasonOf is the reason of a refusal. An error of any other kind is not a decision.
func reasonOf(err error) delivery.Reason {
	var blocked *egress.Blocked
	switch {
	case err == nil:
		return ""
	case errors.As(err, &blocked):
		return blocked.Reason
	default:
		return delivery.Reason("untyped: " + err.Error())
	}
}

// edges are the first and the last address of a prefix.
func edges(prefix string) []string {
	p := netip.MustParsePrefix(prefix).Masked()
	return []string{p.Addr().String(), lastOf(p).String()}
}

// lastOf is the last address of a prefix.
func lastOf(p netip.Prefix) netip.Addr {
	bytes := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(bytes)*8; i++ {
		bytes[i/8] |= 1 << (7 - i%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// embed writes an IPv4 address in every way IPv6 has for it.
func embed(v4 netip.Addr) []netip.Addr {
	a := v4.As4()
	not := [4]byte{^a[0], ^a[1], ^a[2], ^a[3]}
	in := func(prefix string, at int, v4 [4]byte) netip.Addr {
		bytes := netip.MustParseAddr(prefix).As16()
		copy(bytes[at:], v4[:])
		return netip.AddrFrom16(bytes)
	}
	return []netip.Addr{
		in("::ffff:0:0", 12, a),   // mapped
		in("::", 12, a),           // compatible
		in("::ffff:0:0:0", 12, a), // translated, of which an older form is the next
		in("::ff00:0:0:0", 12, a),
		in("64:ff9b::", 12, a), // NAT64
		in("2002::", 2, a),     // 6to4
		in("2001::", 12, not),  // Teredo
	}
}
