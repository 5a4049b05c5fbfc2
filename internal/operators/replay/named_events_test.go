package replay

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/operators/jobs"
	"github.com/herald-webhooks/herald/internal/rules/trace"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

var inAnyOrder = cmpopts.SortSlices(func(a, b string) bool { return a < b })

// left are the message ids of the events that can be received now. They are taken off their queue.
func (a *account) left() (ids []string) {
	a.Helper()
	a.Verdict = nil
	from := rejected.Queue{Client: a.Process("test").Polled(a.RejectedQueue)}
	for {
		received, err := from.Receive(a.Context(), 10, rejected.Briefly)
		if err != nil {
			a.Fatal(err)
		}
		if len(received) == 0 {
			return ids
		}
		for _, e := range received {
			ids = append(ids, e.MessageID)
		}
	}
}

// stuck has the event that was rejected as the n-th stay on its queue, by a verdict.
func (a *account) stuck(n int, v model.Verdict) {
	a.Verdict = func(c *model.Call) model.Verdict {
		if strings.HasPrefix(c.Name, "DeleteMessage") && strings.HasPrefix(c.Key, strconv.Itoa(n)+".") {
			return v
		}
		return model.Done
	}
}

// changed are the steps without the ids of SQS.
func (a *account) changed() (steps []string) {
	for _, s := range a.Steps {
		if strings.HasPrefix(s, "DeleteMessage") {
			s, _, _ = strings.Cut(s, " EventsDeadLetterQueue")
		}
		steps = append(steps, s)
	}
	return steps
}

// A second message under an id may be anywhere on the queue: having met each id once is not the end.
func TestHandler_discardRejectedEvents_deletesTheNamedOnesAndReturnsTheRest(t *testing.T) {
	inAccount(t, func(a *account) {
		event := func(id string) rejected.Event { return rejected.Event{MessageID: id, EventID: "evt_" + id, Body: "{}"} }
		a.Reject(slices.Concat([]rejected.Event{event("1"), event("stuck"), event("3")},
			slices.Repeat([]rejected.Event{event("2")}, 20), []rejected.Event{event("1")})...)
		a.stuck(2, model.Refused)
		got := a.Ask(`{"action":"discard_rejected_events","operator":"ann","message_ids":["1","9","stuck"],"confirm":true}`)
		want := `{"data":[` +
			`{"message_id":"1","event_id":"evt_1","result":"discarded","reason":""},` +
			`{"message_id":"stuck","event_id":"evt_stuck","result":"failed","reason":"internal"},` +
			`{"message_id":"1","event_id":"evt_1","result":"discarded","reason":""},` +
			`{"message_id":"9","event_id":"","result":"not_found","reason":""}],"complete":true}`
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{
			"audit discard_rejected 1 by ann", "audit discard_rejected stuck by ann", "DeleteMessage",
			"audit discard_rejected 1 by ann", "DeleteMessage",
		}, a.changed()); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		returned := append(slices.Repeat([]string{"2"}, 20), "3", "stuck")
		if diff := cmp.Diff(returned, a.left(), inAnyOrder); diff != "" {
			t.Errorf("returned to the queue (-want +got):\n%s", diff)
		}
	})
}

// An answer that has no room for more does not say that nothing is left.
func TestHandler_discardRejectedEvents_isCompleteOnlyAtTheEnd(t *testing.T) {
	inAccount(t, func(a *account) {
		a.Reject(slices.Repeat([]rejected.Event{{MessageID: "1", EventID: "evt_1", Body: "{}"}}, maxIDs+1)...)
		const request = `{"action":"discard_rejected_events","operator":"ann","message_ids":["1"],"confirm":true}`
		for _, want := range []string{`"complete":false}`, `"complete":true}`} {
			if got := a.Ask(request); !strings.HasSuffix(got, want) {
				t.Errorf("answered %s with %d left, want %s", got[max(0, len(got)-80):], a.RejectedQueue.Stored(), want)
			}
		}
	})
}

// A receive begins while there is time for one more; then the events that SQS does not delete are answered in time.
func TestHandler_rejectedEvents_areAnsweredBeforeTheEndThoughDeletionsHang(t *testing.T) {
	for action, result := range map[string]string{"rejected_events": "replayed", "discard_rejected_events": "failed"} {
		inAccount(t, func(a *account) {
			a.Reject(slices.Repeat([]rejected.Event{{MessageID: "hangs", EventID: "evt_1", Body: good}}, 10)...)
			a.Verdict = func(c *model.Call) model.Verdict {
				if strings.HasPrefix(c.Name, "DeleteMessage") {
					return model.Stalled
				}
				return model.Done
			}
			began := time.Now()
			confirm := strings.Repeat(`,"confirm":true`, strings.Count(action, "discard"))
			got, err := a.Within(invoke.Reserve, `{"operator":"ann","action":"`+action+`","message_ids":["hangs"]`+confirm+`}`)
			if n := strings.Count(got, `"result":"`+result+`"`); n != 10 || err != nil || time.Since(began) >= invoke.Reserve {
				t.Errorf("%s: %d are %s after %s, %v", action, n, result, time.Since(began), err)
			}
		})
	}
}

func TestHandler_rejectedEvents_publishesWithItsIDAndReturnsTheRest(t *testing.T) {
	const named = `{"id":"evt_4","tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`
	published := trace.ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	inAccount(t, func(a *account) {
		a.Reject(
			rejected.Event{MessageID: "1", EventID: "evt_1", Body: good},
			rejected.Event{MessageID: "2", EventID: "evt_2", Body: "{}"},
			rejected.Event{MessageID: "3", EventID: "evt_3", Body: good},
			rejected.Event{MessageID: "4", EventID: "evt_4", Body: named, Trace: published},
		)
		got := a.Ask(`{"action":"rejected_events","operator":"ann","message_ids":["1","2","4","9"]}`)
		want := `{"data":[` +
			`{"message_id":"2","event_id":"evt_2","result":"refused","reason":` +
			`"invalid event: tenant_id: is required"},` +
			`{"message_id":"1","event_id":"evt_1","result":"replayed","reason":""},` +
			`{"message_id":"4","event_id":"evt_4","result":"replayed","reason":""},` +
			`{"message_id":"9","event_id":"","result":"not_found","reason":""}],"complete":true}`
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		steps := []string{
			"audit publish 1 by ann", "audit publish 4 by ann", "Send EventsQueue", "DeleteMessage", "DeleteMessage",
		}
		if diff := cmp.Diff(steps, a.changed()); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		bodies := []string{`{"id":"evt_1",` + good[1:], named}
		if diff := cmp.Diff(bodies, operatortest.Bodies(a.EventsQueue), inAnyOrder); diff != "" {
			t.Errorf("published (-want +got):\n%s", diff)
		}
		a.EventsQueue.Each(func(r events.SQSMessage, _ time.Duration, _ int) {
			want := trace.Context{}
			if r.Body == named {
				want = published
			}
			if got := queue.TraceOf(r); got != want {
				t.Errorf("%s has the trace %+v, want %+v", r.Body, got, want)
			}
		})
		if diff := cmp.Diff([]string{"2", "3"}, a.left(), inAnyOrder); diff != "" {
			t.Errorf("returned to the queue (-want +got):\n%s", diff)
		}
	})
}

// Whatever call fails, and however, no rejected event is lost: it is on its queue, or published, or both.
func TestHandler_rejectedEvents_loseNothingWhateverCallFails(t *testing.T) {
	for _, v := range model.Faults() {
		for n := 1; ; n++ {
			reached := false
			inAccount(t, func(a *account) {
				for _, id := range []string{"1", "2", "3"} {
					a.Reject(rejected.Event{MessageID: id, EventID: "evt_" + id, Body: good})
				}
				a.Fault(n, v)
				const request = `{"action":"rejected_events","operator":"ann","message_ids":["1","3"]}`
				answer, _ := a.Within(timeout, request) // it may fail
				reached = a.Heal(n)
				time.Sleep(rejected.Briefly + model.Lateness)
				there := map[string]bool{}
				for _, id := range a.left() {
					there[id] = true
				}
				for _, b := range operatortest.Bodies(a.EventsQueue) {
					there[strings.TrimPrefix(b[:len(`{"id":"evt_1`)], `{"id":"evt_`)] = true
				}
				published, most := len(operatortest.Bodies(a.EventsQueue)), 2
				if v == model.Twice {
					most = 4 // a call that sends both is made twice
				}
				if diff := cmp.Diff(map[string]bool{"1": true, "2": true, "3": true}, there); diff != "" || published > most {
					t.Errorf("call %d is %s: %s, %d published, there (-want +got)\n%s", n, v, answer, published, diff)
				}
			})
			if !reached {
				break
			}
		}
	}
}

// A sweep may discard: where it is given no ids, it selects nothing.
func TestNamedEvents_answer_selectsOnlyWhatIsNamed(t *testing.T) {
	inAccount(t, func(a *account) {
		a.Reject(rejected.Event{MessageID: "1", EventID: "evt_1", Body: good})
		acted := jobs.Sweep{Invalid: true, Do: func(_ context.Context, events []rejected.Event) []jobs.Outcome {
			return jobs.Outcomes(api.ResultDiscarded, "", events...)
		}}
		p := a.Process("replay")
		queue := rejected.Queue{Client: p.Polled(a.RejectedQueue)}
		n := namedEvents{events: jobs.EventQueue{Queue: queue, Jobs: p.Jobs(), Log: slog.New(slog.DiscardHandler)}}
		got, err := n.answer(a.Context(), &invoke.Call{}, nil, acted)
		if diff := cmp.Diff(api.EventResults{Data: []api.EventResult{}, Complete: true}, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
}
