package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// sourceAddresses answers any caller.
func (h *Handler) sourceAddresses(context.Context, *call) (any, error) {
	return management.SourceAddresses{CIDRs: h.Sources}, nil
}

// ParseSources reads addresses and CIDR prefixes with commas between them, and returns all as prefixes, as firewalls
// take them. An error names all faulty entries by number. An entry that would open a firewall to every address is
// faulty.
func ParseSources(text string) ([]string, error) {
	cidrs := []string{}
	var errs []error
	for n, entry := range strings.Split(text, ",") {
		if text == "" {
			break
		}
		prefix, err := parseSource(strings.TrimSpace(entry))
		if err != nil {
			errs = append(errs, fmt.Errorf("SOURCE_ADDRESSES: entry %d %w", n+1, err))
			continue
		}
		cidrs = append(cidrs, prefix.String())
	}
	return cidrs, errors.Join(errs...)
}

var (
	errNoAddress = errors.New("is neither an address nor a CIDR prefix")
	errHostBits  = errors.New("is an address with the length of a prefix: write the prefix's first address")
	errEverybody = errors.New("is every address")
)

func parseSource(entry string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(entry); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(entry)
	switch {
	case err != nil:
		return netip.Prefix{}, errNoAddress
	case prefix.Bits() == 0:
		return netip.Prefix{}, errEverybody
	case prefix != prefix.Masked():
		return netip.Prefix{}, errHostBits
	}
	return prefix, nil
}
