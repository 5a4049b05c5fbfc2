package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var (
	errAWS = errors.New("ThrottlingException")
	now    = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
)

// world is a tenant with its endpoints, their marks and circuits, and Backlog.
type world struct {
	endpoints  []endpoint.Endpoint
	tenants    map[string]endpoint.Marks
	circuits   map[string]circuit.Item
	fails      string // the call that AWS refuses
	unreadable string // the call that finds a broken row

	mu    sync.Mutex
	calls []string // writes, in their order
	sent  []delivery.Message
	log   bytes.Buffer
}

func newWorld() *world {
	return &world{
		endpoints: []endpoint.Endpoint{
			{ID: "webhook_1", TenantID: "acme", Status: endpoint.Active},
			{ID: "webhook_2", TenantID: "acme", Status: endpoint.Active},
			{ID: "webhook_gone", TenantID: "acme", Status: endpoint.Deleted},
			{ID: "webhook_off", TenantID: "acme", Status: endpoint.Disabled},
		},
		tenants: map[string]endpoint.Marks{}, circuits: map[string]circuit.Item{},
	}
}

func (w *world) open(id string) *world {
	w.circuits[id] = circuit.Item{TenantID: "acme", EndpointID: id, Version: 7, State: circuit.Open}
	return w
}

func (w *world) paused(id string) *world {
	return w.change(id, func(e *endpoint.Endpoint) { e.Marks.PausedAt = now.Add(-time.Hour) })
}

func (w *world) broken(id string) *world {
	return w.change(id, func(e *endpoint.Endpoint) { e.Status = testkit.Unreadable })
}

// garbled breaks a tenant's row of marks.
func (w *world) garbled() *world {
	w.unreadable = "Marks"
	return w
}

// at gives the first two endpoints one host.
func (w *world) at(host string) *world {
	w.endpoints[0].URL, w.endpoints[1].URL = "https://"+host+"/1", "https://"+host+"/2"
	return w
}

// change changes an endpoint, or the marks of a tenant.
func (w *world) change(id string, change func(e *endpoint.Endpoint)) *world {
	for n := range w.endpoints {
		if w.endpoints[n].ID == id {
			change(&w.endpoints[n])
			return w
		}
	}
	tenant := endpoint.Endpoint{Marks: w.tenants[id]}
	change(&tenant)
	w.tenants[id] = tenant.Marks
	return w
}

func (w *world) fault(call string) error {
	switch call {
	case w.fails:
		return errAWS
	case w.unreadable:
		return endpoint.ErrUnreadable
	}
	return nil
}

type endpoints struct {
	testkit.Rows
	*world
}

func (w endpoints) Mark(_ context.Context, key dynamo.EndpointKey, change func(m *endpoint.Marks) bool) (
	changed bool, marks endpoint.Marks, err error,
) {
	id := key.EndpointID
	if id == "" {
		id = key.TenantID
	}
	w.change(id, func(e *endpoint.Endpoint) {
		changed = change(&e.Marks)
		marks = e.Marks
	})
	if changed {
		w.calls = append(w.calls, "Mark "+id)
	}
	return changed, marks, w.fault("Mark")
}

type auditLog struct{ *world }

func (w auditLog) Write(_ context.Context, lines ...audit.Line) error {
	if err := w.fault("Audit"); err != nil {
		return err
	}
	for _, l := range lines {
		w.calls = append(w.calls, strings.TrimSpace("Audit "+l.Action+" "+l.TenantID+" "+l.EndpointID))
	}
	return nil
}

type circuits struct{ *world }

func (w circuits) Get(_ context.Context, id string) (circuit.Item, error) {
	i, stored := w.circuits[id]
	if !stored {
		i = circuit.Item{EndpointID: id}
	}
	return i, w.fault("Circuits")
}

func (w circuits) Hold(_ context.Context, k dynamo.EndpointKey, _, _ time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, "Hold "+k.EndpointID)
	return w.fault("Hold")
}

func (w *world) Count(_ context.Context, endpointID string) (dynamo.Waiting, error) {
	waiting := map[string]dynamo.Waiting{
		"webhook_1": {Items: 12, Held: 10, Oldest: now}, "webhook_2": {Items: 1000, More: true},
	}
	return waiting[endpointID], w.fault("Count")
}

func (w *world) handler() *Handler {
	h := New(Config{Log: slog.New(slog.NewJSONHandler(&w.log, nil))})
	rows := testkit.Rows{Endpoints: w.endpoints, Tenants: w.tenants, Fault: w.fault}
	h.Endpoints, h.Circuits, h.Backlog, h.Deliveries, h.Audit = endpoints{rows, w}, circuits{w}, w, w, auditLog{w}
	h.Settings = circuit.New(time.Minute, 30*time.Second)
	h.Now, h.NewID = func() time.Time { return now }, func() string { return "1" }
	return h
}

func (w *world) ask(t *testing.T, action, fields string) string {
	t.Helper()
	return testkit.Ask(t, w.handler().Function(), action, fields)
}

const (
	one = `"tenant_id":"acme","endpoint_id":"webhook_1"`
	all = `"tenant_id":"acme"`
	off = `"tenant_id":"acme","endpoint_id":"webhook_off"`

	discarded = `,"confirm":true,"discarded_before":`
)

func TestHandler_acts(t *testing.T) {
	yesterday := now.Add(-24 * time.Hour)
	waits := &Waiting{Count: 12}
	for name, row := range map[string]struct {
		world          *world
		action, fields string
		want           Answer
		calls          []string
	}{
		"pauses an endpoint": {newWorld(), "pause", one,
			Answer{TenantID: "acme", EndpointID: "webhook_1", Result: "paused", State: "paused"},
			[]string{"Audit pause acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
		"pauses one in trouble, by its id": {newWorld().open("webhook_1"), "pause", `"endpoint_id":"webhook_1"`,
			Answer{TenantID: "acme", EndpointID: "webhook_1", Result: "paused", State: "paused"},
			[]string{"Audit pause acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
		"pauses a tenant, and release looks at each of its endpoints": {newWorld(), "pause", all,
			Answer{TenantID: "acme", Result: "paused", State: "paused", TenantPaused: true},
			[]string{"Audit pause acme", "Mark acme", "Hold webhook_1", "Hold webhook_2", "Hold webhook_off"}},
		"pauses a tenant of whose endpoints one is unreadable": {newWorld().broken("webhook_1"), "pause", all,
			Answer{TenantID: "acme", Result: "paused", State: "paused", TenantPaused: true},
			[]string{"Audit pause acme", "Mark acme", "Hold webhook_2", "Hold webhook_off"}},
		"resumes an endpoint, whose circuit stays open": {newWorld().open("webhook_1").paused("webhook_1"), "resume", one,
			Answer{TenantID: "acme", EndpointID: "webhook_1", Result: "resumed", State: "open"},
			[]string{"Audit resume acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
		"resumes an endpoint of a paused tenant": {newWorld().paused("webhook_1").paused("acme"), "resume", one,
			Answer{TenantID: "acme", EndpointID: "webhook_1", Result: "resumed", State: "paused", TenantPaused: true},
			[]string{"Audit resume acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
		"resumes a tenant, not its endpoints": {
			newWorld().paused("acme").open("webhook_1").paused("webhook_2"), "resume", all,
			Answer{TenantID: "acme", Result: "resumed", State: "healthy", Held: []Stopped{
				{"webhook_1", "open"}, {"webhook_2", "paused"}, {"webhook_off", "disabled"},
			}},
			[]string{"Audit resume acme", "Mark acme", "Hold webhook_1", "Hold webhook_2", "Hold webhook_off"}},
		"releases what waits, once release looks for it": {newWorld().open("webhook_1"), "release", one,
			Answer{TenantID: "acme", EndpointID: "webhook_1", Result: "releasing", State: "open", Waiting: waits},
			[]string{"Hold webhook_1", "Audit release acme webhook_1", "Mark webhook_1"}},
		"discards what waits": {newWorld(), "discard", one + discarded + `"2026-04-30T12:00:00Z"`,
			Answer{TenantID: "acme", EndpointID: "webhook_1", Result: "discarding", State: "healthy",
				DiscardedBefore: yesterday, Waiting: waits},
			[]string{"Audit discard acme webhook_1", "Mark webhook_1", "Hold webhook_1"}},
		"discards all of a tenant's": {newWorld(), "discard", all + `,"confirm":true`,
			Answer{TenantID: "acme", Result: "discarding", State: "healthy", DiscardedBefore: now,
				Waiting: &Waiting{Count: 1012, More: true}, Note: noteLater},
			[]string{"Audit discard acme", "Mark acme", "Hold webhook_1", "Hold webhook_2", "Hold webhook_off"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := testkit.Read[Answer](t, row.world.ask(t, row.action, row.fields))
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if calls := row.world.calls; len(calls) > 3 {
				slices.Sort(calls[2:]) // leases of a tenant are stored side by side
			}
			if diff := cmp.Diff(row.calls, row.world.calls); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if !strings.Contains(row.world.log.String(), `"operator":"ann"`) {
				t.Errorf("the log does not say who acted: %s", &row.world.log)
			}
		})
	}
}

func TestHandler_pause_keepsWhoAndWhy(t *testing.T) {
	w := newWorld()
	testkit.Read[Answer](t, w.ask(t, "pause", one+`,"reason":"asked by phone"`))
	want := endpoint.Marks{PausedAt: now, PausedBy: "ann", PauseReason: "asked by phone"}
	if diff := cmp.Diff(want, w.endpoints[0].Marks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHandler_refuses(t *testing.T) {
	for name, row := range map[string]struct {
		world          *world
		action, fields string
		want           string
	}{
		"pausing nothing":                       {newWorld(), "pause", ``, "invalid_field endpoint_id"},
		"pausing what is paused":                {newWorld().paused("webhook_1"), "pause", one, "already_paused endpoint_id"},
		"pausing a tenant that is paused":       {newWorld().paused("acme"), "pause", all, "already_paused tenant_id"},
		"resuming what is not paused":           {newWorld(), "resume", one, "not_paused endpoint_id"},
		"resuming a tenant that is not paused":  {newWorld(), "resume", all, "not_paused tenant_id"},
		"resuming an endpoint of a pausing one": {newWorld().paused("acme"), "resume", one, "not_paused endpoint_id"},
		"releasing what is paused":              {newWorld().paused("webhook_1"), "release", one, "paused endpoint_id"},
		"releasing under a paused tenant":       {newWorld().paused("acme"), "release", one, "tenant_paused endpoint_id"},
		"releasing what its owner disabled":     {newWorld(), "release", off, "disabled endpoint_id"},
		"releasing a tenant":                    {newWorld(), "release", all, "invalid_field endpoint_id"},
		"discarding without a confirmation":     {newWorld(), "discard", one, "invalid_field confirm"},
		"discarding at an endpoint whose id is empty": {
			newWorld(), "discard", all + `,"confirm":true,"endpoint_id":""`, "invalid_field endpoint_id",
		},
		"discarding what is not begun": {newWorld(), "discard", one + discarded + `"2026-05-01T12:00:01Z"`,
			"invalid_field discarded_before"},
		"discarding before a word": {
			newWorld(), "discard", one + discarded + `"yesterday"`, "invalid_field discarded_before",
		},
		"an endpoint that is deleted": {newWorld(), "pause", `"tenant_id":"acme","endpoint_id":"webhook_gone"`,
			"deleted endpoint_id"},
		"an endpoint that is unreadable": {newWorld().broken("webhook_1"), "pause", one, "unreadable endpoint_id"},
		"an endpoint by a host that an unreadable one may have, too": {newWorld().at("a.example").broken("webhook_1"),
			"discard", `"tenant_id":"acme","endpoint_id":"a.example","confirm":true`, "invalid_field endpoint_id"},
		"a tenant whose marks are unreadable": {newWorld().garbled(), "discard", all + `,"confirm":true`,
			"unreadable tenant_id"},
		"a tenant without endpoints": {newWorld(), "pause", `"tenant_id":"acmee"`, "not_found tenant_id"},
		"a reason of two lines":      {newWorld(), "pause", one + `,"reason":"a\nb"`, "invalid_field reason"},
		"an identifier that is misspelt": {
			newWorld(), "pause", all + `,"endpointid":"webhook_1"`, "unknown_field endpointid",
		},
		"testing a tenant":              {newWorld(), "test", all, "invalid_field endpoint_id"},
		"testing what is paused":        {newWorld().paused("webhook_1"), "test", one, "paused endpoint_id"},
		"testing under a paused tenant": {newWorld().paused("acme"), "test", one, "tenant_paused endpoint_id"},
		"testing what is disabled":      {newWorld(), "test", off, "disabled endpoint_id"},
		"testing what is open":          {newWorld().open("webhook_1"), "test", one, "circuit_open endpoint_id"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := testkit.Refusal(t, row.world.ask(t, row.action, row.fields)); got != row.want {
				t.Errorf("refused as %q, want %q", got, row.want)
			}
			if len(row.world.calls) > 0 {
				t.Errorf("wrote %v", row.world.calls)
			}
		})
	}
}

func TestHandler_resume_namesTwentyEndpointsThatStayStopped(t *testing.T) {
	w := newWorld().paused("acme")
	for n := range 22 {
		id := fmt.Sprint("webhook_", 10+n)
		w.endpoints = append(w.endpoints, endpoint.Endpoint{ID: id, TenantID: "acme", Status: endpoint.Disabled})
	}
	got := testkit.Read[Answer](t, w.ask(t, "resume", all))
	if len(got.Held) != 20 || !strings.HasPrefix(got.Note, "3 more") {
		t.Errorf("%d named, note %q", len(got.Held), got.Note)
	}
	w = newWorld().paused("acme")
	w.fails = "Circuits"
	got = testkit.Read[Answer](t, w.ask(t, "resume", all))
	if got.Result != "resumed" || got.Note != noteUnread {
		t.Errorf("what is done is not answered, because endpoints cannot be read: %+v", got)
	}
}

func TestHandler_failsWhereAWSRefuses(t *testing.T) {
	for _, call := range []string{"Endpoints.Get", "Marks", "Circuits", "Audit", "Mark", "Hold"} {
		w := newWorld()
		w.fails = call
		if got := w.ask(t, "pause", one); got != testkit.Internal {
			t.Errorf("%s: %s", call, got)
		}
	}
	w := newWorld()
	w.fails = "Count"
	if a := testkit.Read[Answer](t, w.ask(t, "release", one)); a.Result != "releasing" || !a.Waiting.More {
		t.Errorf("what is done is not answered, because it cannot be counted: %+v", a)
	}
}
