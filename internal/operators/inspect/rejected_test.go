package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

func anEvent(id string) rejected.Event {
	return rejected.Event{MessageID: id, EventID: "evt_" + id, Reason: "no tenant", Body: "body " + id}
}

func shown(id string, sent time.Time) api.RejectedEvent {
	body := "body " + id
	return api.RejectedEvent{
		MessageID: id, EventID: "evt_" + id, Reason: "no tenant", SentAt: sent, Bytes: len(body), Body: &body,
	}
}

// received receives all events that are visible, and may restore them in another order.
func (a *account) received(restore ...int) (ids []string) {
	a.Helper()
	queue := rejected.Queue{Client: a.Process("test").Polled(a.rejected)}
	var all []rejected.Event
	for a.rejected.Visible() > 0 {
		some, err := queue.Receive(a.Context(), 10, rejected.Briefly)
		if err != nil {
			a.Fatal(err)
		}
		all = append(all, some...)
	}
	for _, e := range all {
		ids = append(ids, e.MessageID)
	}
	for _, n := range restore {
		if err := queue.Restore(a.Context(), all[n:n+1]); err != nil {
			a.Fatal(err)
		}
	}
	return ids
}

func TestHandler_rejectedEvents_showsTheOldestFirstAndReturnsAll(t *testing.T) {
	inAccount(t, func(a *account) {
		for _, id := range []string{"1", "2", "3"} {
			a.reject(anEvent(id))
			time.Sleep(time.Hour)
		}
		a.received(2, 0, 1) // the queue keeps no order
		want := api.List[api.RejectedEvent]{
			Data: []api.RejectedEvent{shown("1", at), shown("2", at.Add(time.Hour)), shown("3", at.Add(2*time.Hour))},
		}
		if diff := cmp.Diff(want, read[api.List[api.RejectedEvent]](a, "rejected_events", "")); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"1", "2", "3"}, a.received(), inAnyOrder); diff != "" {
			t.Errorf("restored (-want +got):\n%s", diff)
		}
		if strings.Contains(a.log.String(), "body 1") {
			t.Errorf("a body is logged: %s", &a.log)
		}
	})
}

func TestHandler_rejectedEvents_selects(t *testing.T) {
	put := func(a *account) {
		for n, e := range [][2]string{
			{"acme", "invalid event: type: unknown"}, {"big", "not_processed"}, {"acme", "not_processed"},
			{"acme", "not_processed"},
		} {
			id := fmt.Sprint(n + 1)
			a.reject(rejected.Event{
				MessageID: id, EventID: "evt_" + id, Reason: e[1], Body: `{"tenant_id":"` + e[0] + `"}`,
			})
			time.Sleep(time.Hour)
		}
	}
	for fields, want := range map[string][]string{
		`"tenant_id":"acme"`:                              {"1", "3", "4"},
		`"reason":"type"`:                                 {"1"},
		`"tenant_id":"acme","reason":"not_processed"`:     {"3", "4"},
		`"since":"2026-05-01T13:00:00Z"`:                  {"2", "3", "4"},
		`"until":"2026-05-01T13:00:00Z"`:                  {"1"},
		`"tenant_id":"acme","reason":"not_pro","limit":1`: {"3"},
		`"tenant_id":"none"`:                              nil,
	} {
		inAccount(t, func(a *account) {
			put(a)
			var got []string
			for _, e := range read[api.RejectedList](a, "rejected_events", fields).Data {
				got = append(got, e.MessageID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", fields, diff)
			}
			if a.rejected.Visible() != 4 {
				t.Errorf("%s: of 4 events %d are visible", fields, a.rejected.Visible())
			}
		})
	}
	inAccount(t, func(a *account) {
		put(a)
		backwards := `"since":"2026-05-01T13:00:00Z","until":"2026-05-01T12:00:00Z"`
		got := testkit.Refusal(t, a.ask("rejected_events", backwards))
		if got != "invalid_field until" || a.made > 0 {
			t.Errorf("a span that ends before it begins: %q, %d calls", got, a.made)
		}
	})
}

func TestHandler_rejectedEvents_saysWhereTheSearchEnds(t *testing.T) {
	for n, want := range map[int]string{maxSearched - 2: "", maxSearched + 2: noteSearchedPart} {
		inAccount(t, func(a *account) {
			a.reject(slices.Repeat([]rejected.Event{anEvent("1")}, n)...)
			got := read[api.RejectedList](a, "rejected_events", `"tenant_id":"acme"`)
			if got.Note != want || a.rejected.Visible() != n {
				t.Errorf("of %d events %d are visible, note %q", n, a.rejected.Visible(), got.Note)
			}
			if most := (maxSearched + 9) / 10; a.calls["Receive EventsDeadLetterQueue"] > most+1 {
				t.Errorf("of %d events, %d times ten are received", n, a.calls["Receive EventsDeadLetterQueue"])
			}
		})
	}
}

func TestHandler_rejectedEvents_returnsWhatItReceivedBeforeAnError(t *testing.T) {
	inAccount(t, func(a *account) {
		a.reject(slices.Repeat([]rejected.Event{anEvent("1")}, 11)...)
		a.verdict = func(c *model.Call) model.Verdict {
			if strings.HasPrefix(c.Name, "Receive") && c.Number > 0 {
				return model.Refused
			}
			return model.Done
		}
		if got := a.ask("rejected_events", ""); got != testkit.Internal || a.rejected.Visible() != 11 {
			t.Errorf("answered as %s, %d are visible", got, a.rejected.Visible())
		}
	})
}

// An event that is not restored is visible again after a glance.
func TestHandler_rejectedEvents_answersEvenWhenTheyStayHidden(t *testing.T) {
	inAccount(t, func(a *account) {
		a.reject(anEvent("1"))
		began := time.Now()
		a.refuse("ChangeVisibility EventsDeadLetterQueue")
		got := read[api.List[api.RejectedEvent]](a, "rejected_events", "")
		if diff := cmp.Diff([]api.RejectedEvent{shown("1", at)}, got.Data); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if !strings.Contains(a.log.String(), "rejected events stay hidden for some seconds") {
			t.Errorf("nothing warns of it: %s", &a.log)
		}
		if back := a.rejected.Next().Sub(began); back != rejected.Glance {
			t.Errorf("the event is back after %s", back)
		}
	})
}

func TestShowRejected_leavesBodiesOutForWhichThereIsNoRoom(t *testing.T) {
	big := strings.Repeat("x", maxBodies/2)
	events := []rejected.Event{
		{MessageID: "1", Body: big},
		{MessageID: "2", Body: big + "x"},
		{MessageID: "3", Body: big},
		{MessageID: "4", Body: "x"},
	}
	got := map[string]bool{}
	for _, e := range showRejected(events) {
		got[e.MessageID] = e.Body != nil
	}
	if diff := cmp.Diff(map[string]bool{"1": true, "2": false, "3": true, "4": false}, got); diff != "" {
		t.Errorf("shown with their bodies (-want +got):\n%s", diff)
	}
}
