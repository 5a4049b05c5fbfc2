package deliver

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

func TestHandler_observe_waitsAQuarterOfASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(status(503))
		h := w.handler()
		h.Health = slowHealth{w}
		begun := time.Now()
		h.Process(t.Context(), []events.SQSMessage{retried("a", "webhook_1", 1)})
		if took := time.Since(begun); took != 250*time.Millisecond {
			t.Errorf("took %s", took)
		}
	})
}

// Receives without an attempt are throttled invocations: nobody sees them but SQS, which counts.
func TestHandler_Process_survivesTenThrottledReceives(t *testing.T) {
	w := newWorld(status(500))
	w.process(t, fresh("a", "webhook_1"))
	first := w.moved(t)
	w.forget()
	w.advance(10 * time.Minute)
	failed := w.process(t, record(first, retryARN, 11)) // ten were throttled
	w.did(t, failed, effects{Posts: 1, States: 1, Parked: waits(320 * time.Second)})
	if got := w.parked[0].Message.Attempts; got != 4 { // places 2 and 3 are skipped, which were short
		t.Errorf("%d places used", got)
	}
}

// KMS or DynamoDB are not available for ten minutes: no POST, no death, no long place lost.
func TestHandler_Process_losesNoPlaceToTenMinutesOfOurs(t *testing.T) {
	for name, spoil := range map[string]func(w *world, err error){
		"KMS":                   func(w *world, err error) { w.secretErr = err },
		"Endpoints":             func(w *world, err error) { w.readErr = err },
		"Endpoints and Backlog": func(w *world, err error) { w.readErr, w.parkErr = err, err },
		"everything of DynamoDB": func(w *world, err error) {
			w.readErr, w.parkErr, w.holdErr, w.stateErr = err, err, err, err
		},
		"Endpoints, and DeadLetterQueue": func(w *world, err error) { w.readErr, w.deadErr = err, err },
	} {
		for _, used := range []int{0, 1, 3, 4, 8, 9} {
			w := newWorld(status(500))
			r, count, over := fresh("a", "webhook_1"), 1, false
			if used > 0 {
				r = again(r, used, 1)
			}
			spoil(w, errAWS)
			for end := epoch.Add(10 * time.Minute); w.now.Before(end) && !over; {
				r, count, over = w.follow(t, r, count)
			}
			if over || len(w.posts)+len(w.dead) != 0 {
				t.Fatalf("%s, %d places used: over after %d posts, %d dead", name, used, len(w.posts), len(w.dead))
			}
			spoil(w, nil)
			w.states = nil
			w.process(t, r)
			if got, least, most := w.states[0].Attempts, used+1, max(used+1, 4); got < least || got > most || len(w.posts) != 1 {
				t.Errorf("%s: %d places were used, now %d; %d posts", name, used, got, len(w.posts))
			}
		}
	}
}

// What release 0.1.0 sent is in flight while this release starts: its receives were its places.
func TestHandler_Process_readsMessagesOfRelease010(t *testing.T) {
	old := func(used int, notBefore time.Time, count int) events.SQSMessage {
		r := fresh("a", "webhook_1")
		m, err := queue.Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		m.Retrying, m.Attempts = true, used
		r = record(m, retryARN, count)
		if !notBefore.IsZero() {
			r = sqsevent.With(r, "not_before", notBefore.Format(time.RFC3339Nano))
		}
		return r
	}
	hidden := func(wait time.Duration) effects {
		return effects{Failed: []string{"id-a"}, Posts: 1, States: 1, Hidden: waits(wait)}
	}
	hour, minute := epoch.Add(time.Hour), epoch.Add(time.Minute)
	for name, row := range map[string]struct {
		record   events.SQSMessage
		did      effects
		attempts int
	}{
		"retry 1":               {old(1, time.Time{}, 1), hidden(20 * time.Second), 2},
		"retry 5, a long place": {old(1, time.Time{}, 5), effects{Posts: 1, States: 1, Parked: waits(5120 * time.Second)}, 6},
		"the last":              {old(1, time.Time{}, 9), effects{Posts: 1, States: 1, Dead: 1}, 10},
		"exhausted: once more":  {old(1, time.Time{}, 10), effects{Posts: 1, States: 1, Dead: 1}, 10},
		"early by much":         {old(1, hour, 1), effects{Parked: waits(time.Hour)}, 1},
		"early by little":       {old(1, minute, 2), effects{Failed: []string{"id-a"}, Hidden: waits(time.Minute)}, 1},
		"early no more":         {old(1, epoch, 2), hidden(20 * time.Second), 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(500))
			w.did(t, w.process(t, row.record), row.did)
			for _, s := range w.states {
				if s.Attempts != row.attempts {
					t.Errorf("%d attempts", s.Attempts)
				}
			}
			for _, item := range w.parked {
				if item.Message.Attempts != row.attempts || item.Message.Life.StartedAt != born {
					t.Errorf("parked %+v", item)
				}
				if row.did.Posts == 0 && (item.Message.NotBefore != hour || item.Message.Life.OwnDue != hour) {
					t.Errorf("parked %+v", item)
				}
			}
			for _, sent := range w.dead {
				if m := messageOf(t, sent); m.Life.Reason != delivery.ReasonHTTP5xx || m.Attempts != row.attempts {
					t.Errorf("dead letter %+v", m)
				}
			}
		})
	}
}
