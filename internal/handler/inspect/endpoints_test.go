package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/testkit"
)

type ids struct{ *world }

func (w ids) List(_ context.Context, tenantID string) (named []endpoint.Endpoint, err error) {
	for _, e := range w.endpoints {
		if e.TenantID == tenantID {
			key := endpoint.Endpoint{TenantID: tenantID, ID: e.ID}
			if !e.Live() {
				key.Status = endpoint.Deleted
			}
			named = append(named, key)
		}
	}
	return named, w.fault("Endpoints.List")
}

type circuits struct{ *world }

func (w circuits) Get(_ context.Context, endpointID string) (circuit.Item, error) {
	for _, i := range w.circuits {
		if i.EndpointID == endpointID {
			return i, w.fault("Circuits.Get")
		}
	}
	return circuit.Item{EndpointID: endpointID}, w.fault("Circuits.Get")
}

// Trouble's cursor is how many endpoints came before.
func (w circuits) Trouble(_ context.Context, limit int, cursor string) ([]dynamo.EndpointKey, string, error) {
	start := 0
	if cursor != "" {
		if _, err := fmt.Sscan(cursor, &start); err != nil {
			return nil, "", dynamo.ErrCursor
		}
	}
	end, next := min(start+limit, len(w.circuits)), ""
	if end < len(w.circuits) {
		next = fmt.Sprint(end)
	}
	var keys []dynamo.EndpointKey
	for _, i := range w.circuits[start:end] {
		keys = append(keys, dynamo.EndpointKey{TenantID: i.TenantID, EndpointID: i.EndpointID})
	}
	return keys, next, w.fault("Trouble")
}

func (w circuits) Slow(_ context.Context, limit int) (map[string]time.Time, bool, error) {
	return w.slow, len(w.slow) > limit, w.fault("Slow")
}

func (w *world) Read(
	ctx context.Context, keys []dynamo.EndpointKey, _ map[dynamo.EndpointKey]bool,
) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	readings := map[dynamo.EndpointKey]dynamo.Reading{}
	for _, key := range keys {
		e, found, err := w.rows().Get(ctx, key.TenantID, key.EndpointID)
		marks, _ := w.rows().Marks(ctx, key.TenantID)
		e.Marks = marks.Endpoints[key.EndpointID]
		i, _ := circuits{w}.Get(ctx, key.EndpointID)
		readings[key] = dynamo.Reading{
			Err: err, Endpoint: e, Found: found || err != nil, Tenant: marks.Tenant, Circuit: i, CircuitRead: !w.unread,
		}
	}
	return readings, w.fault("Read")
}

func (w *world) Count(_ context.Context, endpointID string) (dynamo.Waiting, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, endpointID)
	return w.waiting[endpointID], w.fault("Backlog.Count")
}

func (w *world) Total(context.Context, int) (dynamo.Total, error) {
	total := w.total
	if total.By = w.waiting; total.More { // too many to tell
		total.By = nil
	}
	return total, w.fault("Total")
}

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

func TestHandler_endpoints_showsHowEachStands(t *testing.T) {
	w := &world{
		endpoints: rows, circuits: []circuit.Item{down, asleep, back, purged},
		waiting: map[string]dynamo.Waiting{"webhook_down": {Items: 1000, Held: 990, More: true, Oldest: failed}},
	}
	want := operator.List[ListedEndpoint]{Data: []ListedEndpoint{
		{
			TenantID: "acme", EndpointID: "webhook_down", Host: "down.example", Description: "orders",
			Health: Health{
				State: "open", Since: since, Failures: 57, FailingSince: failed, OutageSince: failed, LastFailureAt: since,
				LastStatus: 503, LastReason: "http_5xx", Recent: &Recent{Attempts: 4, Successes: 1}, LastProbeAt: down.ProbedAt,
				NextProbeAt: probe,
			},
			Waiting: Waiting{Count: 1000, Held: 990, More: true, OldestCreatedAt: failed, KeptUntil: kept},
		},
		{
			TenantID: "acme", EndpointID: "webhook_asleep", Host: "asleep.example", // is not probed
			Health: Health{
				State: "paused", Since: since, PausedBy: "ann", PauseReason: "asked", DiscardedBefore: failed,
			},
			Waiting: Waiting{},
		},
		{
			TenantID: "acme", EndpointID: "webhook_back", Host: "back.example", // neither is this one, any more
			Health:  Health{State: "recovering", Since: since, OutageSince: failed, RecoveredAt: since},
			Waiting: Waiting{},
		},
		{TenantID: "big", EndpointID: "webhook_purged", Health: Health{State: "deleted"}, Waiting: Waiting{}},
	}}
	for _, more := range []bool{false, true} { // counted together, and one by one
		w.total.More = more
		got := testkit.Read[operator.List[ListedEndpoint]](t, w.ask(t, "endpoints", ""))
		if diff := cmp.Diff(want, got); diff != "" || len(w.asked) > 0 != more {
			t.Errorf("endpoints, %d counted one by one (-want +got):\n%s", len(w.asked), diff)
		}
	}
}

// pages reads a list to its end and returns the contents of each page.
func (w *world) pages(t *testing.T, fields string) (all [][]string) {
	t.Helper()
	for cursor := ""; len(all) < 50; {
		page := testkit.Read[operator.List[ListedEndpoint]](t, w.ask(t, "endpoints", fields+cursor))
		ids := []string{}
		for _, e := range page.Data {
			ids = append(ids, e.EndpointID)
		}
		all = append(all, ids)
		if page.NextCursor == nil {
			return all
		}
		cursor = `,"cursor":"` + *page.NextCursor + `"`
	}
	t.Fatal("the list does not end")
	return nil
}

func TestHandler_endpoints_pagesThroughOneState(t *testing.T) {
	w := &world{}
	for i := range 100 {
		item := circuit.Item{TenantID: "acme", EndpointID: fmt.Sprint("webhook_", i), Version: 1, State: circuit.Failing}
		if i%40 == 0 {
			item.State = circuit.Open
		}
		w.add(item)
	}
	if diff := cmp.Diff([][]string{{"webhook_0", "webhook_40", "webhook_80"}}, w.pages(t, `"state":"open"`)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	var found []string
	for _, page := range w.pages(t, `"state":"open","limit":1`) { // looks 20 times for a page
		found = append(found, page...)
	}
	if diff := cmp.Diff([]string{"webhook_0", "webhook_40", "webhook_80"}, found); diff != "" {
		t.Errorf("one by one (-want +got):\n%s", diff)
	}
	if got := len(w.pages(t, `"limit":30`)); got != 4 {
		t.Errorf("%d pages of all, want 4", got)
	}
}

// add adds an endpoint in trouble, with its row.
func (w *world) add(i circuit.Item) {
	w.circuits = append(w.circuits, i)
	w.endpoints = append(w.endpoints, endpoint.Endpoint{ID: i.EndpointID, TenantID: i.TenantID, Status: endpoint.Active})
}

// Where a look finds some of a page only, the next looks for no more than the rest of it.
func TestHandler_endpoints_neverShowsMoreThanTheLimit(t *testing.T) {
	w := &world{}
	for _, state := range []circuit.State{circuit.Open, circuit.Failing, circuit.Open, circuit.Open, circuit.Open} {
		id := fmt.Sprint("webhook_", len(w.circuits))
		w.add(circuit.Item{TenantID: "acme", EndpointID: id, Version: 1, State: state})
	}
	want := [][]string{{"webhook_0", "webhook_2"}, {"webhook_3", "webhook_4"}}
	if diff := cmp.Diff(want, w.pages(t, `"state":"open","limit":2`)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if count := strings.Count(w.log.String(), `"count":2`); count != 2 {
		t.Errorf("%d of 2 lines say how many are shown: %s", count, &w.log)
	}
}

// A row that is broken hides no other, but may have the name that is asked for.
func TestHandler_endpoints_showsWhatIsUnreadable(t *testing.T) {
	w := &world{}
	for _, id := range []string{"webhook_0", "webhook_1"} {
		w.add(circuit.Item{TenantID: "acme", EndpointID: id, Version: 1, State: circuit.Open})
	}
	w.endpoints[0].Status = testkit.Unreadable
	w.endpoints[1].URL, w.endpoints[1].Description = "https://a.example/", "orders"
	for fields, want := range map[string][][]string{
		`"state":"unreadable"`:                    {{"webhook_0"}},
		`"state":"open"`:                          {{"webhook_1"}},
		`"tenant_id":"acme"`:                      {{"webhook_0", "webhook_1"}},
		`"tenant_id":"acme","state":"unreadable"`: {{"webhook_0"}},
		`"tenant_id":"acme","host":"a.example"`:   {{"webhook_1"}},
	} {
		if diff := cmp.Diff(want, w.pages(t, fields)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", fields, diff)
		}
	}
	for _, name := range []string{"a.example", "orders"} {
		got := w.ask(t, "endpoint", `"tenant_id":"acme","endpoint_id":"`+name+`"`)
		if !strings.Contains(got, "give the id: an endpoint of the tenant cannot be read and may have this name, too") {
			t.Errorf("found by %s: %s", name, got)
		}
	}
}

func TestHandler_endpoint_showsThePathOnRequestOnly(t *testing.T) {
	w := &world{
		endpoints: rows, circuits: []circuit.Item{down}, tenants: map[string]endpoint.Marks{"acme": {PausedAt: at}},
		waiting: map[string]dynamo.Waiting{"webhook_down": {Items: 3, Held: 2, Oldest: failed}},
	}
	want := Endpoint{
		TenantID: "acme", EndpointID: "webhook_down", URL: "https://down.example", Description: "orders", Status: "active",
		Events: []string{"user.*"}, CreatedAt: failed, UpdatedAt: since, TenantPaused: true,
		Health: Health{
			State: "paused", Since: at, Failures: 57, FailingSince: failed, OutageSince: failed, LastFailureAt: since,
			LastStatus: 503, LastReason: "http_5xx", Recent: &Recent{Attempts: 4, Successes: 1}, LastProbeAt: down.ProbedAt,
		},
		Waiting: Waiting{Count: 3, Held: 2, OldestCreatedAt: failed, KeptUntil: kept},
	}
	for _, fields := range []string{`"endpoint_id":"webhook_down"`, `"endpoint_id":"webhook_down","tenant_id":"acme"`} {
		if diff := cmp.Diff(want, testkit.Read[Endpoint](t, w.ask(t, "endpoint", fields))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", fields, diff)
		}
	}
	want.URL = "https://down.example/hooks"
	opened := testkit.Read[Endpoint](t, w.ask(t, "endpoint", `"endpoint_id":"webhook_down","show_path":true`))
	if diff := cmp.Diff(want, opened); diff != "" || !strings.Contains(w.log.String(), `"show_path":true`) {
		t.Errorf("with its path (-want +got):\n%s\n%s", diff, &w.log)
	}
}

func TestHandler_endpoint_isUnreadableWithoutItsRowOrMarks(t *testing.T) {
	for _, broken := range []string{"Endpoints.Get", "Marks"} {
		w := &world{endpoints: rows, circuits: []circuit.Item{down}, unreadable: broken}
		got := testkit.Read[Endpoint](t, w.ask(t, "endpoint", `"endpoint_id":"webhook_down"`))
		if got.EndpointID != "webhook_down" || got.TenantID != "acme" || got.Health.State != "unreadable" {
			t.Errorf("%s: %+v", broken, got)
		}
	}
}

func TestHandler_endpoint_namesAllOfAName(t *testing.T) {
	w := &world{endpoints: []endpoint.Endpoint{
		{ID: "webhook_1", TenantID: "acme", URL: "https://a.example/x", Description: "orders"},
		{ID: "webhook_2", TenantID: "acme", URL: "https://A.example/y"},
	}}
	const want = "give the id, since several match: webhook_1 a.example orders; webhook_2 A.example"
	if got := w.ask(t, "endpoint", `"endpoint_id":"A.example","tenant_id":"acme"`); !strings.Contains(got, want) {
		t.Errorf("answered %s", got)
	}
}

func TestHandler_endpoints_hasHealthyOnesOfATenantOrOnRequest(t *testing.T) {
	w := &world{circuits: []circuit.Item{
		{TenantID: "acme", EndpointID: "webhook_1", Version: 1},
		{TenantID: "acme", EndpointID: "webhook_2", Version: 1, State: circuit.Open},
	}}
	for _, e := range [][2]string{{"webhook_1", "https://a.example/"}, {"webhook_2", "https://b.example/"}} {
		w.endpoints = append(w.endpoints, endpoint.Endpoint{
			ID: e[0], TenantID: "acme", URL: e[1], Description: "for " + e[0], Status: endpoint.Active,
		})
	}
	w.endpoints = append(w.endpoints, endpoint.Endpoint{ID: "webhook_3", TenantID: "acme", Status: endpoint.Deleted})
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
		if diff := cmp.Diff(want, w.pages(t, fields)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", fields, diff)
		}
	}
}

func TestHandler_endpoint_isHealthyWithoutAnItem(t *testing.T) {
	w := &world{endpoints: []endpoint.Endpoint{
		{ID: "webhook_1", TenantID: "acme", URL: "%", Status: endpoint.Deleted, DeletedAt: at},
	}}
	want := Endpoint{
		TenantID: "acme", EndpointID: "webhook_1", Status: "deleted", DeletedAt: at, Events: []string{},
		Health: Health{State: "deleted", Since: at}, Waiting: Waiting{},
	}
	got := testkit.Read[Endpoint](t, w.ask(t, "endpoint", `"endpoint_id":"webhook_1","tenant_id":"acme"`))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("endpoint (-want +got):\n%s", diff)
	}
}

func TestHandler_summary_countsEndpointsByStateAndWhatWaits(t *testing.T) {
	failing := circuit.Item{TenantID: "acme", EndpointID: "webhook_ill", Version: 1, State: circuit.Failing}
	well := circuit.Item{TenantID: "acme", EndpointID: "webhook_well", Version: 1}
	w := &world{
		endpoints: append(slices.Clone(rows),
			endpoint.Endpoint{ID: "webhook_ill", TenantID: "acme"}, endpoint.Endpoint{ID: "webhook_well", TenantID: "acme"}),
		circuits: []circuit.Item{down, asleep, back, failing, purged, well},
		tenants:  map[string]endpoint.Marks{"big": {PausedAt: at}},
		slow:     map[string]time.Time{"hog": at.Add(6 * time.Hour), "ordinary": at.Add(time.Second)},
		total:    dynamo.Total{Items: 31, Held: 19, NextDue: since},
	}
	got := testkit.Read[Summary](t, w.ask(t, "summary", ""))
	counts := EndpointCounts{
		States:        map[string]int{"open": 1, "paused": 1, "recovering": 1, "failing": 1, "deleted": 1},
		PausedTenants: 1, SlowTenants: 1,
		Slow: []SlowTenant{{TenantID: "hog", Until: at.Add(6*time.Hour - time.Minute)}}, // less what a burst is paid for in
	}
	if diff := cmp.Diff(counts, got.Endpoints); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Backlogged{Count: 31, Held: 19, NextDueAt: since}, got.Waiting); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
	if len(w.asked) > 0 {
		t.Errorf("the Backlog of %s was counted", w.asked)
	}
}

func TestHandler_summary_namesTheTenantsThatAreSlowTheLongest(t *testing.T) {
	w := &world{slow: map[string]time.Time{}}
	for n := range maxSlow + 5 {
		w.slow[fmt.Sprintf("t%02d", n)] = at.Add(time.Duration(n+1) * time.Hour)
	}
	got := testkit.Read[Summary](t, w.ask(t, "summary", "")).Endpoints
	first, last := got.Slow[0].TenantID, got.Slow[len(got.Slow)-1].TenantID
	if got.SlowTenants != 25 || len(got.Slow) != 20 || first != "t24" || last != "t05" {
		t.Errorf("%d slow tenants, of which %d are named, %s to %s", got.SlowTenants, len(got.Slow), first, last)
	}
}

func TestHandler_endpoints_thatAnswerNowAndThenAreFlapping(t *testing.T) {
	for name, row := range map[string]struct {
		state     circuit.State
		ok, tried int
		recovered time.Duration // ago
		want      string
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
		w := &world{}
		w.add(circuit.Item{
			TenantID: "acme", EndpointID: "webhook_1", Version: 1, State: row.state,
			RecoveredAt: at.Add(-row.recovered), Recent: circuit.Recent{Start: at, Tried: row.tried, OK: row.ok},
		})
		if got := w.pages(t, `"state":"`+row.want+`"`); len(got[0]) != 1 {
			t.Errorf("%s: not among those %s", name, row.want)
		}
		if got := testkit.Read[Endpoint](t, w.ask(t, "endpoint", `"endpoint_id":"webhook_1"`)).Health.State; got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

func TestHandler_endpoint_isNotProbedWhereNothingWaits(t *testing.T) {
	w := &world{endpoints: rows, circuits: []circuit.Item{down}}
	got := testkit.Read[Endpoint](t, w.ask(t, "endpoint", `"endpoint_id":"webhook_down"`)).Health
	if got.State != "open" || !got.NextProbeAt.IsZero() || got.Note != noteNoProbe {
		t.Errorf("%+v", got)
	}
	w.waiting = map[string]dynamo.Waiting{"webhook_down": {Items: 1}}
	got = testkit.Read[Endpoint](t, w.ask(t, "endpoint", `"endpoint_id":"webhook_down"`)).Health
	if got.NextProbeAt.IsZero() || got.Note != "" {
		t.Errorf("once something waits: %+v", got)
	}
}

func TestHandler_summary_saysWhereItStopsCounting(t *testing.T) {
	failing := slices.Repeat([]circuit.Item{{EndpointID: "1", State: circuit.Failing}}, 1001)
	slow := map[string]time.Time{}
	for n := range 1001 {
		slow[fmt.Sprint(n)] = at
	}
	for name, row := range map[string]struct {
		world             *world
		endpoints, counts bool
	}{
		"all are counted":     {&world{circuits: failing[:1000]}, false, false},
		"more are in trouble": {&world{circuits: failing}, true, false},
		"more became slow":    {&world{slow: slow}, true, false},
		"more waits":          {&world{total: dynamo.Total{More: true}}, false, true},
	} {
		got := testkit.Read[Summary](t, row.world.ask(t, "summary", ""))
		if got.Endpoints.More != row.endpoints || got.Waiting.More != row.counts {
			t.Errorf("%s: %+v, %+v", name, got.Endpoints, got.Waiting)
		}
	}
}

// A circuit that could not be read is not that of a healthy endpoint.
func TestHandler_endpoints_doesNotCallHealthyWhatItCouldNotRead(t *testing.T) {
	w := &world{unread: true}
	w.add(circuit.Item{TenantID: "acme", EndpointID: "webhook_1", Version: 1, State: circuit.Open})
	if got := w.ask(t, "endpoints", ""); got != testkit.Internal || !strings.Contains(w.log.String(), errUnread.Error()) {
		t.Errorf("answered %s, logged %s", got, &w.log)
	}
}
