package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// portRange is a closed range of TCP ports.
type portRange struct{ From, To uint16 }

// Policy says which addresses and ports may be dialled. The zero Policy allows every
// globally reachable address on port 443 and nothing else.
type Policy struct {
	allow []netip.Prefix
	deny  []netip.Prefix // wins over all else
	ports []portRange
}

// public knows the globally reachable addresses. IANA's registries leave out the 6bone's, given back in 2006.
var public = ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV6Prefixes(sixBone))

var sixBone = netip.MustParsePrefix("3ffe::/16")

// LocalStage is the only stage with a policy that may reach loopback and link-local addresses.
const LocalStage = "local"

var neverWidened = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"),    // Lambda's Runtime API lives here
	netip.MustParsePrefix("169.254.0.0/16"), // credentials and telemetry
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fd00:ec2::/32"), // AWS's own: metadata, credentials, DNS, time
	// IPv6 that a gateway turns into IPv4 of any range
	netip.MustParsePrefix("::/96"), // compatible; unspecified and loopback, too
	mapped,
	netip.MustParsePrefix("::ffff:0:0:0/96"), // translated
	netip.MustParsePrefix("64:ff9b::/96"),    // NAT64
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2001::/32"), // Teredo
	netip.MustParsePrefix("2002::/16"), // 6to4
	sixBone,
}

var mapped = netip.MustParsePrefix("::ffff:0:0/96")

// Settings are the stage and the parameters of the same names: comma-separated prefixes, and ports or
// ranges ("8443,9000-9100").
type Settings struct{ Stage, AllowCIDRs, DenyCIDRs, AllowPorts string }

// ParsePolicy reads the settings. Outside LocalStage it refuses to allow loopback, link-local and AWS's own
// addresses, and ranges of IPv6 that hold IPv4. All errors are joined in one, which shows no value.
func ParsePolicy(s Settings) (Policy, error) {
	var p Policy
	var errs []error
	for i, entry := range fields(s.AllowCIDRs) {
		prefix, err := netip.ParsePrefix(entry)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("EGRESS_ALLOW_CIDRS: entry %d is not a CIDR prefix", i+1))
		case s.Stage != LocalStage && slices.ContainsFunc(neverWidened, prefix.Overlaps):
			errs = append(errs, fmt.Errorf("EGRESS_ALLOW_CIDRS: entry %d reaches loopback, link-local or AWS's own "+
				"addresses, or IPv4 inside IPv6, allowed in the local stage only", i+1))
		default:
			p.allow = append(p.allow, prefix.Masked())
		}
	}
	for i, entry := range fields(s.DenyCIDRs) {
		prefix, err := netip.ParsePrefix(entry)
		if err != nil || mapped.Contains(prefix.Addr()) { // IPv4 in that form matches no IPv4 address
			errs = append(errs, fmt.Errorf("EGRESS_DENY_CIDRS: entry %d is not a CIDR prefix", i+1))
			continue
		}
		p.deny = append(p.deny, prefix.Masked())
	}
	for i, s := range fields(s.AllowPorts) {
		r, ok := parsePorts(s)
		if !ok {
			errs = append(errs, fmt.Errorf("EGRESS_ALLOW_PORTS: entry %d is not a port or a range of ports", i+1))
			continue
		}
		p.ports = append(p.ports, r)
	}
	return p, errors.Join(errs...)
}

// Addr reports whether the address may be dialled. An address with a zone never may.
func (p Policy) Addr(addr netip.Addr) bool {
	has := func(prefix netip.Prefix) bool { return prefix.Contains(addr) }
	return addr.IsValid() && addr.Zone() == "" && !slices.ContainsFunc(p.deny, has) &&
		(slices.ContainsFunc(p.allow, has) || public.SafeAddr(addr) == nil)
}

// Port reports whether the port may be dialled.
func (p Policy) Port(port uint16) bool {
	return port == 443 || slices.ContainsFunc(p.ports, func(r portRange) bool { return r.From <= port && port <= r.To })
}

// Check decides on the network and the address that are dialled ("tcp4", "192.0.2.1:443"). The
// error is nil or a *Blocked.
func (p Policy) Check(network, address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") || !p.Addr(ap.Addr()) {
		return &Blocked{Reason: delivery.ReasonBlockedAddress}
	}
	if !p.Port(ap.Port()) {
		return &Blocked{Reason: delivery.ReasonBlockedPort}
	}
	return nil
}

// Blocked is the refusal to dial. It carries no address, since a tenant must not learn the answers of our DNS.
type Blocked struct{ Reason delivery.Reason }

func (b *Blocked) Error() string { return "egress refused: " + string(b.Reason) }

// parsePorts reads a port or a range of ports, such as 8000-8999. Port 0 is none.
func parsePorts(s string) (r portRange, ok bool) {
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		to = from
	}
	a, errA := strconv.ParseUint(strings.TrimSpace(from), 10, 16)
	b, errB := strconv.ParseUint(strings.TrimSpace(to), 10, 16)
	ok = errA == nil && errB == nil && 0 < a && a <= b
	return portRange{From: uint16(a), To: uint16(b)}, ok
}

// fields splits a list at commas and spaces, as parameters of CloudFormation and environment variables have them.
func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
