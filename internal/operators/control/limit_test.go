package control

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

const (
	gone   = `"tenant_id":"acme","endpoint_id":"webhook_gone"`
	reason = `,"reason":"their quota"`
	ten    = `,"rate_limit":10` + reason
)

// limited has an operator's limit on the first endpoint, and its owner's.
func (r *rig) limited(operators, owners int) *rig {
	return r.change("webhook_1", func(e *endpoint.Endpoint) {
		e.RateLimit = owners
		e.Marks.Limit(operators, now, "bob", "before")
	})
}

func TestHandler_limit_setsAndRemovesAnOperatorsLimit(t *testing.T) {
	byAnn := endpoint.Marks{RateLimit: 10, LimitedAt: now, LimitedBy: "ann", LimitReason: "their quota"}
	answer := func(result api.Result, owners, operators int) api.ControlAnswer {
		return api.ControlAnswer{
			TenantID: "acme", EndpointID: "webhook_1", Result: result, State: "healthy",
			RateLimit: owners, OperatorRateLimit: operators,
		}
	}
	for name, row := range map[string]struct {
		rig            *rig
		action, fields string
		want           api.ControlAnswer
		marks          endpoint.Marks
		calls          []string
	}{
		"the first": {newRig(), "limit", one + ten, answer("limited", 0, 10), byAnn,
			[]string{"Audit limit acme webhook_1", "Mark webhook_1"}},
		"another in its place, above the owner's": {newRig().limited(5, 7), "limit", one + ten, answer("limited", 7, 10),
			byAnn, []string{"Audit limit acme webhook_1", "Mark webhook_1"}},
		"none any more": {newRig().limited(5, 7), "unlimit", one, answer("unlimited", 7, 0), endpoint.Marks{},
			[]string{"Audit unlimit acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := testkit.Read[api.ControlAnswer](t, row.rig.ask(t, row.action, row.fields))
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(row.marks, row.rig.aws.Endpoints["webhook_1"].Marks); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(row.calls, row.rig.calls); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			line := row.rig.aws.Audited[0]
			if row.action == "limit" && (line.RateLimit != 10 || line.Reason != "their quota") {
				t.Errorf("audited as %+v", line)
			}
		})
	}
}

// Nothing is written of a limit that is refused.
func TestHandler_limit_refuses(t *testing.T) {
	for name, row := range map[string]struct {
		rig            *rig
		action, fields string
		want           string
	}{
		"no rate":                {newRig(), "limit", one + reason, "invalid_field rate_limit"},
		"none a second":          {newRig(), "limit", one + `,"rate_limit":0` + reason, "invalid_field rate_limit"},
		"fewer than none":        {newRig(), "limit", one + `,"rate_limit":-1` + reason, "invalid_field rate_limit"},
		"too many":               {newRig(), "limit", one + `,"rate_limit":301` + reason, "invalid_field rate_limit"},
		"far too many":           {newRig(), "limit", one + `,"rate_limit":1e9` + reason, "invalid_field rate_limit"},
		"a part of one":          {newRig(), "limit", one + `,"rate_limit":0.5` + reason, "invalid_field rate_limit"},
		"a text":                 {newRig(), "limit", one + `,"rate_limit":"10"` + reason, "invalid_field rate_limit"},
		"null":                   {newRig(), "limit", one + `,"rate_limit":null` + reason, "invalid_field rate_limit"},
		"no reason":              {newRig(), "limit", one + `,"rate_limit":10`, "invalid_field reason"},
		"nobody":                 {newRig(), "limit", ten[1:], "invalid_field endpoint_id"},
		"a deleted endpoint":     {newRig(), "limit", gone + ten, "deleted endpoint_id"},
		"an unreadable endpoint": {newRig().broken("webhook_1"), "limit", one + ten, "unreadable endpoint_id"},
		"unreadable marks":       {newRig().garbled(), "limit", one + ten, "unreadable endpoint_id"},
		"the same again":         {newRig().limited(10, 0), "limit", one + ten, "already_limited endpoint_id"},
		"no limit to remove":     {newRig(), "unlimit", one, "not_limited endpoint_id"},
		"an owner's limit alone": {newRig().limited(0, 10), "unlimit", one, "not_limited endpoint_id"},
		"a tenant without one":   {newRig().limited(10, 0), "unlimit", all, "not_limited tenant_id"},
		"a deleted one's limit":  {newRig(), "unlimit", gone, "deleted endpoint_id"},
		"a rate to remove":       {newRig().limited(10, 0), "unlimit", one + ten, "unknown_field rate_limit"},
	} {
		t.Run(name, func(t *testing.T) {
			row.rig.mustRefuse(t, row.action, row.fields, row.want)
		})
	}
}

// A limit outlasts a pause, and a pause a limit.
func TestHandler_limit_leavesTheOtherMarksAlone(t *testing.T) {
	w := newRig()
	for _, step := range []string{"pause " + one, "limit " + one + ten, "resume " + one, "unlimit " + one} {
		action, fields, _ := strings.Cut(step, " ")
		testkit.Read[api.ControlAnswer](t, w.ask(t, action, fields))
		marks := w.aws.Endpoints["webhook_1"].Marks
		if paused := action == "pause" || action == "limit"; marks.Paused() != paused {
			t.Errorf("after %s paused is %v", action, marks.Paused())
		}
		if limit := action == "limit" || action == "resume"; (marks.RateLimit == 10) != limit {
			t.Errorf("after %s the limit is %d", action, marks.RateLimit)
		}
	}
}

// An order on an endpoint holds for what its owner creates at the domain afterwards, even if the endpoint is gone for
// good. An end of the order, on any endpoint there, ends it for all that came there.
func TestHandler_anOrderIsNotShedByDeletingAndCreating(t *testing.T) {
	for name, row := range map[string]struct {
		order, end string
		held       func(m endpoint.Marks) bool
	}{
		"a pause": {"pause " + one, "resume", endpoint.Marks.Paused},
		"a limit": {"limit " + one + ten, "unlimit", func(m endpoint.Marks) bool { return m.RateLimit == 10 }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig()
			at := func(id, url string, sited time.Time) {
				w.change(id, func(e *endpoint.Endpoint) {
					*e = endpoint.Endpoint{ID: id, TenantID: "acme", URL: url, Status: endpoint.Active}
					e.ComeTo(sited)
				})
			}
			marks := func(id string) endpoint.Marks {
				read, err := w.aws.Process("deliver").Endpoints().Marks(t.Context(), "acme")
				if err != nil {
					t.Fatal(err)
				}
				return read.Of(w.aws.Endpoints[id])
			}
			at("webhook_1", "https://a.example.com/", now.Add(-time.Hour))
			at("webhook_2", "https://b.example.com/", now.Add(-time.Hour))
			action, fields, _ := strings.Cut(row.order, " ")
			testkit.Read[api.ControlAnswer](t, w.ask(t, action, fields))
			left := w.aws.Endpoints["webhook_1"].Marks
			delete(w.aws.Endpoints, "webhook_1")
			w.aws.Left[dynamo.EndpointKey{TenantID: "acme", EndpointID: "webhook_1"}] = left
			at("webhook_3", "https://c.example.com/", now.Add(time.Second))
			at("webhook_4", "https://d.example.com/", now.Add(time.Second))
			at("webhook_5", "https://example.org/", now.Add(time.Second))
			for id, want := range map[string]bool{
				"webhook_2": false, "webhook_3": true, "webhook_4": true, "webhook_5": false,
			} {
				if row.held(marks(id)) != want {
					t.Errorf("%s: %+v", id, marks(id))
				}
			}
			w.calls = nil
			testkit.Read[api.ControlAnswer](t, w.ask(t, row.end, `"tenant_id":"acme","endpoint_id":"webhook_3"`))
			if row.held(marks("webhook_3")) || row.held(marks("webhook_4")) {
				t.Errorf("after %s: %+v, %+v", row.end, marks("webhook_3"), marks("webhook_4"))
			}
			want := []string{
				"Audit " + row.end + " acme webhook_1", "Mark webhook_1", "Hold webhook_2", "Hold webhook_3", "Hold webhook_4",
			}
			slices.Sort(w.calls[2:]) // leases are stored at once
			if diff := cmp.Diff(want, w.calls); diff != "" {
				t.Errorf("writes (-want +got)\n%s", diff)
			}
		})
	}
}

// sited puts an endpoint at a URL, where it came at a moment.
func (r *rig) sited(id, url string, came time.Time) *rig {
	e := endpoint.Endpoint{ID: id, TenantID: "acme", URL: url, Status: endpoint.Active}
	e.ComeTo(came)
	r.aws.Endpoints[id] = e
	return r
}

// An endpoint that came to the domain before a pause has no part in it, even if an older limit there holds for it.
func TestHandler_resume_leavesAPauseThatIsAboutOthers(t *testing.T) {
	const two = `"tenant_id":"acme","endpoint_id":"webhook_2"`
	w := newRig().sited("webhook_1", "https://a.example.com/", now.Add(-time.Hour))
	w.change("webhook_1", func(e *endpoint.Endpoint) {
		e.Marks.Limit(10, now.Add(-time.Minute), "bob", "their quota")
		e.Marks.Pause(now.Add(time.Minute), "bob", "asked")
		e.Marks.LimitSite, e.Marks.PauseSite = "example.com", "example.com"
	})
	w.sited("webhook_2", "https://b.example.com/", now)
	w.mustRefuse(t, "resume", two, "not_paused endpoint_id")
	testkit.Read[api.ControlAnswer](t, w.ask(t, "unlimit", two))
	if marks := w.aws.Endpoints["webhook_1"].Marks; marks.PauseSite == "" || marks.LimitSite != "" {
		t.Errorf("left %+v", marks)
	}
}

// An owner may keep another endpoint ready at the domain. The operator who stops one of them hears of the others.
func TestHandler_pause_saysHowManyEndpointsAtTheDomainGoOn(t *testing.T) {
	for action, fields := range map[string]string{"pause": one, "limit": one + ten} {
		w := newRig()
		for n, host := range []string{"a.example.com", "b.example.com", "c.example.com", "d.example.com", "example.org"} {
			w.sited(fmt.Sprint("webhook_", n+1), "https://"+host+"/", now.Add(-time.Hour))
		}
		w.change("webhook_3", func(e *endpoint.Endpoint) { e.Status = endpoint.Deleted })
		w.change("webhook_4", func(e *endpoint.Endpoint) {
			e.Marks.Pause(now, "bob", "asked")
			e.Marks.Limit(1, now, "bob", "asked")
		})
		got := testkit.Read[api.ControlAnswer](t, w.ask(t, action, fields)).Note
		if want := "1 more endpoint of the tenant at example.com goes on as before"; got != want {
			t.Errorf("%s: %q, want %q", action, got, want)
		}
	}
	w := newRig().sited("webhook_1", "https://example.com/", now)
	if got := testkit.Read[api.ControlAnswer](t, w.ask(t, "pause", one)); got.Note != "" {
		t.Errorf("alone: %q", got.Note)
	}
	w = newRig().sited("webhook_1", "https://a.example.com/", now.Add(-time.Hour))
	w.sited("webhook_2", "https://b.example.com/", now.Add(-time.Hour))
	testkit.Read[api.ControlAnswer](t, w.ask(t, "pause", all))
	if got := testkit.Read[api.ControlAnswer](t, w.ask(t, "pause", one)); got.Note != "" {
		t.Errorf("of a paused tenant: %q", got.Note)
	}
}

// Marks that outlast their endpoints are one row with those of the tenant, which each batch of deliveries reads. An
// operator can always stop the tenant.
func TestHandler_mark_refusesMoreOrdersThanOneRowShouldHave(t *testing.T) {
	w := newRig()
	for n := range 300 {
		key := dynamo.EndpointKey{TenantID: "acme", EndpointID: fmt.Sprint("webhook_left_", n)}
		w.aws.Left[key] = endpoint.Marks{PausedAt: now, PauseReason: strings.Repeat("x", 256), PauseSite: "example.com"}
	}
	w.mustRefuse(t, "pause", one, "too_many_orders endpoint_id")
	w.mustRefuse(t, "limit", one+ten, "too_many_orders endpoint_id")
	if got := testkit.Read[api.ControlAnswer](t, w.ask(t, "pause", all)); got.Result != "paused" {
		t.Errorf("%+v", got)
	}
	w.sited("webhook_2", "https://example.com/", now) // under one of the orders
	testkit.Read[api.ControlAnswer](t, w.ask(t, "resume", `"tenant_id":"acme","endpoint_id":"webhook_2"`))
}

// A tenant's limit holds for each of its endpoints, even if one is created later. An endpoint may have a smaller one.
func TestHandler_limit_ofATenantIsEachEndpoints(t *testing.T) {
	w := newRig().limited(5, 0)
	answer := testkit.Read[api.ControlAnswer](t, w.ask(t, "limit", all+ten))
	want := api.ControlAnswer{TenantID: "acme", Result: "limited", State: "healthy", OperatorRateLimit: 10}
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Errorf("answer (-want +got)\n%s", diff)
	}
	w.aws.Endpoints["webhook_new"] = endpoint.Endpoint{ID: "webhook_new", TenantID: "acme", Status: endpoint.Active}
	limits := func() (all []int) {
		marks, err := w.aws.Process("deliver").Endpoints().Marks(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"webhook_1", "webhook_2", "webhook_new"} {
			e := w.aws.Endpoints[id]
			e.Marks = marks.Of(e)
			all = append(all, e.Rate())
		}
		return all
	}
	if got := limits(); !slices.Equal(got, []int{5, 10, 10}) {
		t.Errorf("limits of %v", got)
	}
	testkit.Read[api.ControlAnswer](t, w.ask(t, "unlimit", all))
	if got := limits(); !slices.Equal(got, []int{5, 0, 0}) {
		t.Errorf("afterwards %v", got)
	}
}
