package replay

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/job"
)

func TestHandler_acts_sayHowEachActIsDone(t *testing.T) {
	acts := (&Handler{}).acts()
	for _, name := range job.Acts() {
		how := acts[name]
		onEvents, onLetters := how.Events != nil, how.Letters != nil
		if onEvents != name.OnEvents() || onLetters == onEvents {
			t.Errorf("%s: done to events %t, to letters %t", name, onEvents, onLetters)
		}
	}
	if len(acts) != len(job.Acts()) {
		t.Errorf("%d acts are done, there are %d", len(acts), len(job.Acts()))
	}
}

// After an update was rolled back, jobs may be left that a newer version has started. They wait for it.
func TestHandler_workJobs_leavesTheActsOfANewerVersion(t *testing.T) {
	inLetters(t, 2, func(a *account) {
		newer := job.Job{
			ID: "job_newer", Act: "archive", State: job.Running, StartedAt: at, Progress: job.Progress{Pending: a.order[:1]},
		}
		a.start(newer)
		a.start(job.Job{
			ID: "job_replays", Act: job.Replay, State: job.Running, StartedAt: at,
			Selector: job.Selector{Status: "dead", Until: time.Now()},
			Progress: job.Progress{Pending: a.order[1:], Listed: true},
		})
		_, err := a.within(timeout, `{"action":"work_jobs","operator":"release"}`)
		left := a.Jobs["job_newer"].Job
		left.UpdatedAt = newer.UpdatedAt
		if diff := cmp.Diff(newer, left); diff != "" || err == nil {
			t.Errorf("%v, the job of a newer version (-want +got):\n%s", err, diff)
		}
		if other := a.Jobs["job_replays"]; other.State != job.Done || a.sent() != 1 {
			t.Errorf("the other job is %s, %d are sent", other.State, a.sent())
		}
	})
}
