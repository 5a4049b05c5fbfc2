package endpoint

import "slices"

// Clash is what keeps a tenant from having a URL in addition to those of its live endpoints. The zero value means that
// the tenant may have it.
type Clash struct {
	With     string // the id of the endpoint that has the URL already
	AtSite   int    // other endpoints at the URL's site
	SiteFull bool   // and there may be no more of them
	OfTokens bool   // it is the site of the token URL
}

// Bounds are how many live endpoints a tenant may have, and how many of them at one site ([SiteOf]).
type Bounds struct{ Live, AtSite int }

// Clashes compares the endpoint's URL with those of its tenant's live endpoints: each URL is used once, and the number
// of endpoints at a site is bounded, since the site's owner may never have agreed to any. If all endpoints that the
// tenant may have are at one site, the tenant's own bound is what refuses another. An endpoint is also at the site of
// its token server, whose owner may not have agreed either.
//
// An endpoint that is at the site already may stay there, with another URL, however many there are. A deleted endpoint
// without a Site is from a time when each host was counted alone, and is restored by that rule.
func (e Endpoint) Clashes(live []Endpoint, most Bounds) (c Clash) {
	own := slices.IndexFunc(live, func(other Endpoint) bool { return other.ID == e.ID })
	same := func(other Endpoint) bool { return other.ID != e.ID && other.URL == e.URL }
	if at := slices.IndexFunc(live, same); at >= 0 {
		return Clash{With: live[at].ID}
	}
	places := Endpoint.sites
	if own < 0 && e.Site == "" {
		places = func(o Endpoint) []string { return []string{o.Host()} }
	}
	for n, at := range places(e) {
		found := e.othersAt(at, live, places)
		stays := own >= 0 && slices.Contains(live[own].sites(), at)
		if !stays && found >= most.AtSite && (own >= 0 || found < most.Live) {
			return Clash{AtSite: found, SiteFull: true, OfTokens: n > 0}
		}
		if n == 0 {
			c.AtSite = found
		}
	}
	return c
}

// othersAt counts the other endpoints at a place.
func (e Endpoint) othersAt(place string, live []Endpoint, places func(Endpoint) []string) (n int) {
	for _, other := range live {
		if other.ID != e.ID && slices.Contains(places(other), place) {
			n++
		}
	}
	return n
}
