package replay

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestActs_do_namesTheReasonOfARefusal(t *testing.T) {
	unreadable := func(r *deadletter.Record) { // has neither tenant nor endpoint
		r.Ref, r.Reason = delivery.Ref{DeliveryID: "unreadable_1"}, delivery.ReasonUnreadable
	}
	sealed := func(id string, reason delivery.Reason) deadletter.Sealed {
		other := deadLetter(t, nil)
		other.DeliveryID, other.Reason = id, reason
		return seal(t, other).Sealed
	}
	other, unread := sealed("msg_2", delivery.ReasonTimeout), sealed("unreadable_1", delivery.ReasonUnreadable)
	for name, row := range map[string]struct {
		change func(*deadletter.Record)
		want   string
	}{
		"another tenant's":      {func(r *deadletter.Record) { r.TenantID = "other" }, "tenant_mismatch"},
		"an unreadable message": {unreadable, "unreadable"},
		"replayed before":       {func(r *deadletter.Record) { r.Status = deadletter.Replayed }, "already_replayed"},
		"claimed just now":      {func(r *deadletter.Record) { r.Status = deadletter.Replaying }, "replay_running"},
		"replayed 100 times":    {func(r *deadletter.Record) { r.ReplayCount = 100 }, "replay_limit"},
		"a deleted endpoint":    {func(r *deadletter.Record) { r.EndpointID = "webhook_deleted" }, "endpoint_deleted"},
		"a disabled endpoint":   {func(r *deadletter.Record) { r.EndpointID = "webhook_disabled" }, "endpoint_disabled"},
		"an unsubscribed event": {func(r *deadletter.Record) { r.EndpointID = "webhook_narrowed" }, "unsubscribed"},
		"an unknown endpoint":   {func(r *deadletter.Record) { r.EndpointID = "webhook_9" }, "endpoint_deleted"},
		"of another type":       {func(r *deadletter.Record) { r.EventType = "user.created" }, "unopenable"},
		"of another event":      {func(r *deadletter.Record) { r.EventID = "evt_2" }, "unopenable"},
		"with another's body":   {func(r *deadletter.Record) { r.Sealed.Body = other.Body }, "unopenable"},
		"with another's parts":  {func(r *deadletter.Record) { r.Sealed = other }, "unopenable"},
		"of what was not read":  {func(r *deadletter.Record) { r.Sealed = unread }, "unopenable"},
		"as if it had failed":   {func(r *deadletter.Record) { r.Reason = delivery.ReasonHTTP5xx }, "unopenable"},
	} {
		w := newWorld(deadLetter(t, row.change))
		tenantID := "acme"
		if name == "an unreadable message" {
			tenantID = ""
		}
		w.now = func() time.Time { return at.Add(deadletter.StaleClaim - 1) }
		asked := job.Job{Act: job.Replay, Selector: job.Selector{TenantID: tenantID}}
		for id := range w.letters {
			got := w.handler().acts().do(t.Context(), &operator.Call{}, asked, []string{id})[0]
			if got.Result != "refused" || got.Reason != row.want || w.steps != nil {
				t.Errorf("%s is %s as %q, want %q; %v", name, got.Result, got.Reason, row.want, w.steps)
			}
		}
	}
}

func TestActs_do_refusesToPurgeWhatAReplayHoldsAndWhatItsJobDidNotSelect(t *testing.T) {
	selected := job.Selector{TenantID: "acme", Status: "dead", Until: at.Add(1)}
	dead := job.Job{ID: "job_1", Act: job.Purge, Selector: selected}
	for _, row := range []struct {
		change func(*deadletter.Record)
		of     job.Job
		want   string
	}{
		{func(r *deadletter.Record) { r.TenantID = "other" }, dead, "tenant_mismatch"},
		{func(r *deadletter.Record) { r.Status = deadletter.Replaying }, job.Job{Act: job.Purge}, "replay_running"},
		{func(r *deadletter.Record) { r.Status = deadletter.Replayed }, dead, "no_longer_selected"},
		{func(r *deadletter.Record) { r.DiedAt = at.Add(1) }, dead, "no_longer_selected"},
	} {
		w := newWorld(deadLetter(t, row.change))
		got := w.handler().acts().do(t.Context(), &operator.Call{}, row.of, w.order)
		if diff := cmp.Diff([]Result{{deliveryID, "refused", row.want}}, got); diff != "" || w.steps != nil {
			t.Errorf("did %v (-want +got):\n%s", w.steps, diff)
		}
	}
}

func TestHandler_deliveries_answersInTheOrderOfTheIDs(t *testing.T) {
	tried := deadLetter(t, func(r *deadletter.Record) { r.Attempts, r.LastStatus, r.ReplayCount = 10, 503, 1 })
	w := newWorld(tried, deadLetter(t, func(r *deadletter.Record) { r.DeliveryID = "moved" }))
	got := w.ask(t, `{"action":"deliveries","operator":"ann","delivery_ids":["none","`+deliveryID+`","moved","broken"]}`)
	want := `{"data":[{"delivery_id":"none","result":"not_found","reason":""},` +
		`{"delivery_id":"` + deliveryID + `","result":"replayed","reason":""},` +
		`{"delivery_id":"moved","result":"refused","reason":"unopenable"},` +
		`{"delivery_id":"broken","result":"failed","reason":"internal"}]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	steps := []string{
		"audit replay " + deliveryID + " by ann", "claim " + deliveryID + " by ann",
		"write " + deliveryID + " queued", "send " + body,
		"end " + deliveryID + " replayed",
	}
	if diff := cmp.Diff(steps, w.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	again := delivery.Message{Ref: tried.Ref, Body: []byte(body), Life: delivery.Life{StartedAt: at}} // as new
	again.Replay = 2
	sqsValues := cmpopts.IgnoreUnexported(types.MessageAttributeValue{})
	if diff := cmp.Diff([]queue.Outgoing{queue.Of(again, 0)}, w.mail["deliveries"], sqsValues); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if log := w.log.String(); !strings.Contains(log, `"replayed":1`) || strings.Contains(log, `\"data\"`) {
		t.Errorf("no result, or a body, is in the log: %s", log)
	}
}

// nowhere takes no message.
type nowhere struct{}

func (nowhere) Send(_ context.Context, messages []queue.Outgoing) []error {
	return slices.Repeat([]error{errAWS}, len(messages))
}

// underWay is a delivery that is further along than its replay: nothing takes it back.
type underWay struct {
	letters
	fresh bool // no run has claimed it before
}

func (u underWay) Claim(context.Context, deadletter.Record, string, string, time.Time) (int, bool, bool, error) {
	return 1, u.fresh, true, nil
}

func (underWay) Update(context.Context, delivery.Record) (bool, error) { return false, nil }

func (underWay) Purged(context.Context, delivery.Record) error { return errAWS }

func TestActs_do_endsWhatIsNotSent(t *testing.T) {
	for name, row := range map[string]struct {
		given func(w *world, h *Handler)
		want  string
		steps []string // after the audit line
	}{
		"by a run that has sent it and broke off": {
			func(w *world, h *Handler) { h.DeadLetters, h.States = underWay{letters{w}, false}, underWay{} },
			`"result":"replayed","reason":"resumed"`, []string{"end replayed"},
		},
		"acknowledged meanwhile": {
			func(w *world, h *Handler) { h.DeadLetters, h.States = underWay{letters{w}, true}, underWay{} },
			`"result":"refused","reason":"already_acknowledged"`, []string{"end replayed"},
		},
		"its queue takes nothing": {
			func(_ *world, h *Handler) { h.Deliveries = nowhere{} },
			`"result":"failed","reason":"not_sent"`, []string{"claim by ann", "write queued", "write dead", "end dead"},
		},
	} {
		w := newWorld(deadLetter(t, nil))
		h := w.handler()
		row.given(w, h)
		const request = `{"action":"deliveries","operator":"ann","delivery_ids":["`
		got, err := h.Function().Invoke(t.Context(), []byte(request+deliveryID+`"]}`))
		want := append([]string{"audit replay by ann"}, row.steps...)
		steps := strings.Split(strings.ReplaceAll(strings.Join(w.steps, "\n"), deliveryID+" ", ""), "\n")
		if diff := cmp.Diff(want, steps); diff != "" || err != nil || !strings.Contains(string(got), row.want) {
			t.Errorf("%s: %s, %v, steps (-want +got):\n%s", name, got, err, diff)
		}
	}
}

// A second message under an id may be anywhere on the queue: having met each id once is not the end.
func TestHandler_discardRejectedEvents_deletesTheNamedOnesAndReturnsTheRest(t *testing.T) {
	event := func(id string) rejected.Event { return rejected.Event{MessageID: id, EventID: "evt_" + id, Body: "{}"} }
	w := newWorld()
	w.rejected = slices.Concat([]rejected.Event{event("1"), event("stuck"), event("3")},
		slices.Repeat([]rejected.Event{event("2")}, 20), []rejected.Event{event("1")})
	got := w.ask(t, `{"action":"discard_rejected_events","operator":"ann","message_ids":["1","9","stuck"],"confirm":true}`)
	want := `{"data":[` +
		`{"message_id":"1","event_id":"evt_1","result":"discarded","reason":""},` +
		`{"message_id":"stuck","event_id":"evt_stuck","result":"failed","reason":"internal"},` +
		`{"message_id":"1","event_id":"evt_1","result":"discarded","reason":""},` +
		`{"message_id":"9","event_id":"","result":"not_found","reason":""}],"complete":true}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"audit discard_rejected 1 by ann", "audit discard_rejected stuck by ann", "delete 1",
		"audit discard_rejected 1 by ann", "delete 1",
	}, w.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	returned := append(slices.Repeat([]string{"2"}, 20), "3", "stuck")
	if diff := cmp.Diff(returned, w.restored, inAnyOrder); diff != "" || w.hidden != rejected.Briefly {
		t.Errorf("hidden for %s, returned to the queue (-want +got):\n%s", w.hidden, diff)
	}
}

// An answer that has no room for more does not say that nothing is left.
func TestHandler_discardRejectedEvents_isCompleteOnlyAtTheEnd(t *testing.T) {
	w := newWorld()
	w.rejected = slices.Repeat([]rejected.Event{{MessageID: "1", EventID: "evt_1", Body: "{}"}}, maxIDs+1)
	const request = `{"action":"discard_rejected_events","operator":"ann","message_ids":["1"],"confirm":true}`
	for _, want := range []string{`"complete":false}`, `"complete":true}`} {
		if got := w.ask(t, request); !strings.HasSuffix(got, want) {
			t.Errorf("answered %s with %d left, want %s", got[max(0, len(got)-80):], len(w.rejected), want)
		}
	}
}

// A receive begins while there is time for one more; then the events that SQS does not delete are answered in time.
func TestHandler_rejectedEvents_areAnsweredBeforeTheEndThoughDeletionsHang(t *testing.T) {
	for action, result := range map[string]string{"rejected_events": "replayed", "discard_rejected_events": "failed"} {
		synctest.Test(t, func(t *testing.T) {
			w := newStore(t, 0)
			w.rejected = slices.Repeat([]rejected.Event{{MessageID: "hangs", EventID: "evt_1", Body: good}}, 10)
			ctx, cancel := context.WithTimeout(t.Context(), reserve)
			defer cancel()
			confirm := strings.Repeat(`,"confirm":true`, strings.Count(action, "discard"))
			got := w.invoke(ctx, t, `{"operator":"ann","action":"`+action+`","message_ids":["hangs"]`+confirm+`}`)
			if n := strings.Count(got, `"result":"`+result+`"`); n != 10 || ctx.Err() != nil {
				t.Errorf("%s: %d are %s, %v", action, n, result, ctx.Err())
			}
		})
	}
}

var inAnyOrder = cmpopts.SortSlices(func(a, b string) bool { return a < b })

func TestHandler_rejectedEvents_publishesWithItsIDAndReturnsTheRest(t *testing.T) {
	const named = `{"id":"evt_4","tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`
	w := newWorld()
	w.rejected = []rejected.Event{
		{MessageID: "1", EventID: "evt_1", Body: good},
		{MessageID: "2", EventID: "evt_2", Body: "{}"},
		{MessageID: "3", EventID: "evt_3", Body: good},
		{MessageID: "4", EventID: "evt_4", Body: named},
	}
	got := w.ask(t, `{"action":"rejected_events","operator":"ann","message_ids":["1","2","4","9"]}`)
	want := `{"data":[` +
		`{"message_id":"2","event_id":"evt_2","result":"refused","reason":` +
		`"invalid event: tenant_id: is required"},` +
		`{"message_id":"1","event_id":"evt_1","result":"replayed","reason":""},` +
		`{"message_id":"4","event_id":"evt_4","result":"replayed","reason":""},` +
		`{"message_id":"9","event_id":"","result":"not_found","reason":""}],"complete":true}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2", "3"}, w.restored, inAnyOrder); diff != "" || w.hidden != rejected.Briefly {
		t.Errorf("hidden for %s, returned to the queue (-want +got):\n%s", w.hidden, diff)
	}
	steps := []string{
		"audit publish 1 by ann", "audit publish 4 by ann", `send {"id":"evt_1",` + good[1:], "send " + named,
		"delete 1", "delete 4",
	}
	if diff := cmp.Diff(steps, w.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestHandler_changesNothingThatCannotBeAudited(t *testing.T) {
	const one, failed = `"message_ids":["1"]`, `"result":"failed","reason":"internal"`
	letters := `"delivery_ids":["` + deliveryID + `"]`
	for _, row := range []struct{ action, fields, want string }{
		{"deliveries", letters, failed},
		{"purge", `"confirm":true,` + letters, failed},
		{"rejected_events", one, failed},
		{"discard_rejected_events", `"confirm":true,` + one, failed},
		{"start_job", `"act":"replay","tenant_id":"acme"`, testkit.Internal},
		{"stop_job", `"job_id":"running"`, testkit.Internal},
		{"resume_job", `"job_id":"stopped"`, testkit.Internal},
	} {
		w := newWorld(deadLetter(t, nil))
		w.unaudited, w.rejected = true, []rejected.Event{{MessageID: "1", EventID: "evt", Body: good}}
		w.jobs["running"] = job.Job{ID: "running", State: job.Running}
		w.jobs["stopped"] = job.Job{ID: "stopped", State: job.Stopped}
		jobs := maps.Clone(w.jobs)
		got := testkit.Ask(t, testkit.ByAlias(w.handler().Function(), ForGood), row.action, row.fields)
		if diff := cmp.Diff(jobs, w.jobs); diff != "" || !strings.Contains(got, row.want) || len(w.steps) > 0 {
			t.Errorf("%s: %s, and %v, jobs (-want +got):\n%s", row.action, got, w.steps, diff)
		}
	}
}
