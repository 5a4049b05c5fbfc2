package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// portRange is a closed range of TCP ports.
type portRange struct{ From, To uint16 }

// Policy says which addresses and ports may be dialled. The zero Policy allows every
// globally reachable address on port 443 and nothing else.
type Policy struct {
	allow []netip.Prefix
	ports []portRange
}

// public knows the globally reachable addresses.
var public = ssrf.New(ssrf.WithAnyPort())

// LocalStage is the only stage whose policy may reach loopback and link-local addresses.
const LocalStage = "local"

var neverWidened = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"),    // Lambda's Runtime API lives here
	netip.MustParsePrefix("169.254.0.0/16"), // credentials and telemetry
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("::/96"), // unspecified, loopback, IPv4-compatible
	netip.MustParsePrefix("::ffff:0:0/96"),
	netip.MustParsePrefix("fe80::/10"),
}

// ParsePolicy reads EgressAllowCidrs and EgressAllowPorts: comma-separated prefixes, and
// ports or ranges ("8443,9000-9100"). Outside LocalStage a prefix that meets a loopback or
// link-local range is refused. All errors are joined in one, which shows no value.
func ParsePolicy(cidrs, ports, stage string) (Policy, error) {
	var p Policy
	var errs []error
	for i, s := range fields(cidrs) {
		prefix, err := netip.ParsePrefix(s)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("EGRESS_ALLOW_CIDRS: entry %d is not a CIDR prefix", i+1))
		case stage != LocalStage && slices.ContainsFunc(neverWidened, prefix.Overlaps):
			errs = append(errs, fmt.Errorf(
				"EGRESS_ALLOW_CIDRS: entry %d reaches loopback or link-local addresses, allowed in the local stage only", i+1))
		default:
			p.allow = append(p.allow, prefix.Masked())
		}
	}
	for i, s := range fields(ports) {
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
	allowed := func(prefix netip.Prefix) bool { return prefix.Contains(addr) }
	return addr.IsValid() && addr.Zone() == "" &&
		(slices.ContainsFunc(p.allow, allowed) || public.SafeAddr(addr) == nil)
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

// Blocked is the refusal to dial. It carries no address: DNS's answer is nobody's business but ours.
type Blocked struct{ Reason delivery.Reason }

func (b *Blocked) Error() string { return "egress refused: " + string(b.Reason) }

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

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
