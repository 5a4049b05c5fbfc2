package deliver

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/health"
)

// board is what all processes have noted.
type board struct {
	mu    sync.Mutex
	notes map[health.Note]bool
	reads int
	fail  error
}

func (b *board) Notes(context.Context, time.Time) (notes []health.Note, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	for n := range b.notes {
		notes = append(notes, n)
	}
	return notes, b.fail
}

func (b *board) PutNote(_ context.Context, n health.Note) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.notes == nil {
		b.notes = map[health.Note]bool{}
	}
	b.remove(n)
	b.notes[n] = true
	return b.fail
}

func (b *board) DeleteNote(_ context.Context, n health.Note) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(n)
	return b.fail
}

// remove removes the note on the same endpoint, queue and process, as the table does.
func (b *board) remove(n health.Note) {
	for old := range b.notes {
		if n.Until = old.Until; old == n {
			delete(b.notes, old)
		}
	}
}

func (b *board) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.notes)
}

// slowLane is that of one process: two processes of a queue may be held.
func slowLane(b *board, process string) *SlowLane {
	return &SlowLane{
		Notes: b, Settings: health.SlowSettings{Self: process, Limit: 2, Wait: time.Minute, Longest: time.Hour},
		Suspect: 1500 * time.Millisecond, Timeout: 15 * time.Second,
	}
}

// member is the handler of one process that shares the board.
func member(w *world, b *board, process string) *Handler {
	h := w.handler()
	h.Now = time.Now // synctest's clock
	h.Slow = slowLane(b, process)
	return h
}

func slowToAnswer(takes time.Duration) func(context.Context, string) delivery.Response {
	return func(_ context.Context, url string) delivery.Response {
		if strings.HasSuffix(url, "webhook_1") {
			time.Sleep(takes)
		}
		return delivery.Response{Status: 200}
	}
}

func TestSlowLane_notesWhatIsSlow(t *testing.T) {
	t.Run("until its attempts end", func(t *testing.T) { testNotes(t, 2500*time.Millisecond, 0) })
	t.Run("and for three times as long where they took long", func(t *testing.T) {
		testNotes(t, 5*time.Second, 15*time.Second)
	})
}

// testNotes looks at the notes while an attempt of two in a batch takes so long, and at what remains
// of them for so long.
func testNotes(t *testing.T, takes, remains time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b, w := &board{}, newWorld(slowToAnswer(takes))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		until := time.Now().Add(28 * time.Second)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			member(w, b, "p1").Process(ctx, []events.SQSMessage{fresh("a", "webhook_1"), fresh("b", "webhook_2")})
		}()
		time.Sleep(time.Second)
		if synctest.Wait(); b.count() != 0 {
			t.Error("noted before anybody can suspect it")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		b.mu.Lock()
		note := health.Note{EndpointID: "webhook_1", Queue: health.DeliveryQueue, Process: "p1", Until: until}
		want := map[health.Note]bool{note: true}
		if diff := cmp.Diff(want, b.notes); diff != "" {
			t.Errorf("notes (-want +got):\n%s", diff)
		}
		b.mu.Unlock()
		<-ended
		want = map[health.Note]bool{}
		if remains > 0 {
			note.Until = time.Now().Add(remains)
			want[note] = true
		}
		if diff := cmp.Diff(want, b.notes); diff != "" {
			t.Errorf("notes after the attempts (-want +got):\n%s", diff)
		}
		if len(w.acked) != 2 {
			t.Errorf("%d acknowledged: an attempt that is slow keeps its time", len(w.acked))
		}
	})
}

// What another endpoint of the batch takes must not become the wait of what is turned away.
func TestSlowLane_sendsWhatItTurnsAwayBeforeTheOthersEnd(t *testing.T) {
	for name, row := range map[string]struct {
		sendErr error
		during  int // sent while the other attempt goes on
		did     effects
	}{
		"it is sent once": {nil, 1, effects{Posts: 1, Acknowledged: 1, States: 1, Sent: waits(0)}},
		"what cannot be sent goes back": {
			errAWS, 0, effects{Failed: []string{"id-a"}, Posts: 1, Acknowledged: 1, States: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, w := &board{notes: map[health.Note]bool{}}, newWorld(slowToAnswer(10*time.Second))
				w.sendErr = row.sendErr
				for _, p := range []string{"p2", "p3"} {
					b.notes[health.Note{
						EndpointID: "webhook_2", Queue: health.DeliveryQueue, Process: p, Until: time.Now().Add(time.Minute),
					}] = true
				}
				var failed []string
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					failed = member(w, b, "p1").Process(t.Context(),
						[]events.SQSMessage{fresh("a", "webhook_2"), fresh("b", "webhook_1")})
				}()
				time.Sleep(time.Second)
				synctest.Wait()
				w.mu.Lock()
				if len(w.sent) != row.during {
					t.Errorf("%d sent while the other attempt goes on, want %d", len(w.sent), row.during)
				}
				w.mu.Unlock()
				<-ended
				w.did(t, failed, row.did)
			})
		})
	}
}

func TestSlowLane_leavesRoomToOthers(t *testing.T) {
	held := func(q health.Queue, processes ...string) *board {
		b := &board{notes: map[health.Note]bool{}}
		for _, p := range processes {
			b.notes[health.Note{EndpointID: "webhook_1", Queue: q, Process: p, Until: epoch.Add(time.Minute)}] = true
		}
		return b
	}
	first, retry := fresh("a", "webhook_1"), again(fresh("a", "webhook_1"), 4, 1)
	due := epoch.Add(-10 * time.Minute)
	waited := living(fresh("a", "webhook_1"), 4, 1, delivery.Life{StartedAt: born, OwnDue: due})
	forgotten := living(fresh("a", "webhook_1"), 4, 1, delivery.Life{StartedAt: born, OwnDue: epoch.Add(-26 * time.Hour)})
	old := living(fresh("a", "webhook_1"), 4, 1, delivery.Life{
		StartedAt: born, OwnDue: epoch.Add(-26 * time.Hour), DiesAt: epoch.Add(20 * time.Minute),
	})
	marked := living(fresh("a", "webhook_1"), 4, 1, delivery.Life{StartedAt: born, Last: true})
	posted := effects{Posts: 1, Acknowledged: 1}
	for name, row := range map[string]struct {
		board  *board
		record events.SQSMessage
		did    effects
	}{
		"one process may be held":      {held(health.DeliveryQueue, "p2"), first, posted},
		"this process's note is over":  {held(health.DeliveryQueue, "p1", "p2"), first, posted},
		"the queues are counted apart": {held(health.DeliveryQueue, "p2", "p3"), retry, posted},
		"a last attempt is made":       {held(health.RetryQueue, "p2", "p3"), marked, posted},
		"two are enough: elsewhere, at once": {
			held(health.DeliveryQueue, "p2", "p3"), first, effects{States: 1, Sent: waits(0)},
		},
		"a retry waits in Backlog": {
			held(health.RetryQueue, "p2", "p3"), retry, effects{States: 1, Parked: waits(time.Minute)},
		},
		"as long as it has waited": {
			held(health.RetryQueue, "p2", "p3"), waited, effects{States: 1, Parked: waits(10 * time.Minute)},
		},
		"an hour at most": {
			held(health.RetryQueue, "p2", "p3"), forgotten, effects{States: 1, Parked: waits(time.Hour)},
		},
		"not beyond the end of its life": {
			held(health.RetryQueue, "p2", "p3"), old, effects{States: 1, Parked: waits(20 * time.Minute)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(200))
			h := w.handler()
			h.Slow = slowLane(row.board, "p1")
			failed := h.Process(t.Context(), []events.SQSMessage{row.record})
			w.did(t, failed, row.did)
			for _, sent := range w.sent {
				if m := messageOf(t, sent); m.Attempts != 0 {
					t.Errorf("%d attempts are counted", m.Attempts)
				}
			}
			for _, item := range w.parked {
				if item.Held || item.Message.Attempts != 4 {
					t.Errorf("parked %+v", item)
				}
			}
		})
	}
}

func TestSlowLane_readsOnceASecondAndStopsNothingWhereItCannot(t *testing.T) {
	w, b := newWorld(status(200)), &board{fail: errAWS}
	h := w.handler()
	h.Slow = slowLane(b, "p1")
	for range 5 {
		h.Process(t.Context(), []events.SQSMessage{fresh("a", "webhook_1")})
	}
	if b.reads != 1 || len(w.acked) != 5 {
		t.Errorf("%d reads, %d acknowledged", b.reads, len(w.acked))
	}
	w.advance(time.Second)
	h.Process(t.Context(), []events.SQSMessage{fresh("a", "webhook_1")})
	if b.reads != 2 {
		t.Errorf("%d reads", b.reads)
	}
}
