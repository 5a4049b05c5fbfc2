package model

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
)

// EventsDeadLetterQueue of the model behaves as its operators are promised: a received message is hidden until it is
// restored or its time is over, and an empty answer takes a second.
func TestPolled_isTheQueueOfRejectedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		q := m.NewQueue("EventsDeadLetterQueue")
		events := rejected.Queue{Client: m.Process("replay").Polled(q)}
		for _, id := range []string{"1", "2", "3"} {
			q.Send(rejected.Message(rejected.Event{MessageID: id, EventID: "evt_" + id, Reason: "no tenant", Body: "{}"}))
		}
		receive := func(want ...string) []rejected.Event {
			t.Helper()
			got, err := events.Receive(t.Context(), 2, rejected.Briefly)
			ids := []string{}
			for _, e := range got {
				ids = append(ids, e.MessageID)
			}
			if diff := cmp.Diff(append([]string{}, want...), ids); diff != "" || err != nil {
				t.Errorf("received, %v (-want +got)\n%s", err, diff)
			}
			return got
		}
		first := receive("1", "2")
		receive("3")
		began := time.Now()
		if receive(); time.Since(began) != time.Second {
			t.Errorf("an empty answer took %s", time.Since(began))
		}
		if err := errors.Join(events.Restore(t.Context(), first[:1]), events.Delete(t.Context(), first[1])); err != nil {
			t.Fatal(err)
		}
		receive("1")
		time.Sleep(rejected.Briefly)
		receive("3", "1")
	})
}

func TestPolled_tellsWhichOfABatchFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		q := m.NewQueue("q")
		for range 4 {
			q.Send(queue.Outgoing{Body: "{}"})
		}
		p := m.Process("replay")
		events := rejected.Queue{Client: p.Polled(q)}
		all, err := events.Receive(t.Context(), 10, rejected.Briefly)
		if err != nil {
			t.Fatal(err)
		}
		verdicts := []Verdict{Partly, Refused, Done}
		m.Judge = func(*Call) Verdict {
			v := verdicts[0]
			verdicts = verdicts[1:]
			return v
		}
		if err := events.Restore(t.Context(), all); err == nil || q.Visible() != 2 {
			t.Errorf("%v, %d are visible", err, q.Visible())
		}
	})
}
