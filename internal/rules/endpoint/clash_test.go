package endpoint_test

import (
	"fmt"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func TestEndpoint_Clashes(t *testing.T) {
	at := func(id, url string) endpoint.Endpoint { return endpoint.Endpoint{ID: id, URL: url} }
	live := []endpoint.Endpoint{
		at("1", "https://a.example/1"), at("2", "https://a.example/2"), at("3", "https://b.example/1"),
	}
	for name, row := range map[string]struct {
		e       endpoint.Endpoint
		perHost int
		want    endpoint.Clash
	}{
		"a new URL":                        {at("4", "https://a.example/3"), 3, endpoint.Clash{AtHost: 2}},
		"another endpoint's":               {at("4", "https://b.example/1"), 3, endpoint.Clash{With: "3"}},
		"another one's at a full host":     {at("4", "https://a.example/2"), 1, endpoint.Clash{With: "2"}},
		"its own":                          {at("3", "https://b.example/1"), 1, endpoint.Clash{}},
		"at a full host":                   {at("4", "https://a.example/3"), 2, endpoint.Clash{AtHost: 2, HostFull: true}},
		"at a host with too many already":  {at("4", "https://a.example/3"), 1, endpoint.Clash{AtHost: 2, HostFull: true}},
		"moved away from its own host":     {at("1", "https://b.example/2"), 2, endpoint.Clash{AtHost: 1}},
		"moved within a full host":         {at("1", "https://a.example/9"), 2, endpoint.Clash{AtHost: 1}},
		"where no host may have any":       {at("4", "https://c.example/"), 0, endpoint.Clash{HostFull: true}},
		"at another port of a full host":   {at("4", "https://b.example:1/"), 1, endpoint.Clash{AtHost: 1, HostFull: true}},
		"at a subdomain, which is another": {at("4", "https://x.b.example/"), 1, endpoint.Clash{}},
	} {
		if got := row.e.Clashes(live, row.perHost); got != row.want {
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
	if got, want := e.Clashes(live, endpoint.MaxLive), (endpoint.Clash{AtHost: endpoint.MaxLive}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
