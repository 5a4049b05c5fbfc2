package endpoint_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

var ordered = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ofX are a pause and a limit of an endpoint at example.com.
var ofX = endpoint.Marks{
	PausedAt: ordered, PausedBy: "ann", PauseReason: "asked", PauseSite: "example.com",
	RateLimit: 5, LimitedAt: ordered, LimitedBy: "bob", LimitReason: "their quota", LimitSite: "example.com",
}

func TestTenantMarks_Of(t *testing.T) {
	at := func(id, url string, sited time.Time) endpoint.Endpoint {
		e := endpoint.Endpoint{ID: id, URL: url}
		e.ComeTo(sited)
		return e
	}
	held := ofX
	held.PauseSite, held.LimitSite = "", ""
	small := endpoint.Marks{RateLimit: 2, LimitedAt: ordered, LimitedBy: "eve"}
	smaller := held
	smaller.RateLimit, smaller.LimitedBy, smaller.LimitReason = 2, "eve", ""
	const there = "https://shop2.example.com/"
	for name, row := range map[string]struct {
		e      endpoint.Endpoint
		tenant endpoint.Marks
		own    endpoint.Marks
		want   endpoint.Marks
	}{
		"the endpoint itself":            {e: at("X", there, ordered.Add(-time.Hour)), want: ofX},
		"the endpoint itself, elsewhere": {e: at("X", "https://other.example/", ordered.Add(time.Hour)), want: ofX},
		"created there since":            {e: at("Y", there, ordered.Add(time.Hour)), want: held},
		"created at that moment":         {e: at("Y", there, ordered), want: held},
		"there before":                   {e: at("Y", there, ordered.Add(-1)), want: endpoint.Marks{}},
		"at another site":                {e: at("Y", "https://example.org/", ordered), want: endpoint.Marks{}},
		"from before there were sites":   {e: endpoint.Endpoint{ID: "Y", URL: there}, want: endpoint.Marks{}},
		"of a tenant with a limit":       {e: at("Y", there, ordered.Add(-1)), tenant: small, want: small},
		"with the smallest limit of all": {e: at("Y", there, ordered), tenant: small, want: smaller},
		"with a smaller limit of its own": {
			e: at("Y", "https://example.org/", ordered), tenant: held, own: small, want: small,
		},
	} {
		marks := endpoint.TenantMarks{Tenant: row.tenant, Endpoints: map[string]endpoint.Marks{"X": ofX, "Y": row.own}}
		if diff := cmp.Diff(row.want, marks.Of(row.e)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// However an owner creates, moves, deletes and restores endpoints after an order on one of them, none that comes to its
// site is free of the order, nor is the endpoint itself, wherever it goes.
func TestTenantMarks_Of_holdsWhateverAnOwnerDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		marks := endpoint.TenantMarks{Endpoints: map[string]endpoint.Marks{"0": ofX}}
		urls := rapid.SampledFrom([]string{"https://example.com/a", "https://b.example.com/", "https://example.org/"})
		ids := rapid.SampledFrom([]string{"0", "1", "2"})
		for n := range 20 {
			e := endpoint.Endpoint{ID: ids.Draw(t, "id"), URL: urls.Draw(t, "url")}
			e.ComeTo(ordered.Add(time.Duration(n)))
			m := marks.Of(e)
			if want := e.ID == "0" || e.Site == "example.com"; m.Paused() != want || (m.RateLimit == 5) != want {
				t.Fatalf("%+v has %+v", e, m)
			}
		}
	})
}
