package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/operator"
)

var (
	errAWS = errors.New("ThrottlingException")
	now    = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
)

// world is a tenant with its endpoints, their health and Backlog. What is stored follows
// health.Write.Apply.
type world struct {
	endpoints []endpoint.Endpoint
	items     map[string]health.Item // by endpoint, or "tenant " and its id
	waiting   map[string]dynamo.Waiting
	fails     string // the call that does, such as "Apply"

	quicker func() // runs before a write, as another process does
	writes  int    // number of writes tried
	log     bytes.Buffer
}

func newWorld(items ...health.Item) *world {
	w := &world{
		endpoints: []endpoint.Endpoint{
			{ID: "webhook_1", TenantID: "acme", Status: endpoint.Active},
			{ID: "webhook_2", TenantID: "acme", Status: endpoint.Active},
			{ID: "webhook_gone", TenantID: "acme", Status: endpoint.Deleted},
			{ID: "webhook_off", TenantID: "acme", Status: endpoint.Disabled},
		},
		items: map[string]health.Item{},
		waiting: map[string]dynamo.Waiting{
			"webhook_1": {Items: 12, Held: 10, Oldest: now}, "webhook_2": {Items: 1000, More: true},
			"": {Items: 7}, // nobody's
		},
	}
	for _, i := range items {
		w.items[key(i)] = i
	}
	return w
}

func key(i health.Item) string {
	if i.EndpointID == "" {
		return "tenant " + i.TenantID
	}
	return i.EndpointID
}

// edit changes an item as another process does.
func (w *world) edit(name string, change func(*health.Item)) {
	i := w.items[name]
	change(&i)
	i.Version++
	w.items[name] = i
}

// fault is errAWS where the call is the one that fails.
func (w *world) fault(call string) error {
	if w.fails == call {
		return errAWS
	}
	return nil
}

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
	return found, w.fault("List")
}

type items struct{ *world }

func (w items) Get(_ context.Context, endpointID string) (health.Item, error) {
	i, stored := w.items[endpointID]
	if !stored {
		i = health.Item{EndpointID: endpointID}
	}
	return i, w.fault("Health.Get")
}

func (w items) GetTenant(_ context.Context, tenantID string) (health.Item, error) {
	i, stored := w.items["tenant "+tenantID]
	if !stored {
		i = health.Item{TenantID: tenantID}
	}
	return i, w.fault("GetTenant")
}

func (w items) Apply(_ context.Context, write health.Write) (health.Item, bool, error) {
	w.writes++
	if w.quicker != nil {
		w.quicker()
	}
	name := key(write.Item)
	stored, applied := write.Apply(w.items[name])
	if applied {
		w.items[name] = stored
	}
	if stored.Version == 0 {
		stored = health.Item{TenantID: write.Item.TenantID, EndpointID: write.Item.EndpointID}
	}
	return stored, applied, w.fault("Apply")
}

func (w *world) Count(_ context.Context, endpointID string) (dynamo.Waiting, error) {
	return w.waiting[endpointID], w.fault("Count")
}

func (w *world) ask(t *testing.T, action, fields string) string {
	t.Helper()
	h := &Handler{
		Endpoints: endpoints{w}, Health: items{w}, Backlog: w,
		Log: slog.New(slog.NewJSONHandler(&w.log, nil)), Now: func() time.Time { return now },
	}
	if fields != "" {
		fields = "," + fields
	}
	out, err := h.Function().Invoke(t.Context(), []byte(`{"action":"`+action+`","operator":"ann"`+fields+`}`))
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// answered decodes an answer that must not be a refusal.
func (w *world) answered(t *testing.T, action, fields string) Answer {
	t.Helper()
	out := w.ask(t, action, fields)
	var a struct {
		Answer
		Error *operator.Refusal
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Error != nil {
		t.Fatalf("%s %s: %s", action, fields, out)
	}
	return a.Answer
}

// refused is the code and field of a refusal.
func (w *world) refused(t *testing.T, action, fields string) string {
	t.Helper()
	out := w.ask(t, action, fields)
	var a struct{ Error *operator.Refusal }
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Error == nil {
		return out
	}
	if a.Error.Message == "" {
		t.Errorf("%s says nothing", a.Error.Code)
	}
	return a.Error.Code + " " + a.Error.Field
}

func stored(endpointID string, state health.State) health.Item {
	return health.Item{
		TenantID: "acme", EndpointID: endpointID, Version: 7, State: state, Since: now.Add(-time.Hour), Held: true,
	}
}

func paused(i health.Item) health.Item {
	i.Paused = true
	return i
}

func tenant(isPaused bool) health.Item {
	return health.Item{TenantID: "acme", Version: 3, Paused: isPaused}
}

const (
	one = `"tenant_id":"acme","endpoint_id":"webhook_1"`
	all = `"tenant_id":"acme"`
	off = `"tenant_id":"acme","endpoint_id":"webhook_off"`

	discarded = `,"confirm":true,"discarded_before":`
)

func TestHandler_refuses(t *testing.T) {
	open, asleep := stored("webhook_1", health.Open), paused(stored("webhook_1", health.None))
	for name, row := range map[string]struct {
		stored         []health.Item
		action, fields string
		want           string
	}{
		"pausing nothing": {nil, "pause", ``, "invalid_field endpoint_id"},
		"pausing what is paused": {
			[]health.Item{asleep}, "pause", one, "already_paused endpoint_id",
		},
		"pausing a tenant that is paused": {
			[]health.Item{tenant(true)}, "pause", all, "already_paused tenant_id",
		},
		"resuming what is not paused":          {nil, "resume", one, "not_paused endpoint_id"},
		"resuming what is open":                {[]health.Item{open}, "resume", one, "not_paused endpoint_id"},
		"resuming a tenant that is not paused": {nil, "resume", all, "not_paused tenant_id"},
		"resuming an endpoint of a pausing one": {
			[]health.Item{tenant(true)}, "resume", one, "not_paused endpoint_id",
		},
		"releasing what is paused": {[]health.Item{asleep}, "release", one, "paused endpoint_id"},
		"releasing under a paused tenant": {
			[]health.Item{tenant(true)}, "release", one, "tenant_paused endpoint_id",
		},
		"releasing what its owner disabled": {
			nil, "release", off, "disabled endpoint_id",
		},
		"releasing a tenant":                {nil, "release", all, "invalid_field endpoint_id"},
		"discarding without a confirmation": {nil, "discard", one, "invalid_field confirm"},
		"discarding what is not begun": {
			nil, "discard", one + discarded + `"2026-05-01T12:00:01Z"`, "invalid_field discarded_before",
		},
		"discarding before a word": {
			nil, "discard", one + discarded + `"yesterday"`, "invalid_field discarded_before",
		},
		"discarding nothing": {nil, "discard", `"confirm":true`, "invalid_field endpoint_id"},
		"an endpoint that does not exist": {
			nil, "pause", `"tenant_id":"acme","endpoint_id":"webhook_9"`, "not_found endpoint_id",
		},
		"an endpoint of another tenant": {
			nil, "pause", `"tenant_id":"other","endpoint_id":"webhook_1"`, "not_found endpoint_id",
		},
		"one in trouble, of another tenant": {
			[]health.Item{open}, "pause", `"tenant_id":"other","endpoint_id":"webhook_1"`, "tenant_mismatch tenant_id",
		},
		"an endpoint that is deleted": {
			nil, "pause", `"tenant_id":"acme","endpoint_id":"webhook_gone"`, "deleted endpoint_id",
		},
		"a tenant without endpoints": {nil, "pause", `"tenant_id":"acmee"`, "not_found tenant_id"},
		"a healthy endpoint, whose is it": {
			nil, "pause", `"endpoint_id":"webhook_1"`, "invalid_field tenant_id",
		},
		"a reason that is too long": {
			nil, "pause", one + `,"reason":"` + strings.Repeat("x", 257) + `"`, "invalid_field reason",
		},
		"a reason of two lines":     {nil, "pause", one + `,"reason":"a\nb"`, "invalid_field reason"},
		"a field of another action": {nil, "pause", one + `,"confirm":true`, "unknown_field confirm"},
		"an identifier that is misspelt": {
			nil, "pause", all + `,"endpointid":"webhook_1"`, "unknown_field endpointid",
		},
		"an unknown action":                   {nil, "stop", one, "unknown_action action"},
		"a limit, which no action here takes": {nil, "release", one + `,"limit":1`, "unknown_field limit"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(row.stored...)
			if got := w.refused(t, row.action, row.fields); got != row.want {
				t.Errorf("refused as %q, want %q", got, row.want)
			}
			if w.writes != 0 {
				t.Errorf("wrote %d times", w.writes)
			}
			if !strings.Contains(w.log.String(), `"operator":"ann"`) {
				t.Errorf("the log does not say who asked: %s", &w.log)
			}
		})
	}
}

func TestHandler_pause_marksWhatIsNamed(t *testing.T) {
	for name, row := range map[string]struct {
		stored []health.Item
		fields string
		want   Answer
	}{
		"a healthy endpoint": {nil, one, Answer{TenantID: "acme", EndpointID: "webhook_1"}},
		"an endpoint in trouble, by id": {
			[]health.Item{stored("webhook_1", health.Open)}, `"endpoint_id":"webhook_1"`,
			Answer{TenantID: "acme", EndpointID: "webhook_1"},
		},
		"an endpoint of a paused tenant": {
			[]health.Item{tenant(true)}, one, Answer{TenantID: "acme", EndpointID: "webhook_1", TenantPaused: true},
		},
		"one that its owner has disabled": {
			nil, `"tenant_id":"acme","endpoint_id":"webhook_off"`, Answer{TenantID: "acme", EndpointID: "webhook_off"},
		},
		"a tenant": {nil, all, Answer{TenantID: "acme", TenantPaused: true}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(row.stored...)
			row.want.Result, row.want.State = "paused", "paused"
			if diff := cmp.Diff(row.want, w.answered(t, "pause", row.fields)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if got := w.refused(t, "pause", row.fields); !strings.HasPrefix(got, "already_paused ") {
				t.Errorf("a second pause is answered %q", got)
			}
		})
	}
}

func TestHandler_resume_leavesTheStateUnderThePause(t *testing.T) {
	for state, want := range map[health.State]string{
		health.None: "recovering", health.Failing: "recovering", health.Recovering: "recovering", health.Open: "open",
		health.Disabled: "disabled",
	} {
		w := newWorld(paused(stored("webhook_1", state)))
		answer := w.answered(t, "resume", one)
		expected := Answer{TenantID: "acme", EndpointID: "webhook_1", Result: "resumed", State: want}
		if diff := cmp.Diff(expected, answer); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
	}
	w := newWorld(tenant(true))
	want := Answer{TenantID: "acme", Result: "resumed", State: "healthy"}
	if diff := cmp.Diff(want, w.answered(t, "resume", all)); diff != "" {
		t.Errorf("tenant (-want +got):\n%s", diff)
	}
	if len(w.items) != 0 && w.items["tenant acme"].Paused {
		t.Errorf("the tenant is still paused: %+v", w.items)
	}
}

func TestHandler_release_recoversAndSaysHowMuchWaits(t *testing.T) {
	for name, item := range map[string]health.Item{
		"a healthy endpoint, whose schedule is long": {}, "an open one": stored("webhook_1", health.Open),
		"one that is recovering": stored("webhook_1", health.Recovering),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if item.Version != 0 {
				w.items["webhook_1"] = item
			}
			want := Answer{
				TenantID: "acme", EndpointID: "webhook_1", Result: "releasing", State: "recovering", Waiting: &Waiting{Count: 12},
			}
			if diff := cmp.Diff(want, w.answered(t, "release", one)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if got := w.items["webhook_1"]; !got.Held || !got.Since.Equal(now) {
				t.Errorf("release is not told to look: %+v", got)
			}
		})
	}
}

func TestHandler_discard_namesATimeAndSaysHowMuchWaits(t *testing.T) {
	hour, older := now.Add(-time.Hour), `,"discarded_before":"2026-05-01T13:00:00+02:00"`
	for name, row := range map[string]struct {
		stored []health.Item
		fields string
		want   Answer
	}{
		"everything of an endpoint": {nil, one, Answer{
			EndpointID: "webhook_1", State: "healthy", DiscardedBefore: &now, Waiting: &Waiting{Count: 12},
		}},
		"what is older than an hour": {[]health.Item{stored("webhook_1", health.Open)}, one + older, Answer{
			EndpointID: "webhook_1", State: "open", DiscardedBefore: &hour, Waiting: &Waiting{Count: 12},
		}},
		"everything of a tenant": {nil, all, Answer{
			State: "healthy", DiscardedBefore: &now, Waiting: &Waiting{Count: 1012, More: true}, Note: noteLater,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(row.stored...)
			row.want.TenantID, row.want.Result = "acme", "discarding"
			if diff := cmp.Diff(row.want, w.answered(t, "discard", row.fields+`,"confirm":true`)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHandler_discard_neverTakesBackAnEarlierOne(t *testing.T) {
	w := newWorld()
	w.answered(t, "discard", one+`,"confirm":true`)
	got := w.answered(t, "discard", one+discarded+`"2026-04-01T00:00:00Z"`)
	if diff := cmp.Diff(&now, got.DiscardedBefore); diff != "" {
		t.Errorf("discarded_before (-want +got):\n%s", diff)
	}
}

// What is on a queue, or in the hands of deliver, when an operator discards it, is dropped when
// deliver next decides about it; what begins its life later is not.
func TestHandler_discard_holdsForWhatIsInFlight(t *testing.T) {
	w := newWorld(stored("webhook_1", health.Failing))
	w.answered(t, "discard", one+`,"confirm":true`)
	view := health.View{TenantID: "acme", EndpointID: "webhook_1", Endpoint: w.items["webhook_1"]}
	for name, row := range map[string]struct {
		began time.Time
		probe int64
		want  health.Action
	}{
		"begun before":           {now.Add(-time.Millisecond), 0, health.Dropped},
		"a probe of what is old": {now.Add(-time.Hour), 5, health.Dropped},
		"begun at that moment":   {now, 0, health.Post},
		"replayed afterwards":    {now.Add(time.Second), 0, health.Post},
	} {
		decision := view.Decide(health.Question{StartedAt: row.began, Probe: row.probe}, now.Add(time.Minute))
		if got := decision.Action; got != row.want {
			t.Errorf("%s: action %v, want %v", name, got, row.want)
		}
	}
}

// A tenant that is paused while an endpoint of it recovers: nothing more is sent, and once the
// tenant is resumed, the endpoint recovers from the beginning.
func TestHandler_pause_stopsARecoveryUntilTheTenantIsResumed(t *testing.T) {
	w := newWorld(stored("webhook_1", health.Recovering))
	s := health.Default()
	plan := func(at time.Time) health.Plan {
		view := health.View{
			TenantID: "acme", EndpointID: "webhook_1", Endpoint: w.items["webhook_1"], Tenant: w.items["tenant acme"],
		}
		p := view.Plan(s, health.Endpoint{}, at)
		w.items["webhook_1"] = p.After.Endpoint
		return p
	}
	w.answered(t, "pause", all)
	if p := plan(now.Add(time.Minute)); p.Recover || p.Probe || p.After.Endpoint.State == health.Recovering {
		t.Errorf("release goes on under the pause: %+v", p)
	}
	if got := w.refused(t, "release", one); got != "tenant_paused endpoint_id" {
		t.Errorf("released under the pause: %s", got)
	}
	w.answered(t, "resume", all)
	if p := plan(now.Add(2 * time.Minute)); !p.Recover || p.After.Endpoint.Ticks != 0 {
		t.Errorf("release does not begin again: %+v", p)
	}
}

func TestHandler_decidesAnewAboutTheItemThatStands(t *testing.T) {
	w := newWorld(stored("webhook_1", health.Failing))
	w.quicker = func() {
		if w.writes < 3 { // deliver counts a failure, and then another
			w.edit("webhook_1", func(i *health.Item) { i.Failures++ })
		}
	}
	w.answered(t, "pause", one)
	if got := w.items["webhook_1"]; !got.Paused || got.Failures != 2 || w.writes != 3 {
		t.Errorf("after %d writes: %+v", w.writes, got)
	}
}

func TestHandler_refusesWhatAnotherOperatorDidFirst(t *testing.T) {
	for name, row := range map[string]struct {
		stored health.Item
		action string
		change func(*health.Item)
		want   string
	}{
		"both pause": {
			stored("webhook_1", health.Failing), "pause", func(i *health.Item) { i.Paused = true }, "already_paused endpoint_id",
		},
		"both resume": {
			paused(stored("webhook_1", health.Open)), "resume", func(i *health.Item) { i.Paused = false },
			"not_paused endpoint_id",
		},
		"one releases, the other pauses": {
			stored("webhook_1", health.Open), "release", func(i *health.Item) { i.Paused = true }, "paused endpoint_id",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(row.stored)
			w.quicker = func() { w.quicker = nil; w.edit("webhook_1", row.change) }
			if got := w.refused(t, row.action, one); got != row.want {
				t.Errorf("answered %q, want %q", got, row.want)
			}
		})
	}
}

func TestHandler_givesUpWhereOthersAreAlwaysQuicker(t *testing.T) {
	w := newWorld(stored("webhook_1", health.Failing))
	w.quicker = func() { w.edit("webhook_1", func(i *health.Item) { i.Failures++ }) }
	if got := w.refused(t, "pause", one); got != "changed_meanwhile " || w.writes != 5 || w.items["webhook_1"].Paused {
		t.Errorf("answered %q after %d writes", got, w.writes)
	}
}

func TestHandler_answersWhatItDidAlthoughItCannotCount(t *testing.T) {
	w := newWorld()
	w.fails = "Count"
	got := w.answered(t, "discard", one+`,"confirm":true`)
	if diff := cmp.Diff(&Waiting{More: true}, got.Waiting); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
	if log := w.log.String(); !strings.Contains(log, errAWS.Error()) || !strings.Contains(log, "webhook_1") {
		t.Errorf("the log does not say why, or of which endpoint: %s", log)
	}
	w = newWorld(tenant(false))
	w.fails = "List"
	if got := w.answered(t, "discard", all+`,"confirm":true`); got.Waiting != nil || got.DiscardedBefore == nil {
		t.Errorf("answered %+v", got)
	}
	if !strings.Contains(w.log.String(), errAWS.Error()) {
		t.Errorf("the log does not say why: %s", &w.log)
	}
}

func TestHandler_keepsTheDetailOfErrorsInItsLog(t *testing.T) {
	every := map[string]string{
		"pause": one, "resume": one, "release": one, "discard": one + `,"confirm":true`,
	}
	for fails, requests := range map[string]map[string]string{
		"Health.Get": every, "Endpoints.Get": every, "GetTenant": every,
		"List":  {"pause": all, "resume": all, "discard": all + `,"confirm":true`},
		"Apply": {"pause": one, "release": one, "discard": one + `,"confirm":true`},
	} {
		for action, fields := range requests {
			w := newWorld()
			w.fails = fails
			if got := w.ask(t, action, fields); !strings.HasPrefix(got, "internal error") {
				t.Errorf("%s fails: %s answers %s", fails, action, got)
			}
			if !strings.Contains(w.log.String(), errAWS.Error()) {
				t.Errorf("%s fails: %s logs %s", fails, action, &w.log)
			}
			if wrote := w.writes > 0; wrote != (fails == "Apply") {
				t.Errorf("%s fails: %s writes %d times", fails, action, w.writes)
			}
		}
	}
}

// A write whose answer was lost is tried again by the client, which then finds nothing to delete.
func TestHandler_resume_isDoneWhenNothingIsLeftToDelete(t *testing.T) {
	w := newWorld(tenant(true))
	w.quicker = func() { delete(w.items, "tenant acme") }
	want := Answer{TenantID: "acme", Result: "resumed", State: "healthy"}
	if diff := cmp.Diff(want, w.answered(t, "resume", all)); diff != "" || w.writes != 1 {
		t.Errorf("%d writes, answer (-want +got):\n%s", w.writes, diff)
	}
	// Where something else is to be written, what is gone is decided about anew.
	w = newWorld(stored("webhook_1", health.Failing))
	w.quicker = func() { w.quicker = nil; delete(w.items, "webhook_1") }
	if w.answered(t, "pause", one); !w.items["webhook_1"].Paused || w.writes != 2 {
		t.Errorf("%d writes: %+v", w.writes, w.items)
	}
}

func TestHandler_takesAReasonOf256Characters(t *testing.T) {
	w := newWorld()
	w.answered(t, "pause", one+`,"reason":"`+strings.Repeat("é", 256)+`"`)
}

func TestHandler_logsTheTenantThatItFound(t *testing.T) {
	for fields, want := range map[string]bool{`"endpoint_id":"webhook_1"`: true, one: false} {
		w := newWorld(stored("webhook_1", health.Open))
		w.answered(t, "pause", fields)
		if got := strings.Contains(w.log.String(), `"tenant_found":"acme"`); got != want {
			t.Errorf("%s: tenant_found is logged: %v, want %v: %s", fields, got, want, &w.log)
		}
	}
}

func TestHandler_logsWhoDidWhatAndWhy(t *testing.T) {
	w := newWorld()
	w.answered(t, "discard", one+`,"confirm":true,"reason":"wrong data, ticket 42"`)
	var line map[string]any
	if err := json.Unmarshal(w.log.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, &w.log)
	}
	delete(line, "time")
	want := map[string]any{
		"level": "INFO", "msg": "operator", "function": "control", "action": "discard", "operator": "ann", "ms": 0.0,
		"tenant_id": "acme", "endpoint_id": "webhook_1", "operator_reason": "wrong data, ticket 42",
		"discarded_before": "2026-05-01T12:00:00Z", "outcome": "answered",
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
