package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/operator"
)

type endpoints struct{ *world }

func (w endpoints) Get(_ context.Context, tenantID, endpointID string) (endpoint.Endpoint, bool, error) {
	for _, e := range w.endpoints {
		if e.TenantID == tenantID && e.ID == endpointID {
			return e, true, w.fault("Endpoints.Get")
		}
	}
	return endpoint.Endpoint{}, false, w.fault("Endpoints.Get")
}

func (w endpoints) List(_ context.Context, tenantID string) (found []endpoint.Endpoint, err error) {
	for _, e := range w.endpoints {
		if e.TenantID == tenantID {
			found = append(found, e)
		}
	}
	return found, w.fault("Endpoints.List")
}

type items struct{ *world }

func (w items) find(name health.Item) health.Item {
	for _, i := range w.health {
		if i.EndpointID == name.EndpointID && (i.EndpointID != "" || i.TenantID == name.TenantID) {
			return i
		}
	}
	return name
}

func (w items) Get(_ context.Context, endpointID string) (health.Item, error) {
	return w.find(health.Item{EndpointID: endpointID}), w.fault("Health.Get")
}

func (w items) GetTenant(_ context.Context, tenantID string) (health.Item, error) {
	return w.find(health.Item{TenantID: tenantID}), w.fault("GetTenant")
}

// Trouble's cursor is how many items came before.
func (w items) Trouble(_ context.Context, limit int, cursor string) ([]health.Item, string, error) {
	start := 0
	if cursor != "" {
		if _, err := fmt.Sscan(cursor, &start); err != nil {
			return nil, "", dynamo.ErrCursor
		}
	}
	end := min(start+limit, len(w.health))
	if end == len(w.health) {
		return w.health[start:], "", w.fault("Trouble")
	}
	return w.health[start:end], fmt.Sprint(end), w.fault("Trouble")
}

func (w *world) Count(_ context.Context, endpointID string) (dynamo.Waiting, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, endpointID)
	return w.waiting[endpointID], w.fault("Backlog.Count")
}

func (w *world) Total(context.Context, int) (dynamo.Total, error) { return w.total, w.fault("Total") }

var (
	since, failed, probe = at.Add(-time.Hour), at.Add(-2 * time.Hour), at.Add(3 * time.Minute)

	down = health.Item{
		TenantID: "acme", EndpointID: "webhook_down", Version: 9, State: health.Open, Since: since, Changed: since,
		Held: true, Failures: 57, FailingSince: failed, LastStatus: 503, LastReason: "http_5xx", NextProbe: probe,
	}
	asleep = health.Item{
		TenantID: "acme", EndpointID: "webhook_asleep", Version: 2, State: health.Open, Since: failed, Changed: since,
		Paused: true, Held: true, NextProbe: probe, DiscardedBefore: failed,
	}
	back = health.Item{
		TenantID: "acme", EndpointID: "webhook_back", Version: 5, State: health.Recovering, Since: since, NextProbe: probe,
	}
	stopped = health.Item{TenantID: "big", Version: 3, Paused: true, Changed: since}
)

func TestHandler_endpoints_showsHowEachStands(t *testing.T) {
	w := &world{
		health:  []health.Item{down, asleep, back, stopped},
		waiting: map[string]dynamo.Waiting{"webhook_down": {Items: 1000, Held: 990, More: true, Oldest: failed}},
	}
	want := operator.List[Trouble]{Data: []Trouble{
		{
			TenantID: "acme", EndpointID: "webhook_down",
			Health: Health{
				State: "open", Since: &since, Failures: 57, FailingSince: &failed, LastStatus: 503, LastReason: "http_5xx",
				NextProbeAt: &probe,
			},
			Waiting: &Waiting{Count: 1000, Held: 990, More: true, OldestCreatedAt: &failed},
		},
		{
			TenantID: "acme", EndpointID: "webhook_asleep", // is not probed
			Health: Health{State: "paused", Since: &since, DiscardedBefore: &failed}, Waiting: &Waiting{},
		},
		{
			TenantID: "acme", EndpointID: "webhook_back", // neither is this one, any more
			Health: Health{State: "recovering", Since: &since}, Waiting: &Waiting{},
		},
		{TenantID: "big", Health: Health{State: "paused", Since: &since}},
	}}
	got := read[operator.List[Trouble]](t, w.ask(t, "endpoints", ""))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
}

// pages reads a list to its end and returns what each page has.
func (w *world) pages(t *testing.T, fields string) (all [][]string) {
	t.Helper()
	for cursor := ""; len(all) < 50; {
		page := read[operator.List[Trouble]](t, w.ask(t, "endpoints", fields+cursor))
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
		item := health.Item{TenantID: "acme", EndpointID: fmt.Sprint("webhook_", i), Version: 1, State: health.Failing}
		if i%40 == 0 {
			item.State = health.Open
		}
		w.health = append(w.health, item)
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

// Where a look finds some of a page only, the next looks for no more than the rest of it.
func TestHandler_endpoints_neverShowsMoreThanTheLimit(t *testing.T) {
	w := &world{}
	for _, state := range []health.State{health.Open, health.Failing, health.Open, health.Open, health.Open} {
		id := fmt.Sprint("webhook_", len(w.health))
		w.health = append(w.health, health.Item{TenantID: "acme", EndpointID: id, Version: 1, State: state})
	}
	want := [][]string{{"webhook_0", "webhook_2"}, {"webhook_3", "webhook_4"}}
	if diff := cmp.Diff(want, w.pages(t, `"state":"open","limit":2`)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if count := strings.Count(w.log.String(), `"count":2`); count != 2 {
		t.Errorf("%d of 2 lines say how many are shown: %s", count, &w.log)
	}
}

func TestHandler_endpoint_showsItWithoutTheQueryOfItsURL(t *testing.T) {
	shown := endpoint.Endpoint{
		ID: "webhook_down", TenantID: "acme", URL: "https://user:word@example.com/hooks?token=secret#part",
		Status: endpoint.Active, Events: []string{"user.*"}, CreatedAt: failed, UpdatedAt: since,
	}
	w := &world{
		endpoints: []endpoint.Endpoint{shown},
		health:    []health.Item{down, {TenantID: "acme", Version: 1, Paused: true, Changed: at}},
		waiting:   map[string]dynamo.Waiting{"webhook_down": {Items: 3, Held: 2, Oldest: failed}},
	}
	want := Endpoint{
		TenantID: "acme", EndpointID: "webhook_down", URL: "https://example.com/hooks", Status: "active",
		Events: []string{"user.*"}, CreatedAt: failed, UpdatedAt: since, TenantPaused: true, Health: showHealth(down),
		Waiting: &Waiting{Count: 3, Held: 2, OldestCreatedAt: &failed},
	}
	for _, fields := range []string{`"endpoint_id":"webhook_down"`, `"endpoint_id":"webhook_down","tenant_id":"acme"`} {
		if diff := cmp.Diff(want, read[Endpoint](t, w.ask(t, "endpoint", fields))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", fields, diff)
		}
	}
}

func TestHandler_endpoint_isHealthyWithoutAnItem(t *testing.T) {
	deleted := at
	w := &world{endpoints: []endpoint.Endpoint{
		{ID: "webhook_1", TenantID: "acme", URL: "%", Status: endpoint.Deleted, DeletedAt: deleted},
	}}
	want := Endpoint{
		TenantID: "acme", EndpointID: "webhook_1", Status: "deleted", DeletedAt: &deleted, Events: []string{},
		Health: Health{State: "healthy"}, Waiting: &Waiting{},
	}
	got := read[Endpoint](t, w.ask(t, "endpoint", `"endpoint_id":"webhook_1","tenant_id":"acme"`))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("endpoint (-want +got):\n%s", diff)
	}
}

func TestHandler_delivery_showsWhyAndUntilWhenItWaits(t *testing.T) {
	w := &world{deliveries: []delivery.Record{{
		Ref: ref("msg_1"), EventType: "user.created", State: delivery.Waiting, Attempts: 4, LastStatus: 503,
		Reason: "circuit_open", NextAttemptAt: probe, UpdatedAt: at,
	}}}
	got := read[Delivery](t, w.ask(t, "delivery", `"delivery_id":"msg_1"`))
	if got.State != "waiting" || got.Reason != "circuit_open" || !got.NextAttemptAt.Equal(probe) {
		t.Errorf("delivery: %+v", got)
	}
}

func TestHandler_summary_countsEndpointsByStateAndWhatWaits(t *testing.T) {
	recovering := health.Item{
		TenantID: "acme", EndpointID: "webhook_back", Version: 1, State: health.Recovering, Held: true,
	}
	failing := health.Item{TenantID: "acme", EndpointID: "webhook_ill", Version: 1, State: health.Failing}
	discarding := health.Item{TenantID: "small", Version: 1, DiscardedBefore: at}
	w := &world{
		health: []health.Item{down, asleep, stopped, recovering, failing, discarding},
		waiting: map[string]dynamo.Waiting{
			"webhook_down": {Items: 20, Held: 15}, "webhook_back": {Items: 4, Held: 4}, "webhook_ill": {Items: 7, Held: 7},
		},
		total:  dynamo.Total{Items: 31, NextDue: since},
		depths: map[string][3]string{"url/events": {"0", "0", "0"}, "url/retries": {"0", "0", "0"}},
	}
	got := read[Summary](t, w.ask(t, "summary", ""))
	counts := EndpointCounts{
		States: map[string]int{"open": 1, "paused": 1, "recovering": 1, "failing": 1}, PausedTenants: 1,
	}
	if diff := cmp.Diff(counts, got.Endpoints); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Backlogged{Count: 31, Held: 19, NextDueAt: &since}, got.Waiting); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
	slices.Sort(w.asked)
	if diff := cmp.Diff([]string{"webhook_asleep", "webhook_back", "webhook_down"}, w.asked); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}

func TestHandler_summary_saysWhereItStopsCounting(t *testing.T) {
	depths := map[string][3]string{"url/events": {"0", "0", "0"}, "url/retries": {"0", "0", "0"}}
	many := func(n int) (all []health.Item) {
		for i := range n {
			all = append(all, health.Item{EndpointID: fmt.Sprint(i), State: health.Open, Held: true})
		}
		return all
	}
	failing := slices.Repeat([]health.Item{{EndpointID: "1", State: health.Failing}}, 1001)
	for name, row := range map[string]struct {
		world           *world
		endpoints, held bool
	}{
		"50 endpoints hold":   {&world{health: many(50)}, false, false},
		"51 endpoints hold":   {&world{health: many(51)}, false, true},
		"more are in trouble": {&world{health: failing}, true, true},
		"one holds more":      {&world{health: many(1), waiting: map[string]dynamo.Waiting{"0": {More: true}}}, false, true},
		"a part has more":     {&world{total: dynamo.Total{More: true}}, false, true},
	} {
		row.world.depths = depths
		got := read[Summary](t, row.world.ask(t, "summary", ""))
		if got.Endpoints.More != row.endpoints || got.Waiting.More != row.held || len(row.world.asked) > maxHeld {
			t.Errorf("%s: %+v, %+v after %d counts", name, got.Endpoints, got.Waiting, len(row.world.asked))
		}
	}
}
