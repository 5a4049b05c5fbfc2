package endpoint_test

import (
	"fmt"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func TestEndpoint_Clashes(t *testing.T) {
	at := func(id, url string) endpoint.Endpoint {
		return endpoint.Endpoint{ID: id, URL: url, Site: endpoint.SiteOf(url)}
	}
	full := func(others int) endpoint.Clash { return endpoint.Clash{AtSite: others, SiteFull: true} }
	before := func(id, url string) endpoint.Endpoint { return endpoint.Endpoint{ID: id, URL: url} }
	live := []endpoint.Endpoint{
		at("1", "https://a.example/1"), at("2", "https://a.example/2"), at("3", "https://b.example/1"),
		at("5", "https://0.saas.example/"), before("6", "https://1.saas.example/"), at("7", "https://2.saas.example/"),
	}
	for name, row := range map[string]struct {
		e       endpoint.Endpoint
		perSite int
		want    endpoint.Clash
	}{
		"a new URL":                         {at("4", "https://a.example/3"), 3, endpoint.Clash{AtSite: 2}},
		"another endpoint's":                {at("4", "https://b.example/1"), 3, endpoint.Clash{With: "3"}},
		"that of the first":                 {at("4", "https://a.example/1"), 3, endpoint.Clash{With: "1"}},
		"another one's at a full host":      {at("4", "https://a.example/2"), 1, endpoint.Clash{With: "2"}},
		"its own":                           {at("3", "https://b.example/1"), 1, endpoint.Clash{}},
		"at a full host":                    {at("4", "https://a.example/3"), 2, full(2)},
		"at a host with too many already":   {at("4", "https://a.example/3"), 1, full(2)},
		"moved away from its own host":      {at("1", "https://b.example/2"), 2, endpoint.Clash{AtSite: 1}},
		"moved within a full host":          {at("1", "https://a.example/9"), 2, endpoint.Clash{AtSite: 1}},
		"moved where there are too many":    {at("1", "https://a.example/9"), 0, endpoint.Clash{AtSite: 1}},
		"behind a wildcard":                 {at("8", "https://3.saas.example/"), 3, full(3)},
		"moved there":                       {before("1", "https://3.saas.example/"), 3, full(3)},
		"restored there":                    {at("8", "https://3.saas.example/"), 3, full(3)},
		"restored, from before":             {before("8", "https://3.saas.example/"), 3, endpoint.Clash{}},
		"from before, at a full host":       {before("8", "https://a.example/3"), 2, full(2)},
		"where no host may have any":        {at("4", "https://c.example/"), 0, endpoint.Clash{SiteFull: true}},
		"at another port of a full host":    {at("4", "https://b.example:1/"), 1, full(1)},
		"at a subdomain, which is the same": {at("4", "https://x.b.example/"), 1, full(1)},
	} {
		if got := row.e.Clashes(live, endpoint.Bounds{Live: endpoint.MaxLive, AtSite: row.perSite}); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}

// With the most endpoints that a tenant may have, all at one host, the tenant's own bound is what refuses.
func TestEndpoint_Clashes_leavesTheMostToTheTenantsBound(t *testing.T) {
	var live []endpoint.Endpoint
	for n := range endpoint.MaxLive {
		live = append(live, endpoint.Endpoint{ID: fmt.Sprint(n), URL: fmt.Sprintf("https://a.example/%d", n)})
	}
	e := endpoint.Endpoint{ID: "new", URL: "https://a.example/new"}
	most := endpoint.Bounds{Live: endpoint.MaxLive, AtSite: endpoint.MaxLive}
	if got, want := e.Clashes(live, most), (endpoint.Clash{AtSite: endpoint.MaxLive}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A stack whose bound of a tenant was lowered leaves what there is. It does not let all of it move to one host.
func TestEndpoint_Clashes_boundsMovesOfTenantsWithMoreThanTheyMayHave(t *testing.T) {
	live := []endpoint.Endpoint{{ID: "moves", URL: "https://b.example/"}}
	for n := range 30 {
		live = append(live, endpoint.Endpoint{ID: fmt.Sprint(n), URL: fmt.Sprintf("https://a.example/%d", n)})
	}
	e := endpoint.Endpoint{ID: "moves", URL: "https://a.example/new"}
	most := endpoint.Bounds{Live: 10, AtSite: 20}
	if got, want := e.Clashes(live, most), (endpoint.Clash{AtSite: 30, SiteFull: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// An endpoint is also at the site of its token server.
func TestEndpoint_Clashes_countsTokenServers(t *testing.T) {
	with := func(id, url, tokens string) endpoint.Endpoint {
		e := endpoint.Endpoint{ID: id, URL: url, Site: endpoint.SiteOf(url)}
		if tokens != "" {
			e.OAuth = &endpoint.OAuth{TokenURL: tokens}
		}
		return e
	}
	live := []endpoint.Endpoint{
		with("1", "https://a.example/", "https://id.victim.example/token"),
		with("2", "https://b.example/", "https://victim.example/other"), with("3", "https://c.example/", ""),
	}
	for name, row := range map[string]struct {
		e    endpoint.Endpoint
		want endpoint.Clash
	}{
		"a third token URL there": {
			with("4", "https://d.example/", "https://x.victim.example/"),
			endpoint.Clash{AtSite: 2, SiteFull: true, OfTokens: true},
		},
		"a URL there":           {with("4", "https://victim.example/", ""), endpoint.Clash{AtSite: 2, SiteFull: true}},
		"both there count once": {with("4", "https://c.example/4", "https://c.example/token"), endpoint.Clash{AtSite: 1}},
		"a token URL added there": {
			with("3", "https://c.example/", "https://victim.example/"),
			endpoint.Clash{AtSite: 2, SiteFull: true, OfTokens: true},
		},
		"another token URL, the same":  {with("1", "https://a.example/", "https://y.victim.example/"), endpoint.Clash{}},
		"moved to its own token's":     {with("1", "https://victim.example/9", ""), endpoint.Clash{AtSite: 1}},
		"a token URL at another place": {with("4", "https://d.example/", "https://a.example/"), endpoint.Clash{}},
	} {
		if got := row.e.Clashes(live, endpoint.Bounds{Live: endpoint.MaxLive, AtSite: 2}); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}
