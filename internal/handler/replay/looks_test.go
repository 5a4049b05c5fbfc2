package replay

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// An operator who may look alone looks without a pause, many times at once, from before a job was started until it is
// done. Each look may die before it restores anything. The job publishes every event.
func TestLooksHideNothingFromAJobThatPublishes(t *testing.T) {
	const events = 60
	for name, looks := range map[string]int{"one after the other": 1, "eight at once": 8} {
		for _, dies := range []bool{false, true} {
			inLetters(t, 0, func(a *account) {
				for n := range events {
					id := strconv.Itoa(n)
					a.reject(rejected.Event{MessageID: id, EventID: "e" + id, Body: good, Reason: "not_processed"})
				}
				a.verdict = func(c *model.Call) model.Verdict {
					if strings.HasPrefix(c.Name, "Receive") {
						time.Sleep(20 * time.Millisecond)
					}
					if dies && c.Process.Name == "inspect" && strings.HasPrefix(c.Name, "ChangeVisibility") {
						return model.Crashed
					}
					return model.Done
				}
				ctx, stop := context.WithCancel(a.Context())
				var wg sync.WaitGroup
				for range looks {
					wg.Go(func() { a.look(ctx) })
				}
				time.Sleep(7 * time.Second)
				ask[Survey](a, startPublish+`}`)
				done, minutes := a.finish("t")
				stop()
				wg.Wait()
				if a.rejected.Stored() > 0 || done.Done != events || done.State != job.Done || minutes > 3 {
					what := fmt.Sprintf("%s, each dies: %t", name, dies)
					t.Errorf("%s: %d events are left, after %d minutes: %+v", what, a.rejected.Stored(), minutes, done)
				}
			})
		}
	}
}

// look asks inspect for rejected events until its context ends.
func (a *account) look(ctx context.Context) {
	for ctx.Err() == nil {
		p := a.Process("inspect")
		h := &inspect.Handler{
			Rejected: rejected.Queue{Client: p.Polled(a.rejected)}, Jobs: p.Jobs(), Audit: p.Audit(),
			Log: slog.New(slog.DiscardHandler), Now: time.Now,
		}
		_, _ = h.Function().Invoke(ctx, []byte(`{"action":"rejected_events","operator":"eve","tenant_id":"none"}`))
		time.Sleep(10 * time.Millisecond)
	}
}

// An event that a look hid before the job was stopped, or while it was, is back before the job goes on.
func TestHandler_workJobs_beginsToPublishWhenLooksAreOver(t *testing.T) {
	if rejected.LookTime+rejected.Glance+10*time.Second > job.LooksOver { // and a margin for reads and clocks
		t.Errorf("looks last %s and hide for %s, jobs begin after %s", rejected.LookTime, rejected.Glance, job.LooksOver)
	}
	inLetters(t, 0, func(a *account) {
		begun := func(want bool) {
			t.Helper()
			a.wake()
			if begun := a.token("t").Progress.Pages > 0; begun != want {
				t.Errorf("begun: %t, %s after the start", begun, time.Since(a.token("t").RunsFrom))
			}
		}
		ask[Survey](a, startPublish+`}`)
		begun(false)
		time.Sleep(job.LooksOver - time.Since(a.token("t").RunsFrom) - time.Millisecond)
		begun(false)
		change := `_job","operator":"ann","job_id":"` + job.ID("t") + `"}`
		a.ask(`{"action":"stop` + change)
		time.Sleep(time.Hour)
		a.ask(`{"action":"resume` + change)
		begun(false)
		time.Sleep(job.LooksOver)
		begun(true)
	})
}
