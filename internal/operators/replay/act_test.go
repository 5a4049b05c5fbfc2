package replay

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// do does an act in a new process, without a request around it.
func (a *account) do(j job.Job, ids ...string) []api.DeliveryResult {
	a.Helper()
	h := a.handler(a.Process("replay"))
	how := map[job.Act]act{job.Replay: h.replays(), job.Purge: h.purges()}[j.Act]
	return how.do(a.Context(), &invoke.Call{}, j, ids)
}

func TestActs_do_namesTheReasonOfARefusal(t *testing.T) {
	unreadable := func(r *deadletter.Record) { // has neither tenant nor endpoint
		r.Ref, r.Reason = delivery.Ref{DeliveryID: "unreadable_1"}, delivery.ReasonUnreadable
	}
	sealed := func(id string, reason delivery.Reason) deadletter.Sealed {
		other := deadLetter(t, nil)
		other.DeliveryID, other.Reason = id, reason
		return operatortest.Seal(t, other).Sealed
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
		inAccount(t, func(a *account) {
			a.Put(deadLetter(t, row.change))
			asked := job.Job{Act: job.Replay, Selector: job.Selector{TenantID: "acme"}}
			if name == "an unreadable message" {
				asked.Selector.TenantID = ""
			}
			time.Sleep(deadletter.StaleClaim - 1)
			got := a.do(asked, a.Order...)
			want := []api.DeliveryResult{{DeliveryID: a.Order[0], Result: "refused", Reason: row.want}}
			if diff := cmp.Diff(want, got); diff != "" || a.Steps != nil {
				t.Errorf("%s did %v (-want +got)\n%s", name, a.Steps, diff)
			}
		})
	}
}

func TestActs_do_refusesToPurgeWhatAReplayHoldsAndWhatItsJobDidNotSelect(t *testing.T) {
	selected := job.Selector{TenantID: "acme", Status: "dead", Until: at.Add(time.Millisecond)}
	dead := job.Job{ID: "job_1", Act: job.Purge, Selector: selected}
	for _, row := range []struct {
		change func(*deadletter.Record)
		of     job.Job
		want   string
	}{
		{func(r *deadletter.Record) { r.TenantID = "other" }, dead, "tenant_mismatch"},
		{func(r *deadletter.Record) { r.Status = deadletter.Replaying }, job.Job{Act: job.Purge}, "replay_running"},
		{func(r *deadletter.Record) { r.Status = deadletter.Replayed }, dead, "no_longer_selected"},
		{func(r *deadletter.Record) { r.DiedAt = at.Add(time.Millisecond) }, dead, "no_longer_selected"},
	} {
		inAccount(t, func(a *account) {
			a.Put(deadLetter(t, row.change))
			got := a.do(row.of, a.Order...)
			want := []api.DeliveryResult{{DeliveryID: deliveryID, Result: "refused", Reason: row.want}}
			if diff := cmp.Diff(want, got); diff != "" || a.Steps != nil {
				t.Errorf("did %v (-want +got):\n%s", a.Steps, diff)
			}
		})
	}
}

func TestHandler_deliveries_answersInTheOrderOfTheIDs(t *testing.T) {
	inAccount(t, func(a *account) {
		tried := deadLetter(t, func(r *deadletter.Record) { r.Attempts, r.LastStatus, r.ReplayCount = 10, 503, 1 })
		a.Put(tried, deadLetter(t, func(r *deadletter.Record) { r.DeliveryID = "moved" }))
		a.BreakLetter("broken")
		got := a.Ask(`{"action":"deliveries","operator":"ann","delivery_ids":["none","` + deliveryID + `","moved","broken"]}`)
		want := `{"data":[{"delivery_id":"none","result":"not_found","reason":""},` +
			`{"delivery_id":"` + deliveryID + `","result":"replayed","reason":""},` +
			`{"delivery_id":"moved","result":"refused","reason":"unopenable"},` +
			`{"delivery_id":"broken","result":"failed","reason":"internal"}]}`
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		steps := []string{
			"audit replay " + deliveryID + " by ann", "Write DeadLetters " + deliveryID, "Write Deliveries " + deliveryID,
			"Send DeliveryQueue " + deliveryID, "Write DeadLetters " + deliveryID,
		}
		if diff := cmp.Diff(steps, a.Steps); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		again := delivery.Message{Ref: tried.Ref, Body: []byte(body), Life: delivery.Life{StartedAt: at}} // as new
		again.Replay = 2
		sent := queue.Of(again, 0)
		a.DeliveryQueue.Each(func(r events.SQSMessage, _ time.Duration, _ int) {
			if diff := cmp.Diff(sqsevent.Attributes(sent.Attributes), r.MessageAttributes); diff != "" || r.Body != sent.Body {
				t.Errorf("sent %s (-want +got):\n%s", r.Body, diff)
			}
		})
		record := delivery.Record{
			Ref: again.Ref, EventType: "user.deleted", State: delivery.Queued, Reason: delivery.ReasonReplayed, LastStatus: 503,
			UpdatedAt: at,
		}
		if diff := cmp.Diff(record, a.States[deliveryID]); diff != "" || a.Letters[deliveryID].Status != deadletter.Replayed {
			t.Errorf("the letter is %s, state (-want +got):\n%s", a.Letters[deliveryID].Status, diff)
		}
		if log := a.Log.String(); !strings.Contains(log, `"replayed":1`) || strings.Contains(log, `\"data\"`) {
			t.Errorf("no result, or a body, is in the log: %s", log)
		}
	})
}

func TestActs_do_endsWhatIsNotSent(t *testing.T) {
	acknowledged := func(a *account) {
		a.States[deliveryID] = delivery.Record{Ref: deadLetter(t, nil).Ref, State: delivery.Acknowledged}
	}
	brokeOff := func(a *account) {
		a.Change(deliveryID, func(r *deadletter.Record) {
			r.Status, r.ReplayCount, r.UpdatedAt = deadletter.Replaying, 1, at.Add(-deadletter.StaleClaim)
		})
		tried := delivery.Record{Ref: deadLetter(t, nil).Ref, State: delivery.Retrying, Attempts: 1}
		tried.Replay = 1
		a.States[deliveryID] = tried
	}
	for name, row := range map[string]struct {
		given  func(a *account)
		want   string
		letter deadletter.Status
		state  delivery.State
	}{
		"by a run that has sent it and broke off": {
			brokeOff, `"result":"replayed","reason":"resumed"`, deadletter.Replayed, delivery.Retrying,
		},
		"acknowledged after its death": {
			acknowledged, `"result":"refused","reason":"already_acknowledged"`, deadletter.Replayed, delivery.Acknowledged,
		},
		"its queue takes nothing": {
			func(a *account) { a.Refuse("Send DeliveryQueue") }, `"result":"failed","reason":"not_sent"`, deadletter.Dead,
			delivery.Dead,
		},
		"its state is not written": {
			func(a *account) { a.Refuse("Write Deliveries") }, `"result":"failed","reason":"internal"`, deadletter.Dead, "",
		},
	} {
		inAccount(t, func(a *account) {
			a.Put(deadLetter(t, nil))
			row.given(a)
			got := a.Ask(`{"action":"deliveries","operator":"ann","delivery_ids":["` + deliveryID + `"]}`)
			letter, state := a.Letters[deliveryID].Status, a.States[deliveryID].State
			sent := operatortest.On(a.DeliveryQueue)
			if !strings.Contains(got, row.want) || letter != row.letter || state != row.state || len(sent) > 0 {
				t.Errorf("%s: %s, the letter is %s, the delivery %q, sent %v", name, got, letter, state, sent)
			}
		})
	}
}

// Whatever call fails, and however, a dead delivery is sent in the end: by the request, or by one that is made again.
// None is lost, and none is changed that was not asked for.
func TestHandler_deliveries_loseNothingWhateverCallFails(t *testing.T) {
	for _, v := range model.Faults() {
		for n := 1; ; n++ {
			reached := false
			inAccount(t, func(a *account) {
				a.Put(operatortest.Deaths(t, 2)...)
				a.Fault(n, v)
				request := `{"action":"deliveries","operator":"ann","delivery_ids":["` + a.Order[0] + `"]}`
				first, _ := a.Within(timeout, request) // it may fail
				reached = a.Heal(n)
				time.Sleep(deadletter.StaleClaim + model.Lateness)
				again := a.Ask(request)
				l := a.Letters[a.Order[0]]
				if l.Status != deadletter.Replayed || operatortest.On(a.DeliveryQueue)[l.DeliveryID] == 0 {
					t.Errorf("call %d is %s: %s, then %s: the letter is %s, sent %v", n, v, first, again, l.Status,
						operatortest.On(a.DeliveryQueue))
				}
				if other := a.Letters[a.Order[1]]; other.Status != deadletter.Dead || len(operatortest.On(a.DeliveryQueue)) > 1 {
					t.Errorf("call %d is %s: the other letter is %s, sent %v", n, v, other.Status, operatortest.On(a.DeliveryQueue))
				}
			})
			if !reached {
				break
			}
		}
	}
}

// Threat of the account: acts without a trace. Held by: the [audit line](operator-api.md#audit) comes first, and none
// may delete it.
func TestHandler_changesNothingThatCannotBeAudited(t *testing.T) {
	const one, failed = `"message_ids":["1"]`, `"result":"failed","reason":"internal"`
	letters := `"delivery_ids":["` + deliveryID + `"]`
	for _, row := range []struct{ action, fields, want string }{
		{"deliveries", letters, failed},
		{"purge", `"confirm":true,` + letters, failed},
		{"rejected_events", one, failed},
		{"discard_rejected_events", `"confirm":true,` + one, failed},
		{"start_job", `"act":"replay","tenant_id":"acme"`, ""},
		{"stop_job", `"job_id":"running"`, ""},
		{"resume_job", `"job_id":"stopped"`, ""},
	} {
		inAccount(t, func(a *account) {
			a.Put(deadLetter(t, nil))
			a.Refuse("PutLogEvents")
			a.Reject(rejected.Event{MessageID: "1", EventID: "evt", Body: good})
			a.Start(job.Job{ID: "running", State: job.Running})
			a.Start(job.Job{ID: "stopped", Act: job.Replay, State: job.Stopped})
			jobs := maps.Clone(a.Jobs)
			got, err := a.Within(timeout, fmt.Sprintf(`{"operator":"ann","action":%q,%s}`, row.action, row.fields))
			if (err != nil) != (row.want == "") || !strings.Contains(got, row.want) {
				t.Errorf("%s: %s, %v", row.action, got, err)
			}
			if diff := cmp.Diff(jobs, a.Jobs); diff != "" || len(a.Steps) > 0 || a.RejectedQueue.Stored() != 1 {
				t.Errorf("%s did %v, %d events, jobs (-want +got):\n%s", row.action, a.Steps, a.RejectedQueue.Stored(), diff)
			}
		})
	}
}
