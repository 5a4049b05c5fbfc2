package deliver

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
)

func TestHandler_observe_writesNothingForAHealthyEndpoint(t *testing.T) {
	w := newWorld(status(200))
	w.process(t, fresh("a", "webhook_1"), retried("b", "webhook_2", 1))
	w.respond = status(500)
	w.process(t, fresh("c", "webhook_1")) // one failure alone starts no run
	w.secretErr = errAWS
	w.process(t, retried("d", "webhook_1", 1), retried("e", "webhook_1", 2)) // faults of ours are none
	if len(w.writes) != 0 {
		t.Errorf("writes %+v", w.writes)
	}
}

func TestHandler_observe_tellsWhatBecameOfTheAttempts(t *testing.T) {
	changed := func(i health.Item, change func(*health.Item)) health.Item { change(&i); return i }
	failing := health.Item{
		TenantID: "t", EndpointID: "webhook_1", Version: 7, State: health.Failing, Since: epoch.Add(-time.Hour),
		Failures: 40, FailingSince: epoch.Add(-time.Hour), Deliveries: []string{"x", "y"}, LastStatus: 500,
	}
	probe := living(fresh("a", "webhook_1"), 4, 1, delivery.Life{StartedAt: born, Probe: claimed})
	retry := retried("a", "webhook_1", 1)
	for name, row := range map[string]struct {
		given  health.Item
		answer int
		record events.SQSMessage
		state  health.State
		ran    int // failures in a row
	}{
		"a retry that fails starts a run":       {health.Item{}, 503, retry, health.Failing, 1},
		"a 2xx ends it":                         {failing, 204, retry, health.None, 0},
		"the failure of a third delivery opens": {failing, 503, retry, health.Open, 41},
		"a probe's 2xx begins recovery":         {probing(claimed), 204, probe, health.Recovering, 0},
		"a probe's failure is kept":             {probing(claimed), 503, probe, health.Open, 0},
		"a 2xx ends the run of recovery": {
			changed(in(health.Recovering), func(i *health.Item) { i.Failures = 3 }), 204, retry, health.Recovering, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(row.answer))
			if row.given.Version != 0 {
				w.health["webhook_1"] = row.given
			}
			w.process(t, row.record)
			got := w.health["webhook_1"]
			if got.State != row.state || got.Failures != row.ran {
				t.Errorf("%+v", got)
			}
			if len(w.writes) != 1 {
				t.Errorf("%d writes", len(w.writes))
			}
		})
	}
}

// A probe that fails is held by its circuit, not by its schedule, and nothing is probed in between.
func TestHandler_follow_holdsAProbeThatFails(t *testing.T) {
	w := newWorld(status(503))
	w.health["webhook_1"] = probing(claimed)
	own := epoch.Add(time.Minute)
	dies := epoch.Add(24 * time.Hour)
	probe := living(fresh("a", "webhook_1"), 4, 1, delivery.Life{
		StartedAt: born, OwnDue: own, DiesAt: dies, Probe: claimed,
	})
	w.did(t, w.process(t, probe), effects{Posts: 1, States: 1, Parked: waits(24 * time.Hour)})
	got := w.parked[0]
	want := delivery.Life{StartedAt: born, OwnDue: own, DiesAt: dies, Reason: delivery.ReasonHTTP5xx, Status: 503}
	if diff := cmp.Diff(want, got.Message.Life); diff != "" || !got.Held || got.Message.Attempts != 4 {
		t.Errorf("held %t with %d attempts (-want +got)\n%s", got.Held, got.Message.Attempts, diff)
	}
}

func TestHandler_observe_tellsFailuresOnceASecondAndEveryEndOfThem(t *testing.T) {
	w := newWorld(status(503))
	h := w.handler()
	retry := func(id string) []events.SQSMessage { return []events.SQSMessage{retried(id, "webhook_1", 1)} }
	h.Process(t.Context(), retry("a"))
	h.Process(t.Context(), retry("b"))
	if got := w.health["webhook_1"]; len(w.writes) != 1 || got.Failures != 1 {
		t.Errorf("%d writes, %+v", len(w.writes), got)
	}
	w.advance(time.Second)
	h.Process(t.Context(), retry("c"))
	if got := w.health["webhook_1"]; len(w.writes) != 2 || got.Failures != 2 {
		t.Errorf("%d writes, %+v", len(w.writes), got)
	}
	w.respond = status(204)
	h.Process(t.Context(), retry("d"))
	if _, stands := w.health["webhook_1"]; stands {
		t.Error("a 2xx is told a second late")
	}
}

func TestHandler_observe_asksOnceMoreAboutTheItemThatStands(t *testing.T) {
	w := newWorld(status(503))
	h := w.handler()
	other := health.Item{
		TenantID: "t", EndpointID: "webhook_1", Version: 9, State: health.Failing, Failures: 2, Deliveries: []string{"x"},
	}
	h.Health = &racing{w, []func(*world){func(w *world) { w.health["webhook_1"] = other }}}
	h.Process(t.Context(), []events.SQSMessage{retried("a", "webhook_1", 1)})
	if got := w.health["webhook_1"]; got.Failures != 3 || len(w.writes) != 2 {
		t.Errorf("%d writes, %+v", len(w.writes), got)
	}
}

func TestHandler_observe_losesNoDeliveryWithAWriteOfHealth(t *testing.T) {
	w := newWorld(status(503))
	w.holdErr = errAWS
	failed := w.process(t, retried("a", "webhook_1", 1))
	w.did(t, failed, effects{Failed: []string{"id-a"}, Posts: 1, States: 1, Hidden: waits(20 * time.Second)})
	if n := w.metrics(t)[measured{"HealthWritesLost", ours}]; n != 1 {
		t.Errorf("%v lost writes counted", n)
	}
}

// Where EndpointHealth cannot be read, the last view of a minute counts, and then none.
func TestHandler_Process_remembersWhatItCannotRead(t *testing.T) {
	w := newWorld(status(200))
	h := w.handler()
	w.health["webhook_1"] = in(health.Open)
	process := func(id string) { h.Process(t.Context(), []events.SQSMessage{fresh(id, "webhook_1")}) }
	process("a")
	w.blind = true
	w.advance(time.Minute)
	process("b")
	if len(w.parked) != 2 || len(w.posts) != 0 {
		t.Errorf("%d parked, %d posts", len(w.parked), len(w.posts))
	}
	w.advance(time.Millisecond)
	process("c")
	if len(w.parked) != 2 || len(w.posts) != 1 {
		t.Errorf("%d parked, %d posts: an outage of ours stops an endpoint", len(w.parked), len(w.posts))
	}
}

func TestMemory_forgetsWhatIsHealthyAndStaysSmall(t *testing.T) {
	var m memory
	key := func(n int) dynamo.EndpointKey {
		return dynamo.EndpointKey{TenantID: "t", EndpointID: string(rune('a' + n))}
	}
	sick := dynamo.Reading{View: health.View{Endpoint: in(health.Open)}, HealthRead: true}
	for n := range 3 * maxKnown {
		m.view(key(n), sick, time.Minute, epoch)
		m.mayWrite(key(n), epoch)
	}
	if len(m.views) > maxKnown || len(m.wrote) > maxKnown {
		t.Errorf("%d views, %d times", len(m.views), len(m.wrote))
	}
	m.view(key(1), sick, time.Minute, epoch)
	m.view(key(1), dynamo.Reading{HealthRead: true}, time.Minute, epoch)
	want := health.View{TenantID: key(1).TenantID, EndpointID: key(1).EndpointID}
	if diff := cmp.Diff(want, m.view(key(1), dynamo.Reading{}, time.Minute, epoch)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// slowHealth does not answer in time.
type slowHealth struct{ *world }

func (s slowHealth) Apply(ctx context.Context, _ health.Write) (health.Item, bool, error) {
	<-ctx.Done()
	return health.Item{}, false, ctx.Err()
}
