package endpoint

// Clash is what keeps a tenant from having a URL in addition to those of its live endpoints. The zero value means that
// the tenant may have it.
type Clash struct {
	With     string // the id of the endpoint that has the URL already
	AtHost   int    // endpoints at the URL's host
	HostFull bool   // and there may be no more of them
}

// Clashes holds the endpoint's URL against the other live endpoints of its tenant: each URL is used once, and a host
// gets the deliveries of an event for perHost of the tenant's endpoints at most, since its owner may never have agreed
// to any. The bound of a host is not reached by MaxLive endpoints at it: the tenant may have no other one either.
func (e Endpoint) Clashes(live []Endpoint, perHost int) Clash {
	atHost := 0
	for _, other := range live {
		switch {
		case other.ID == e.ID:
		case other.URL == e.URL:
			return Clash{With: other.ID}
		case other.Host() == e.Host():
			atHost++
		}
	}
	return Clash{AtHost: atHost, HostFull: atHost >= perHost && atHost < MaxLive}
}
