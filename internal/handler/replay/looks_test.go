package replay

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// hiding is EventsDeadLetterQueue as SQS keeps it: received messages are hidden from all until a time.
type hiding struct {
	mu     sync.Mutex
	events []rejected.Event
	until  map[string]time.Time // by message
}

func (q *hiding) Receive(ctx context.Context, most int, hidden time.Duration) (some []rejected.Event, err error) {
	time.Sleep(20 * time.Millisecond)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.events {
		if len(some) < min(most, 10) && !time.Now().Before(q.until[e.MessageID]) {
			q.until[e.MessageID] = time.Now().Add(hidden)
			some = append(some, e)
		}
	}
	return some, nil
}

func (q *hiding) Restore(_ context.Context, events []rejected.Event) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range events {
		q.until[e.MessageID] = time.Time{}
	}
	return nil
}

func (q *hiding) Delete(_ context.Context, gone rejected.Event) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	var left []rejected.Event
	for _, e := range q.events {
		if e.MessageID != gone.MessageID {
			left = append(left, e)
		}
	}
	q.events = left
	return nil
}

// broken is the queue of a look that dies before it restores anything.
type broken struct{ *hiding }

func (broken) Restore(context.Context, []rejected.Event) error { return errAWS }

// An operator who may look alone looks without a pause, many times at once, from before a job was started until it is
// done. The job publishes every event.
func TestLooksHideNothingFromAJobThatPublishes(t *testing.T) {
	const events = 60
	for name, looks := range map[string]int{"one after the other": 1, "eight at once": 8} {
		for _, dies := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				w, q := newStore(t, 0), &hiding{until: map[string]time.Time{}}
				for n := range events {
					q.events = append(q.events, rejected.Event{MessageID: strconv.Itoa(n), EventID: "e" + strconv.Itoa(n), Body: good,
						SentAt: at, Reason: "not_processed"})
				}
				w.queue = q
				var seen inspect.Rejected = q
				if dies {
					seen = broken{q}
				}
				ctx, stop := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				for range looks {
					wg.Go(func() { look(ctx, w, seen) })
				}
				time.Sleep(7 * time.Second)
				ask[Survey](t, w, strings.Replace(startReplay, "replay", "publish", 1)+`}`)
				done, minutes := w.finish(t, "t")
				stop()
				wg.Wait()
				if len(q.events) > 0 || done.Done != events || done.State != job.Done || minutes > 3 {
					t.Errorf("%s, each dies: %t: %d events are left, after %d minutes: %+v", name, dies, len(q.events), minutes, done)
				}
			})
		}
	}
}

// look asks inspect for rejected events until its context ends.
func look(ctx context.Context, w *world, queue inspect.Rejected) {
	h := &inspect.Handler{
		Rejected: queue, Jobs: looked{w}, Audit: w, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	for ctx.Err() == nil {
		_, _ = h.Function().Invoke(ctx, []byte(`{"action":"rejected_events","operator":"eve","tenant_id":"none"}`))
		time.Sleep(10 * time.Millisecond)
	}
}

// looked is the jobs as inspect reads them.
type looked struct{ *world }

func (looked) Pages(context.Context, string, int, int) (pages []job.Page, more bool, err error) {
	return nil, false, nil
}

// An event that a look hid before the job was stopped, or while it was, is back before the job goes on.
func TestHandler_workJobs_beginsToPublishWhenLooksAreOver(t *testing.T) {
	if rejected.LookTime+rejected.Glance+10*time.Second > job.LooksOver { // and a margin for reads and clocks
		t.Errorf("looks last %s and hide for %s, jobs begin after %s", rejected.LookTime, rejected.Glance, job.LooksOver)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newStore(t, 0)
		begun := func(want bool) {
			t.Helper()
			w.wake(t)
			if begun := w.jobs[job.ID("t")].Pages > 0; begun != want {
				t.Errorf("begun: %t, %s after the start", begun, time.Since(w.jobs[job.ID("t")].RunsFrom))
			}
		}
		ask[Survey](t, w, strings.Replace(startReplay, "replay", "publish", 1)+`}`)
		begun(false)
		time.Sleep(job.LooksOver - time.Millisecond)
		begun(false)
		change := `_job","operator":"ann","job_id":"` + job.ID("t") + `"}`
		w.ask(t, `{"action":"stop`+change)
		time.Sleep(time.Hour)
		w.ask(t, `{"action":"resume`+change)
		begun(false)
		time.Sleep(job.LooksOver)
		begun(true)
	})
}
