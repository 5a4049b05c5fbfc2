package endpoint

import (
	"net/netip"
	"net/url"

	"golang.org/x/net/publicsuffix"
)

// SiteOf returns whose host a URL names, as far as a name tells it: what protects a host of somebody else is counted
// and kept for all names there. It is the registrable domain of the public suffix list, "example.com" for
// "shop7.eu.example.com". The private section of the list counts, so that two shops below myshopify.com are two sites.
// An unknown top-level domain is a suffix of one label. A name that is a suffix itself is its own site. So is an IPv4
// address. An IPv6 address counts as its /64, which is what one customer gets at least. "" is the site of no URL.
//
// An endpoint without a site was last written by a version that counted each host alone: it stays where it is, and a
// restore still counts its host alone. An older version drops site and sited_at from each endpoint that it writes, and
// pause_site, limit_site and endpoints_per_host from the marks: pauses and limits then hold by id alone, until they are
// given again.
func SiteOf(stored string) string {
	u, err := url.Parse(stored)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		return siteOfAddr(addr.Unmap())
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host
	}
	return domain
}

func siteOfAddr(addr netip.Addr) string {
	if addr.Is4() {
		return addr.String()
	}
	network, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return addr.String()
	}
	return network.String()
}
