package inspect

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func anEvent(id string, sent time.Time) rejected.Event {
	return rejected.Event{MessageID: id, EventID: "evt_" + id, Reason: "no tenant", Body: "body " + id, SentAt: sent}
}

func shown(id string, sent time.Time) RejectedEvent {
	body := "body " + id
	return RejectedEvent{
		MessageID: id, EventID: "evt_" + id, Reason: "no tenant", SentAt: sent, Bytes: len(body), Body: &body,
	}
}

func TestHandler_rejectedEvents_showsTheOldestFirstAndReturnsAll(t *testing.T) {
	w := &world{rejected: []rejected.Event{
		anEvent("3", at.Add(2*time.Hour)), anEvent("1", at), anEvent("2", at.Add(time.Hour)),
	}}
	want := operator.List[RejectedEvent]{
		Data: []RejectedEvent{shown("1", at), shown("2", at.Add(time.Hour)), shown("3", at.Add(2*time.Hour))},
	}
	got := testkit.Read[operator.List[RejectedEvent]](t, w.ask(t, "rejected_events", ""))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"3", "1", "2"}, w.restored); diff != "" || w.hidden != rejected.Glance {
		t.Errorf("hidden for %s, restored (-want +got):\n%s", w.hidden, diff)
	}
	if strings.Contains(w.log.String(), "body 1") {
		t.Errorf("a body is logged: %s", &w.log)
	}
}

func TestHandler_rejectedEvents_selects(t *testing.T) {
	event := func(id, tenant, reason string, sent time.Time) rejected.Event {
		return rejected.Event{MessageID: id, Reason: reason, Body: `{"tenant_id":"` + tenant + `"}`, SentAt: sent}
	}
	events := []rejected.Event{
		event("1", "acme", "invalid event: type: unknown", at), event("2", "big", "not_processed", at.Add(time.Hour)),
		event("3", "acme", "not_processed", at.Add(2*time.Hour)), event("4", "acme", "not_processed", at.Add(3*time.Hour)),
	}
	for fields, want := range map[string][]string{
		`"tenant_id":"acme"`:                              {"1", "3", "4"},
		`"reason":"type"`:                                 {"1"},
		`"tenant_id":"acme","reason":"not_processed"`:     {"3", "4"},
		`"since":"2026-05-01T13:00:00Z"`:                  {"2", "3", "4"},
		`"until":"2026-05-01T13:00:00Z"`:                  {"1"},
		`"tenant_id":"acme","reason":"not_pro","limit":1`: {"3"},
		`"tenant_id":"nobody"`:                            nil,
	} {
		w := &world{rejected: events}
		var got []string
		for _, e := range testkit.Read[RejectedList](t, w.ask(t, "rejected_events", fields)).Data {
			got = append(got, e.MessageID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", fields, diff)
		}
		if len(w.restored)+len(w.rejected) != len(events) {
			t.Errorf("%s: of 4 events, %v are restored and %d left", fields, w.restored, len(w.rejected))
		}
	}
	w := &world{rejected: events}
	backwards := `"since":"2026-05-01T13:00:00Z","until":"2026-05-01T12:00:00Z"`
	got := testkit.Refusal(t, w.ask(t, "rejected_events", backwards))
	if got != "invalid_field until" || len(w.rejected) != 4 {
		t.Errorf("a span that ends before it begins: %q", got)
	}
}

func TestHandler_rejectedEvents_saysWhereTheSearchEnds(t *testing.T) {
	for n, want := range map[int]string{maxSearched - 2: "", maxSearched + 2: noteSearchedPart} {
		w := &world{rejected: slices.Repeat([]rejected.Event{anEvent("1", at)}, n)}
		got := testkit.Read[RejectedList](t, w.ask(t, "rejected_events", `"tenant_id":"acme"`))
		if got.Note != want || len(w.restored) != min(n, maxSearched) {
			t.Errorf("of %d events %d are received, note %q", n, len(w.restored), got.Note)
		}
	}
}

func TestHandler_rejectedEvents_returnsWhatItReceivedBeforeAnError(t *testing.T) {
	w := &world{rejected: []rejected.Event{anEvent("1", at)}, receiveErr: errAWS}
	if got := w.ask(t, "rejected_events", ""); got != testkit.Internal {
		t.Errorf("answered as %s", got)
	}
	if diff := cmp.Diff([]string{"1"}, w.restored); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

func TestHandler_rejectedEvents_answersEvenWhenTheyStayHidden(t *testing.T) {
	w := &world{rejected: []rejected.Event{anEvent("1", at)}, restoreErr: errAWS}
	got := testkit.Read[operator.List[RejectedEvent]](t, w.ask(t, "rejected_events", ""))
	if diff := cmp.Diff([]RejectedEvent{shown("1", at)}, got.Data); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if !strings.Contains(w.log.String(), "rejected events stay hidden for some seconds") {
		t.Errorf("nothing warns of it: %s", &w.log)
	}
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
