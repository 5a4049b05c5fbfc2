package endpoint

import "slices"

// Clash is what keeps a tenant from having a URL in addition to those of its live endpoints. The zero value means that
// the tenant may have it.
type Clash struct {
	With     string // the id of the endpoint that has the URL already
	AtSite   int    // other endpoints at the URL's site
	SiteFull bool   // and there may be no more of them
}

// Bounds are how many live endpoints a tenant may have, and how many of them at one site ([SiteOf]).
type Bounds struct{ Live, AtSite int }

// Clashes compares the endpoint's URL with those of its tenant's live endpoints: each URL is used once, and the number
// of endpoints at a site is bounded, since the site's owner may never have agreed to any. If all endpoints that the
// tenant may have are at one site, the tenant's own bound is what refuses another.
//
// An endpoint that is at the site already may stay there, with another URL, however many there are. A deleted endpoint
// without a Site is from a time when each host was counted alone, and is restored by that rule.
func (e Endpoint) Clashes(live []Endpoint, most Bounds) Clash {
	own := slices.IndexFunc(live, func(other Endpoint) bool { return other.ID == e.ID })
	stays := own >= 0 && SiteOf(live[own].URL) == SiteOf(e.URL)
	place := func(o Endpoint) string { return SiteOf(o.URL) }
	if own < 0 && e.Site == "" {
		place = Endpoint.Host
	}
	at, found := place(e), 0
	for n, other := range live {
		switch {
		case n == own:
		case other.URL == e.URL:
			return Clash{With: other.ID}
		case place(other) == at:
			found++
		}
	}
	full := found >= most.AtSite && (own >= 0 || found < most.Live)
	return Clash{AtSite: found, SiteFull: full && !stays}
}
