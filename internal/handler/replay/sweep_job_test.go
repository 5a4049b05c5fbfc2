package replay

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// More events than the rate allows in an invocation stay on the queue, and the job ends all the same.
func TestHandler_workJobs_passesRefusedEventsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 0)
		for n := range 3000 {
			s.rejected = append(s.rejected, rejected.Event{
				MessageID: strconv.Itoa(n), Body: `{"tenant_id":"acme"}`, SentAt: at, Reason: "not_processed",
			})
		}
		all := slices.Clone(s.rejected)
		askJobs[Survey](t, s.handler(), strings.Replace(startReplay, "replay", "publish", 1)+`,"reason":"processed"}`)
		s.rejected = all
		if err := s.wake(t); err != nil {
			t.Fatal(err)
		}
		if done := s.jobs[job.ID("t")]; done.State != job.Done || done.Refused["invalid_event"] != 3000 {
			t.Errorf("%+v", done)
		}
	})
}

// A queue that no invocation passes in one go is passed by several: each goes on behind the last, and the end is met.
func TestHandler_workJobs_goesOnBehindTheEventsThatItPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 0)
		for n := range 10_000 {
			body := `{"tenant_id":"other"}`
			if n%1000 == 0 {
				body = `{"tenant_id":"acme"}`
			}
			s.rejected = append(s.rejected, rejected.Event{MessageID: strconv.Itoa(n), Body: body, SentAt: at})
		}
		all := slices.Clone(s.rejected)
		askJobs[Survey](t, s.handler(), strings.Replace(startReplay, "replay", "publish", 1)+`}`)
		s.rejected, s.restored, s.takes = all, nil, 100*time.Millisecond
		done, minutes := s.finish(t)
		if done.Refused["invalid_event"] != 10 || done.Pages != 3 || minutes != 3 {
			t.Errorf("after %d minutes: %+v", minutes, done.Progress)
		}
		if returned := len(s.restored); returned == 0 || returned > 4000 {
			t.Errorf("%d events are returned at once, want those of the last invocation", returned)
		}
	})
}

// What one job passes is hidden from the others: a second one begins when all of it is back.
func TestHandler_workJobs_publishesForOneJobAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 0)
		for n := range 10_000 {
			body := `{"tenant_id":"` + []string{"acme", "other"}[n%2] + `"}`
			s.rejected = append(s.rejected, rejected.Event{MessageID: strconv.Itoa(n), Body: body, SentAt: at})
		}
		all := slices.Clone(s.rejected)
		publish := strings.Replace(startReplay, "replay", "publish", 1) + `}`
		askJobs[Survey](t, s.handler(), publish)
		time.Sleep(time.Second) // the second one is the later
		s.rejected = slices.Clone(all)
		askJobs[Survey](t, s.handler(), strings.NewReplacer(`"t"`, `"u"`, "acme", "other").Replace(publish))
		s.rejected, s.takes = slices.Clone(all), 100*time.Millisecond
		first, minutes := s.finish(t)
		if first.Refused["invalid_event"] != 5000 || minutes != 3 || s.jobs[job.ID("u")].Pages != 0 {
			t.Errorf("after %d minutes: %+v, beside it %+v", minutes, first.Progress, s.jobs[job.ID("u")].Progress)
		}
		for s.rejected = all; s.jobs[job.ID("u")].State == job.Running; time.Sleep(time.Minute) {
			if err := s.wake(t); err != nil {
				t.Fatal(err)
			}
		}
		second := s.jobs[job.ID("u")]
		if waited := second.WayFrom.Sub(first.UpdatedAt); second.Refused["invalid_event"] != 5000 || waited < job.Way {
			t.Errorf("begun after %s: %+v", waited, second.Progress)
		}
	})
}
