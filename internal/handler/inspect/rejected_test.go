package inspect

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
)

func anEvent(id string, sent time.Time) rejected.Event {
	return rejected.Event{MessageID: id, EventID: "evt_" + id, Reason: "no tenant", Body: "body " + id, SentAt: sent}
}

func shown(id string, sent time.Time) RejectedEvent {
	body := "body " + id
	return RejectedEvent{
		MessageID: id, EventID: "evt_" + id, Reason: "no tenant", SentAt: &sent, Bytes: len(body), Body: &body,
	}
}

func TestHandler_rejectedEvents_showsTheOldestFirstAndReturnsAll(t *testing.T) {
	w := &world{rejected: []rejected.Event{
		anEvent("3", at.Add(2*time.Hour)), anEvent("1", at), anEvent("2", at.Add(time.Hour)),
	}}
	want := operator.List[RejectedEvent]{
		Data: []RejectedEvent{shown("1", at), shown("2", at.Add(time.Hour)), shown("3", at.Add(2*time.Hour))},
	}
	got := read[operator.List[RejectedEvent]](t, w.ask(t, "rejected_events", ""))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"3", "1", "2"}, w.restored); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if strings.Contains(w.log.String(), "body 1") {
		t.Errorf("a body is logged: %s", &w.log)
	}
}

func TestHandler_rejectedEvents_looksAtNoMoreThanItShows(t *testing.T) {
	w := &world{rejected: []rejected.Event{anEvent("1", at), anEvent("2", at), anEvent("3", at), anEvent("4", at)}}
	got := read[operator.List[RejectedEvent]](t, w.ask(t, "rejected_events", `"limit":3`))
	if len(got.Data) != 3 {
		t.Errorf("%d events are shown, want 3", len(got.Data))
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, w.restored); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

func TestHandler_rejectedEvents_isAnEmptyListForAnEmptyQueue(t *testing.T) {
	w := &world{}
	if diff := cmp.Diff(`{"data":[],"next_cursor":null}`, w.ask(t, "rejected_events", "")); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestHandler_rejectedEvents_returnsWhatItReceivedBeforeAnError(t *testing.T) {
	w := &world{rejected: []rejected.Event{anEvent("1", at)}, receiveErr: errAWS}
	if got := w.ask(t, "rejected_events", ""); got != internal {
		t.Errorf("answered as %s", got)
	}
	if diff := cmp.Diff([]string{"1"}, w.restored); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

func TestHandler_rejectedEvents_answersEvenWhenTheyStayHidden(t *testing.T) {
	w := &world{rejected: []rejected.Event{anEvent("1", at)}, restoreErr: errAWS}
	got := read[operator.List[RejectedEvent]](t, w.ask(t, "rejected_events", ""))
	if diff := cmp.Diff([]RejectedEvent{shown("1", at)}, got.Data); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if !strings.Contains(w.log.String(), "rejected events stay hidden for a minute") {
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
