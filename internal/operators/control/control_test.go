package control

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// rig is control on the model of AWS, with a tenant that has endpoints and a backlog.
type rig struct {
	aws   *model.Model
	calls []string // writes, in their order
	log   bytes.Buffer
}

func newRig() *rig {
	r := &rig{aws: model.New()}
	for id, status := range map[string]endpoint.Status{
		"webhook_1": endpoint.Active, "webhook_2": endpoint.Active, "webhook_gone": endpoint.Deleted,
		"webhook_off": endpoint.Disabled,
	} {
		r.aws.Endpoints[id] = endpoint.Endpoint{ID: id, TenantID: "acme", Status: status}
	}
	for id, waiting := range map[string]int{"webhook_1": 12, "webhook_2": 1001} {
		for n := range waiting {
			m := delivery.Message{Ref: delivery.Ref{DeliveryID: fmt.Sprint("msg_", n), EndpointID: id, CreatedAt: now}}
			r.aws.Backlog.Set(backlog.New(m, delivery.Move{Due: now, Held: true}, now, "12345678"), now)
		}
	}
	r.aws.Made = r.made
	return r
}

// made keeps the writes.
func (r *rig) made(name, key string) {
	switch name {
	case "Write Endpoints":
		r.calls = append(r.calls, "Mark "+key)
	case "Write EndpointHealth":
		r.calls = append(r.calls, "Hold "+strings.TrimPrefix(key, model.LeaseKey))
	case "Send DeliveryQueue":
		r.calls = append(r.calls, "Send "+key)
	case "PutLogEvents":
		l := r.aws.Audited[len(r.aws.Audited)-1]
		r.calls = append(r.calls, strings.TrimSpace("Audit "+l.Action+" "+l.TenantID+" "+l.EndpointID))
	}
}

func (r *rig) open(id string) *rig {
	r.aws.Circuits[id] = circuit.Item{TenantID: "acme", EndpointID: id, Version: 7, State: circuit.Open}
	return r
}

func (r *rig) flapping(id string) *rig {
	recent := circuit.Recent{Start: now, Tried: 20, OK: 10}
	r.aws.Circuits[id] = circuit.Item{TenantID: "acme", EndpointID: id, Version: 7, Recent: recent}
	return r
}

// paused pauses an endpoint, or the tenant.
func (r *rig) paused(id string) *rig {
	marks := endpoint.Marks{PausedAt: now.Add(-time.Hour)}
	if id == "acme" {
		r.aws.Stops[id] = marks
		return r
	}
	return r.change(id, func(e *endpoint.Endpoint) { e.Marks = marks })
}

func (r *rig) broken(id string) *rig {
	r.aws.BreakEndpoint(dynamo.EndpointKey{TenantID: "acme", EndpointID: id})
	return r
}

// garbled breaks a tenant's row of marks.
func (r *rig) garbled() *rig {
	r.aws.BreakMarks("acme")
	return r
}

// at gives the first two endpoints one host.
func (r *rig) at(host string) *rig {
	for n, id := range []string{"webhook_1", "webhook_2"} {
		r.change(id, func(e *endpoint.Endpoint) { e.URL = fmt.Sprint("https://", host, "/", n) })
	}
	return r
}

func (r *rig) change(id string, change func(e *endpoint.Endpoint)) *rig {
	e := r.aws.Endpoints[id]
	change(&e)
	r.aws.Endpoints[id] = e
	return r
}

// refuses has AWS refuse a call.
func (r *rig) refuses(call string) *rig {
	r.aws.On(call, 0, model.Refused)
	return r
}

func (r *rig) handler() *Handler {
	h, p := New(Config{Log: slog.New(slog.NewJSONHandler(&r.log, nil))}), r.aws.Process("control")
	h.Endpoints, h.Circuits, h.Backlog = p.Endpoints(), p.Circuits(), p.Backlog()
	h.Deliveries, h.Audit = p.Sender(r.aws.DeliveryQueue), p.Audit()
	h.Settings = circuit.New(time.Minute, 30*time.Second)
	h.Now, h.NewID = func() time.Time { return now }, func() string { return "1" }
	return h
}

func (r *rig) ask(t *testing.T, action, fields string) string {
	t.Helper()
	return testkit.Ask(t, r.handler().Function(), action, fields)
}

// mustRefuse fails the test unless the request is refused as want says, and nothing is written.
func (r *rig) mustRefuse(t *testing.T, action, fields, want string) {
	t.Helper()
	if got := testkit.Refusal(t, r.ask(t, action, fields)); got != want {
		t.Errorf("refused as %q, want %q", got, want)
	}
	if len(r.calls) > 0 {
		t.Errorf("wrote %v", r.calls)
	}
}

const (
	one = `"tenant_id":"acme","endpoint_id":"webhook_1"`
	all = `"tenant_id":"acme"`
	off = `"tenant_id":"acme","endpoint_id":"webhook_off"`

	discarded = `,"confirm":true,"discarded_before":`
)

func TestHandler_acts(t *testing.T) {
	yesterday := now.Add(-24 * time.Hour)
	waits := &api.WaitingCount{Count: 12}
	for name, row := range map[string]struct {
		rig            *rig
		action, fields string
		want           api.ControlAnswer
		calls          []string
	}{
		"pauses an endpoint": {newRig(), "pause", one,
			api.ControlAnswer{TenantID: "acme", EndpointID: "webhook_1", Result: "paused", State: "paused"},
			[]string{"Audit pause acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
		"pauses one in trouble, by its id": {newRig().open("webhook_1"), "pause", `"endpoint_id":"webhook_1"`,
			api.ControlAnswer{TenantID: "acme", EndpointID: "webhook_1", Result: "paused", State: "paused"},
			[]string{"Audit pause acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
		"pauses a tenant, and release looks at each of its endpoints": {newRig(), "pause", all,
			api.ControlAnswer{TenantID: "acme", Result: "paused", State: "paused", TenantPaused: true},
			[]string{"Audit pause acme", "Mark acme", "Hold webhook_1", "Hold webhook_2", "Hold webhook_off"}},
		"pauses a tenant of whose endpoints one is unreadable": {newRig().broken("webhook_1"), "pause", all,
			api.ControlAnswer{TenantID: "acme", Result: "paused", State: "paused", TenantPaused: true},
			[]string{"Audit pause acme", "Mark acme", "Hold webhook_2", "Hold webhook_off"}},
		"resumes an endpoint, whose circuit stays open": {newRig().open("webhook_1").paused("webhook_1"), "resume", one,
			api.ControlAnswer{TenantID: "acme", EndpointID: "webhook_1", Result: "resumed", State: "open"},
			[]string{"Audit resume acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
		"resumes an endpoint of a paused tenant": {newRig().paused("webhook_1").paused("acme"), "resume", one,
			api.ControlAnswer{TenantID: "acme", EndpointID: "webhook_1", Result: "resumed", State: "paused", TenantPaused: true},
			[]string{"Audit resume acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
		"resumes a tenant, not its endpoints": {
			newRig().paused("acme").open("webhook_1").paused("webhook_2"), "resume", all,
			api.ControlAnswer{TenantID: "acme", Result: "resumed", State: "healthy", Held: []api.StoppedEndpoint{
				{EndpointID: "webhook_1", State: "open"}, {EndpointID: "webhook_2", State: "paused"},
				{EndpointID: "webhook_off", State: "disabled"},
			}},
			[]string{"Audit resume acme", "Mark acme", "Hold webhook_1", "Hold webhook_2", "Hold webhook_off"}},
		"releases what waits, once release looks for it": {newRig().open("webhook_1"), "release", one,
			api.ControlAnswer{TenantID: "acme", EndpointID: "webhook_1", Result: "releasing", State: "open", Waiting: waits},
			[]string{"Hold webhook_1", "Audit release acme webhook_1", "Mark webhook_1"}},
		"tells a flapping endpoint from a healthy one, as lists do": {newRig().flapping("webhook_1"), "release", one,
			api.ControlAnswer{TenantID: "acme", EndpointID: "webhook_1", Result: "releasing", State: "flapping", Waiting: waits},
			[]string{"Hold webhook_1", "Audit release acme webhook_1", "Mark webhook_1"}},
		"discards what waits": {newRig(), "discard", one + discarded + `"2026-04-30T12:00:00Z"`,
			api.ControlAnswer{TenantID: "acme", EndpointID: "webhook_1", Result: "discarding", State: "healthy",
				DiscardedBefore: yesterday, Waiting: waits},
			[]string{"Audit discard acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
		"discards all of a tenant's": {newRig(), "discard", all + `,"confirm":true`,
			api.ControlAnswer{TenantID: "acme", Result: "discarding", State: "healthy", DiscardedBefore: now,
				Waiting: &api.WaitingCount{Count: 1012, More: true}, Note: noteLater},
			[]string{"Audit discard acme", "Mark acme", "Hold webhook_1", "Hold webhook_2", "Hold webhook_off"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := testkit.Read[api.ControlAnswer](t, row.rig.ask(t, row.action, row.fields))
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if calls := row.rig.calls; len(calls) > 3 {
				slices.Sort(calls[2:]) // leases of a tenant are stored side by side
			}
			if diff := cmp.Diff(row.calls, row.rig.calls); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if !strings.Contains(row.rig.log.String(), `"operator":"ann"`) {
				t.Errorf("the log does not say who acted: %s", &row.rig.log)
			}
		})
	}
}

func TestHandler_pause_keepsWhoAndWhy(t *testing.T) {
	w := newRig()
	testkit.Read[api.ControlAnswer](t, w.ask(t, "pause", one+`,"reason":"asked by phone"`))
	want := endpoint.Marks{PausedAt: now, PausedBy: "ann", PauseReason: "asked by phone"}
	if diff := cmp.Diff(want, w.aws.Endpoints["webhook_1"].Marks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHandler_refuses(t *testing.T) {
	for name, row := range map[string]struct {
		rig            *rig
		action, fields string
		want           string
	}{
		"pausing nothing":                       {newRig(), "pause", ``, "invalid_field endpoint_id"},
		"pausing what is paused":                {newRig().paused("webhook_1"), "pause", one, "already_paused endpoint_id"},
		"pausing a tenant that is paused":       {newRig().paused("acme"), "pause", all, "already_paused tenant_id"},
		"resuming what is not paused":           {newRig(), "resume", one, "not_paused endpoint_id"},
		"resuming a tenant that is not paused":  {newRig(), "resume", all, "not_paused tenant_id"},
		"resuming an endpoint of a pausing one": {newRig().paused("acme"), "resume", one, "not_paused endpoint_id"},
		"releasing what is paused":              {newRig().paused("webhook_1"), "release", one, "paused endpoint_id"},
		"releasing under a paused tenant":       {newRig().paused("acme"), "release", one, "tenant_paused endpoint_id"},
		"releasing what its owner disabled":     {newRig(), "release", off, "disabled endpoint_id"},
		"releasing a tenant":                    {newRig(), "release", all, "invalid_field endpoint_id"},
		"discarding without a confirmation":     {newRig(), "discard", one, "invalid_field confirm"},
		"discarding at an endpoint whose id is empty": {
			newRig(), "discard", all + `,"confirm":true,"endpoint_id":""`, "invalid_field endpoint_id",
		},
		"discarding what is not begun": {newRig(), "discard", one + discarded + `"2026-05-01T12:00:01Z"`,
			"invalid_field discarded_before"},
		"discarding before a word": {
			newRig(), "discard", one + discarded + `"yesterday"`, "invalid_field discarded_before",
		},
		"an endpoint that is deleted": {newRig(), "pause", `"tenant_id":"acme","endpoint_id":"webhook_gone"`,
			"deleted endpoint_id"},
		"an endpoint that is unreadable": {newRig().broken("webhook_1"), "pause", one, "unreadable endpoint_id"},
		"an endpoint by a host that an unreadable one may have, too": {newRig().at("a.example").broken("webhook_1"),
			"discard", `"tenant_id":"acme","endpoint_id":"a.example","confirm":true`, "invalid_field endpoint_id"},
		"a tenant whose marks are unreadable": {newRig().garbled(), "discard", all + `,"confirm":true`,
			"unreadable tenant_id"},
		"a tenant without endpoints": {newRig(), "pause", `"tenant_id":"acmee"`, "not_found tenant_id"},
		"a reason of two lines":      {newRig(), "pause", one + `,"reason":"a\nb"`, "invalid_field reason"},
		"an identifier that is misspelt": {
			newRig(), "pause", all + `,"endpointid":"webhook_1"`, "unknown_field endpointid",
		},
		"testing a tenant":              {newRig(), "test", all, "invalid_field endpoint_id"},
		"testing what is paused":        {newRig().paused("webhook_1"), "test", one, "paused endpoint_id"},
		"testing under a paused tenant": {newRig().paused("acme"), "test", one, "tenant_paused endpoint_id"},
		"testing what is disabled":      {newRig(), "test", off, "disabled endpoint_id"},
		"testing what is open":          {newRig().open("webhook_1"), "test", one, "circuit_open endpoint_id"},
	} {
		t.Run(name, func(t *testing.T) {
			row.rig.mustRefuse(t, row.action, row.fields, row.want)
		})
	}
}

func TestHandler_resume_namesTwentyEndpointsThatStayStopped(t *testing.T) {
	w := newRig().paused("acme")
	for n := range 22 {
		id := fmt.Sprint("webhook_", 10+n)
		w.aws.Endpoints[id] = endpoint.Endpoint{ID: id, TenantID: "acme", Status: endpoint.Disabled}
	}
	got := testkit.Read[api.ControlAnswer](t, w.ask(t, "resume", all))
	if len(got.Held) != 20 || !strings.HasPrefix(got.Note, "3 more") {
		t.Errorf("%d named, note %q", len(got.Held), got.Note)
	}
	w = newRig().paused("acme").refuses("Read EndpointHealth")
	got = testkit.Read[api.ControlAnswer](t, w.ask(t, "resume", all))
	if got.Result != "resumed" || got.Note != noteUnread {
		t.Errorf("what is done is not answered, because endpoints cannot be read: %+v", got)
	}
}

func TestHandler_failsWhereAWSRefuses(t *testing.T) {
	for _, call := range []string{
		"Read Endpoints(webhook_1)", "Read Endpoints(marks#acme)", "Read EndpointHealth", "PutLogEvents",
		"Write Endpoints", "Write EndpointHealth",
	} {
		if got := newRig().refuses(call).ask(t, "pause", one); got != testkit.Internal {
			t.Errorf("%s: %s", call, got)
		}
	}
	w := newRig().refuses("Count Backlog")
	if a := testkit.Read[api.ControlAnswer](t, w.ask(t, "release", one)); a.Result != "releasing" || !a.Waiting.More {
		t.Errorf("what is done is not answered, because it cannot be counted: %+v", a)
	}
}

// A mark with an answer that was lost is set: the operator who asks again hears so.
func TestHandler_pause_isAskedForAgainAfterALostAnswer(t *testing.T) {
	for _, call := range []string{"Write Endpoints", "Write EndpointHealth"} {
		w := newRig()
		w.aws.On(call, 1, model.Lost)
		if got := w.ask(t, "pause", one); got != testkit.Internal {
			t.Errorf("%s: %s", call, got)
		}
		if got := testkit.Refusal(t, w.ask(t, "pause", one)); got != "already_paused endpoint_id" {
			t.Errorf("%s, asked again: %s", call, got)
		}
		if !w.aws.Endpoints["webhook_1"].Marks.Paused() {
			t.Errorf("%s: nothing is paused", call)
		}
	}
}
