package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var (
	kept                 = failed.Add(7 * 24 * time.Hour)
	since, failed, probe = at.Add(-time.Hour), at.Add(-2 * time.Hour), at.Add(3 * time.Minute)

	down = circuit.Item{
		TenantID: "acme", EndpointID: "webhook_down", Version: 9, State: circuit.Open, Since: since, Failures: 57,
		FailingSince: failed, OutageSince: failed, Last: circuit.Answer{At: since, Status: 503, Reason: "http_5xx"},
		ProbedAt: at.Add(-2 * time.Minute), Probes: 3, HeldUntil: at, Recent: circuit.Recent{Start: at, Tried: 4, OK: 1},
	}
	asleep = circuit.Item{
		TenantID: "acme", EndpointID: "webhook_asleep", Version: 2, State: circuit.Open, Since: failed, HeldUntil: at,
	}
	back = circuit.Item{
		TenantID: "acme", EndpointID: "webhook_back", Version: 5, State: circuit.Recovering, Since: since,
		RecoveredAt: since, OutageSince: failed, HeldUntil: at,
	}
	purged = circuit.Item{TenantID: "big", EndpointID: "webhook_purged", Version: 3, HeldUntil: at}

	rows = []endpoint.Endpoint{
		{ID: "webhook_down", TenantID: "acme", URL: "https://user:word@down.example/hooks?token=secret#part",
			Description: "orders", Status: endpoint.Active, Events: []string{"user.*"}, CreatedAt: failed, UpdatedAt: since},
		{ID: "webhook_asleep", TenantID: "acme", URL: "https://asleep.example/", Status: endpoint.Active,
			Marks: endpoint.Marks{PausedAt: since, PausedBy: "ann", PauseReason: "asked", DiscardedBefore: failed}},
		{ID: "webhook_back", TenantID: "acme", URL: "https://back.example/", Status: endpoint.Active},
	}
)

// byID sorts a list that has no order.
var byID = cmpopts.SortSlices(func(a, b api.ListedEndpoint) bool { return a.EndpointID < b.EndpointID })

func TestHandler_endpoints_showsHowEachStands(t *testing.T) {
	want := api.List[api.ListedEndpoint]{Data: []api.ListedEndpoint{
		{
			TenantID: "acme", EndpointID: "webhook_down", Host: "down.example", Description: "orders",
			Contact: "ann@example.com",
			Health: api.Health{
				State: "open", Since: since, Failures: 57, FailingSince: failed, OutageSince: failed, LastFailureAt: since,
				LastStatus: 503, LastReason: "http_5xx", Recent: &api.Recent{Attempts: 4, Successes: 1}, LastProbeAt: down.ProbedAt,
				NextProbeAt: probe,
			},
			Waiting: api.Waiting{Count: 1000, Held: 1000, More: true, OldestCreatedAt: failed, KeptUntil: kept},
		},
		{
			TenantID: "acme", EndpointID: "webhook_asleep", Host: "asleep.example", EndpointPaused: true, // is not probed
			Health: api.Health{
				State: "paused", Since: since, PausedBy: "ann", PauseReason: "asked", DiscardedBefore: failed,
			},
			Waiting: api.Waiting{},
		},
		{
			TenantID: "acme", EndpointID: "webhook_back", Host: "back.example", // neither is this one, any more
			Health:  api.Health{State: "recovering", Since: since, OutageSince: failed, RecoveredAt: since},
			Waiting: api.Waiting{},
		},
		{TenantID: "big", EndpointID: "webhook_purged", Health: api.Health{State: "deleted"}, Waiting: api.Waiting{}},
	}}
	for _, more := range []bool{false, true} { // counted together, and one by one
		inAccount(t, func(a *account) {
			a.putEndpoints(rows...)
			told := a.Endpoints["webhook_down"]
			told.About.Contact = "ann@example.com"
			a.putEndpoints(told)
			a.putCircuits(down, asleep, back, purged)
			a.wait("webhook_down", 1001, 1001, failed)
			if more {
				a.wait("webhook_other", 17*maxDueShard, 0, failed)
			}
			got := read[api.List[api.ListedEndpoint]](a, "endpoints", "")
			if diff := cmp.Diff(want, got, byID); diff != "" || a.calls["Count Backlog"] > 0 != more {
				t.Errorf("endpoints, %d counted one by one (-want +got):\n%s", a.calls["Count Backlog"], diff)
			}
		})
	}
}

// pages reads a list to its end and returns the contents of each page. As in DynamoDB, the last may be empty.
func (a *account) pages(fields string) (all [][]string) {
	a.Helper()
	for cursor := ""; len(all) < 50; {
		page := read[api.List[api.ListedEndpoint]](a, "endpoints", fields+cursor)
		var ids []string
		for _, e := range page.Data {
			ids = append(ids, e.EndpointID)
		}
		if len(ids) > 0 || page.NextCursor != nil {
			all = append(all, ids)
		}
		if page.NextCursor == nil {
			return all
		}
		cursor = `,"cursor":"` + *page.NextCursor + `"`
	}
	a.Fatal("the list does not end")
	return nil
}

func TestHandler_endpoints_pagesThroughOneState(t *testing.T) {
	inAccount(t, func(a *account) {
		for i := range 100 {
			id := fmt.Sprintf("webhook_%02d", i)
			item := circuit.Item{TenantID: "acme", EndpointID: id, Version: 1, State: circuit.Failing}
			if i%40 == 0 {
				item.State = circuit.Open
			}
			a.add(item)
		}
		want := []string{"webhook_00", "webhook_40", "webhook_80"}
		if diff := cmp.Diff([][]string{want}, a.pages(`"state":"open"`)); diff != "" {
			t.Errorf("pages (-want +got):\n%s", diff)
		}
		var found []string
		for _, page := range a.pages(`"state":"open","limit":1`) { // looks 20 times for a page
			found = append(found, page...)
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("one by one (-want +got):\n%s", diff)
		}
		if got := len(a.pages(`"limit":30`)); got != 4 {
			t.Errorf("%d pages of all, want 4", got)
		}
	})
}

// add adds an endpoint in trouble, with its row.
func (a *account) add(i circuit.Item) {
	a.putCircuits(i)
	a.putEndpoints(endpoint.Endpoint{ID: i.EndpointID, TenantID: i.TenantID, Status: endpoint.Active})
}

// Where a look finds some of a page only, the next looks for no more than the rest of it.
func TestHandler_endpoints_neverShowsMoreThanTheLimit(t *testing.T) {
	inAccount(t, func(a *account) {
		for n, state := range []circuit.State{circuit.Open, circuit.Failing, circuit.Open, circuit.Open, circuit.Open} {
			a.add(circuit.Item{TenantID: "acme", EndpointID: fmt.Sprint("webhook_", n), Version: 1, State: state})
		}
		want := [][]string{{"webhook_0", "webhook_2"}, {"webhook_3", "webhook_4"}}
		if diff := cmp.Diff(want, a.pages(`"state":"open","limit":2`)); diff != "" {
			t.Errorf("pages (-want +got):\n%s", diff)
		}
		if count := strings.Count(a.log.String(), `"count":2`); count != 2 {
			t.Errorf("%d of 2 lines say how many are shown: %s", count, &a.log)
		}
	})
}

// A row that is broken hides no other, but may have the name that is asked for.
func TestHandler_endpoints_showsWhatIsUnreadable(t *testing.T) {
	inAccount(t, func(a *account) {
		for _, id := range []string{"webhook_0", "webhook_1"} {
			a.add(circuit.Item{TenantID: "acme", EndpointID: id, Version: 1, State: circuit.Open})
		}
		a.BreakEndpoint(dynamo.EndpointKey{TenantID: "acme", EndpointID: "webhook_0"})
		a.putEndpoints(endpoint.Endpoint{
			ID: "webhook_1", TenantID: "acme", Status: endpoint.Active, URL: "https://a.example/", Description: "orders",
		})
		for fields, want := range map[string][][]string{
			`"state":"unreadable"`:                    {{"webhook_0"}},
			`"state":"open"`:                          {{"webhook_1"}},
			`"tenant_id":"acme"`:                      {{"webhook_0", "webhook_1"}},
			`"tenant_id":"acme","state":"unreadable"`: {{"webhook_0"}},
			`"tenant_id":"acme","host":"a.example"`:   {{"webhook_1"}},
		} {
			if diff := cmp.Diff(want, a.pages(fields)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", fields, diff)
			}
		}
		for _, name := range []string{"a.example", "orders"} {
			got := a.ask("endpoint", `"tenant_id":"acme","endpoint_id":"`+name+`"`)
			if !strings.Contains(got, "give the id: an endpoint of the tenant cannot be read, and may have the same name") {
				t.Errorf("found by %s: %s", name, got)
			}
		}
	})
}

func TestHandler_endpoint_showsThePathOnRequestOnly(t *testing.T) {
	want := api.Endpoint{
		TenantID: "acme", EndpointID: "webhook_down", URL: "https://down.example", Description: "orders", Status: "active",
		Contact: "ann@example.com", Metadata: map[string]string{"crm": "7"},
		Events: []string{"user.*"}, CreatedAt: failed, UpdatedAt: since, TenantPaused: true,
		Health: api.Health{
			State: "paused", Since: at, Failures: 57, FailingSince: failed, OutageSince: failed, LastFailureAt: since,
			LastStatus: 503, LastReason: "http_5xx", Recent: &api.Recent{Attempts: 4, Successes: 1}, LastProbeAt: down.ProbedAt,
		},
		Waiting: api.Waiting{Count: 3, Held: 2, OldestCreatedAt: failed, KeptUntil: kept},
	}
	inAccount(t, func(a *account) {
		a.putEndpoints(rows...)
		told := a.Endpoints["webhook_down"]
		told.About = endpoint.About{Contact: want.Contact, Metadata: want.Metadata}
		a.putEndpoints(told)
		a.putCircuits(down)
		a.Stops["acme"] = endpoint.Marks{PausedAt: at}
		a.wait("webhook_down", 3, 2, failed)
		for _, fields := range []string{`"endpoint_id":"webhook_down"`, `"endpoint_id":"webhook_down","tenant_id":"acme"`} {
			if diff := cmp.Diff(want, read[api.Endpoint](a, "endpoint", fields)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", fields, diff)
			}
		}
		want.URL = "https://down.example/hooks"
		opened := read[api.Endpoint](a, "endpoint", `"endpoint_id":"webhook_down","show_path":true`)
		if text := a.log.String(); strings.Contains(text, "ann@") || strings.Contains(text, "crm") {
			t.Errorf("logged, what the owner says: %s", text)
		}
		if diff := cmp.Diff(want, opened); diff != "" || !strings.Contains(a.log.String(), `"show_path":true`) {
			t.Errorf("with its path (-want +got):\n%s\n%s", diff, &a.log)
		}
	})
}

func TestHandler_endpoint_isUnreadableWithoutItsRowOrMarks(t *testing.T) {
	for name, breaks := range map[string]func(a *account){
		"its row":   func(a *account) { a.BreakEndpoint(dynamo.EndpointKey{TenantID: "acme", EndpointID: "webhook_down"}) },
		"its marks": func(a *account) { a.BreakMarks("acme") },
	} {
		inAccount(t, func(a *account) {
			a.putEndpoints(rows...)
			a.putCircuits(down)
			breaks(a)
			got := read[api.Endpoint](a, "endpoint", `"endpoint_id":"webhook_down"`)
			if got.EndpointID != "webhook_down" || got.TenantID != "acme" || got.Health.State != "unreadable" {
				t.Errorf("%s: %+v", name, got)
			}
		})
	}
}

func TestHandler_endpoint_namesAllOfAName(t *testing.T) {
	inAccount(t, func(a *account) {
		a.putEndpoints(
			endpoint.Endpoint{ID: "webhook_1", TenantID: "acme", URL: "https://a.example/x", Description: "orders"},
			endpoint.Endpoint{ID: "webhook_2", TenantID: "acme", URL: "https://A.example/y"},
		)
		const want = "give the id, since several match: webhook_1 a.example orders; webhook_2 A.example"
		if got := a.ask("endpoint", `"endpoint_id":"A.example","tenant_id":"acme"`); !strings.Contains(got, want) {
			t.Errorf("answered %s", got)
		}
	})
}

func TestHandler_endpoints_hasHealthyOnesOfATenantOrOnRequest(t *testing.T) {
	for fields, want := range map[string][][]string{
		`"limit":50`:                                       {{"webhook_2"}},
		`"state":"healthy"`:                                {{"webhook_1"}},
		`"tenant_id":"acme"`:                               {{"webhook_1", "webhook_2"}},
		`"tenant_id":"acme","limit":1`:                     {{"webhook_1"}, {"webhook_2"}},
		`"tenant_id":"acme","state":"healthy"`:             {{"webhook_1"}},
		`"tenant_id":"acme","state":"deleted"`:             {{"webhook_3"}},
		`"tenant_id":"acme","host":"B.example"`:            {{"webhook_2"}},
		`"tenant_id":"acme","description":"For webhook_1"`: {{"webhook_1"}},
	} {
		inAccount(t, func(a *account) {
			a.putCircuits(
				circuit.Item{TenantID: "acme", EndpointID: "webhook_1", Version: 1, HeldUntil: at}, // it has a lease
				circuit.Item{TenantID: "acme", EndpointID: "webhook_2", Version: 1, State: circuit.Open},
			)
			for _, e := range [][2]string{{"webhook_1", "https://a.example/"}, {"webhook_2", "https://b.example/"}} {
				a.putEndpoints(endpoint.Endpoint{
					ID: e[0], TenantID: "acme", URL: e[1], Description: "for " + e[0], Status: endpoint.Active,
				})
			}
			a.putEndpoints(endpoint.Endpoint{ID: "webhook_3", TenantID: "acme", Status: endpoint.Deleted})
			if diff := cmp.Diff(want, a.pages(fields)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", fields, diff)
			}
		})
	}
}

// A secret before the last rotation is shown for as long as it signs.
func TestHandler_endpoint_showsUntilWhenASecretBeforeSigns(t *testing.T) {
	inAccount(t, func(a *account) {
		until := time.Now().UTC().Add(time.Hour).Truncate(time.Millisecond)
		for stored, want := range map[time.Time]time.Time{until: until, until.Add(-2 * time.Hour): {}, {}: {}} {
			a.putEndpoints(endpoint.Endpoint{ID: "webhook_1", TenantID: "acme", Status: endpoint.Active, PreviousUntil: stored})
			got := read[api.Endpoint](a, "endpoint", `"endpoint_id":"webhook_1","tenant_id":"acme"`).PreviousSecretUntil
			if !got.Equal(want) {
				t.Errorf("stored until %s, shown %s, want %s", stored, got, want)
			}
		}
	})
}

func TestHandler_endpoint_isHealthyWithoutAnItem(t *testing.T) {
	inAccount(t, func(a *account) {
		a.putEndpoints(endpoint.Endpoint{
			ID: "webhook_1", TenantID: "acme", URL: "%", Status: endpoint.Deleted, DeletedAt: at,
		})
		want := api.Endpoint{
			TenantID: "acme", EndpointID: "webhook_1", Status: "deleted", DeletedAt: at, Events: []string{},
			Metadata: map[string]string{},
			Health:   api.Health{State: "deleted", Since: at}, Waiting: api.Waiting{},
		}
		got := read[api.Endpoint](a, "endpoint", `"endpoint_id":"webhook_1","tenant_id":"acme"`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("endpoint (-want +got):\n%s", diff)
		}
	})
}

func TestHandler_summary_countsEndpointsByStateAndWhatWaits(t *testing.T) {
	failing := circuit.Item{TenantID: "acme", EndpointID: "webhook_ill", Version: 1, State: circuit.Failing}
	well := circuit.Item{TenantID: "acme", EndpointID: "webhook_well", Version: 1, HeldUntil: at}
	inAccount(t, func(a *account) {
		a.putEndpoints(rows...)
		a.putEndpoints(
			endpoint.Endpoint{ID: "webhook_ill", TenantID: "acme"}, endpoint.Endpoint{ID: "webhook_well", TenantID: "acme"})
		a.putCircuits(down, asleep, back, failing, purged, well)
		a.Stops["big"] = endpoint.Marks{PausedAt: at}
		a.slow(map[string]time.Time{"hog": at.Add(6 * time.Hour), "ordinary": at.Add(time.Second)})
		a.wait("webhook_down", 31, 19, failed)
		got := read[api.Summary](a, "summary", "")
		counts := api.EndpointCounts{
			States:        map[api.State]int{"open": 1, "paused": 1, "recovering": 1, "failing": 1, "deleted": 1},
			PausedTenants: 1, SlowTenants: 1,
			Slow: []api.SlowTenant{{TenantID: "hog", Until: at.Add(6*time.Hour - time.Minute)}}, // a burst takes a minute off
		}
		if diff := cmp.Diff(counts, got.Endpoints); diff != "" {
			t.Errorf("endpoints (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(api.Backlogged{Count: 31, Held: 19, NextDueAt: since}, got.Waiting); diff != "" {
			t.Errorf("waiting (-want +got):\n%s", diff)
		}
		if counted := a.calls["Count Backlog"]; counted > 0 {
			t.Errorf("the Backlog of %d endpoints was counted", counted)
		}
	})
}

func TestHandler_summary_namesTheTenantsThatAreSlowTheLongest(t *testing.T) {
	inAccount(t, func(a *account) {
		slow := map[string]time.Time{}
		for n := range maxSlow + 5 {
			slow[fmt.Sprintf("t%02d", n)] = at.Add(time.Duration(n+1) * time.Hour)
		}
		a.slow(slow)
		got := read[api.Summary](a, "summary", "").Endpoints
		first, last := got.Slow[0].TenantID, got.Slow[len(got.Slow)-1].TenantID
		if got.SlowTenants != 25 || len(got.Slow) != 20 || first != "t24" || last != "t05" {
			t.Errorf("%d slow tenants, of which %d are named, %s to %s", got.SlowTenants, len(got.Slow), first, last)
		}
	})
}

func TestHandler_endpoints_thatAnswerNowAndThenAreFlapping(t *testing.T) {
	const recently = 10 * time.Minute
	for name, row := range map[string]struct {
		state     circuit.State
		ok, tried int
		recovered time.Duration // ago
		want      api.State
	}{
		"a run of failures":      {circuit.Failing, 1, 11, recently, "failing"},
		"one success in ten":     {circuit.Failing, 1, 10, recently, "flapping"},
		"a 2xx a moment ago":     {circuit.None, 5, 10, recently, "flapping"},
		"nine successes in ten":  {circuit.None, 9, 10, recently, "flapping"},
		"a failure now and then": {circuit.None, 19, 21, recently, "healthy"},
		"too few to tell":        {circuit.Failing, 5, 9, recently, "failing"},
		"an open circuit":        {circuit.Open, 5, 10, recently, "open"},
		"a recovery":             {circuit.Recovering, 5, 10, recently, "recovering"},
		"an outage just over":    {circuit.None, 10, 20, recently - 1, "healthy"},
	} {
		inAccount(t, func(a *account) {
			a.add(circuit.Item{
				TenantID: "acme", EndpointID: "webhook_1", Version: 1, State: row.state, HeldUntil: at,
				RecoveredAt: at.Add(-row.recovered), Recent: circuit.Recent{Start: at, Tried: row.tried, OK: row.ok},
			})
			if got := a.pages(`"state":"` + string(row.want) + `"`); len(got) != 1 || len(got[0]) != 1 {
				t.Errorf("%s: not among those %s: %v", name, row.want, got)
			}
			if got := read[api.Endpoint](a, "endpoint", `"endpoint_id":"webhook_1"`).Health.State; got != row.want {
				t.Errorf("%s: %s, want %s", name, got, row.want)
			}
			a.putLetters(deadletter.Record{Ref: ref("msg_1"), Status: deadletter.Dead, DiedAt: at})
			if got := read[api.Causes](a, "causes", "").Data; len(got) != 1 || got[0].State != row.want {
				t.Errorf("%s: a cause of death is shown with %+v, want %s", name, got, row.want)
			}
		})
	}
}

func TestHandler_endpoint_isNotProbedWhereNothingWaits(t *testing.T) {
	inAccount(t, func(a *account) {
		a.putEndpoints(rows...)
		a.putCircuits(down)
		got := read[api.Endpoint](a, "endpoint", `"endpoint_id":"webhook_down"`).Health
		if got.State != "open" || !got.NextProbeAt.IsZero() || got.Note != noteNoProbe {
			t.Errorf("%+v", got)
		}
		a.wait("webhook_down", 1, 1, failed)
		got = read[api.Endpoint](a, "endpoint", `"endpoint_id":"webhook_down"`).Health
		if got.NextProbeAt.IsZero() || got.Note != "" {
			t.Errorf("once something waits: %+v", got)
		}
	})
}

func TestHandler_summary_saysWhereItStopsCounting(t *testing.T) {
	failing := func(n int) func(a *account) {
		return func(a *account) {
			for i := range n {
				a.putCircuits(circuit.Item{EndpointID: fmt.Sprint(i), State: circuit.Failing})
			}
		}
	}
	for name, row := range map[string]struct {
		given             func(a *account)
		endpoints, counts bool
	}{
		"all are counted":     {failing(999), false, false},
		"more are in trouble": {failing(1001), true, false},
		"more became slow": {func(a *account) {
			slow := map[string]time.Time{}
			for n := range 1001 {
				slow[fmt.Sprint(n)] = at.Add(time.Hour)
			}
			a.slow(slow)
		}, true, false},
		"more waits": {func(a *account) { a.wait("webhook_1", 17*maxDueShard, 0, failed) }, false, true},
	} {
		inAccount(t, func(a *account) {
			row.given(a)
			got := read[api.Summary](a, "summary", "")
			if got.Endpoints.More != row.endpoints || got.Waiting.More != row.counts {
				t.Errorf("%s: %+v, %+v", name, got.Endpoints, got.Waiting)
			}
		})
	}
}

// A circuit that could not be read is not that of a healthy endpoint.
func TestHandler_endpoints_doesNotCallHealthyWhatItCouldNotRead(t *testing.T) {
	inAccount(t, func(a *account) {
		a.add(circuit.Item{TenantID: "acme", EndpointID: "webhook_1", Version: 1, State: circuit.Open})
		a.refuse("Read EndpointHealth")
		if got := a.ask("endpoints", ""); got != testkit.Internal || !strings.Contains(a.log.String(), errUnread.Error()) {
			t.Errorf("answered %s, logged %s", got, &a.log)
		}
	})
}
